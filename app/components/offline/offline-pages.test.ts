import { expect, test } from "vitest";
import { bypassesWorker, endsAccountCache, getOfflineKind, isAuthPage, isOfflineAllowed } from "./offline-pages.ts";

const id = "5b000000-0000-4000-8000-00000000000a";

test.each([
  ["/", "public"],
  ["/services", "public"],
  ["/resources/cost", "public"],
  ["/resources/blog/importing-a-car-to-kenya", "public"],
  ["/cookie-settings", "public"],
  ["/portal", "portal"],
  ["/portal?q=tea&stage=&waiting=client&page=2", "portal"],
  [`/portal/${id}`, "portal"],
  [`/portal/${id}?page=2`, "portal"],
  ...[
    "/portal/2fa",
    `/portal/2fa/${id}`,
    "/portal/new",
    "/portal/account",
    "/portal/session",
    `/portal/${id}/share`,
    `/portal/${id}/change`,
    `/portal/${id}/print`,
    `/portal/${id}/documents/${id}`,
    `/portal/${id.toUpperCase()}x`,
    "/portal?token=x",
    "/portal?quote",
    "/portal/",
    "/login",
    "/login/verify",
    "/signup",
    "/auth/password?token=x",
    "/auth/confirm",
    "/s/abcdef",
    "/unsubscribe?token=x",
    "/desk",
    "/desk/shipments",
    `/desk/clients/${id}`,
    "/resources/cost?what=car&value=8000",
    "/contact?subject=x",
    "/about?quote",
    "/about/",
    "/actions/quote",
    "/resources/blog/rss.xml",
    "/no-such-page",
    "/worker.js",
  ].map((address) => [address, null]),
])("The page %s belongs to the offline copies of kind %s.", (address, kind) => {
  const { pathname, search } = new URL(address ?? "", "https://site.example");
  expect(getOfflineKind(pathname, search)).toBe(kind);
});

test("The browser stores no offline copies on a shared computer or when a person has turned offline copies off.", () => {
  for (const cookies of ["", "theme=x", "__Host-offline=on; lite=0", "xshared=1", "shared=10"])
    expect(isOfflineAllowed(cookies), cookies).toBe(true);
  for (const cookies of ["shared=1", "a=b; __Host-shared=1", "offline=off; a=b", "__Host-offline=off"])
    expect(isOfflineAllowed(cookies), cookies).toBe(false);
});

test("Every form that changes how a person logs in deletes the offline copies of the account, with and without script.", () => {
  for (const path of [
    "/login",
    "/login.data",
    "/login/verify",
    "/signup.data",
    "/auth/password",
    "/portal/sign-out.data",
    "/portal/account",
    "/portal/2fa.data",
    `/portal/2fa/${id}`,
  ])
    expect(endsAccountCache(path), path).toBe(true);
  for (const path of [`/portal/${id}`, "/portal/new.data", "/contact", "/actions/theme"])
    expect(endsAccountCache(path), path).toBe(false);
});

test("Only the login and sign-up pages count as auth pages.", () => {
  expect(["/login", "/login/verify", "/signup", "/portal", "/"].filter(isAuthPage)).toEqual([
    "/login",
    "/login/verify",
    "/signup",
  ]);
});

test("The service worker responds to requests for pages, except for the desk, secret links and files.", () => {
  for (const path of [
    "/desk",
    "/desk/shipments",
    "/s/token",
    "/auth/password",
    `/portal/${id}/documents/${id}`,
    "/portal/account/data.zip",
    "/portal/shipments.csv",
    "/resources/blog/rss.xml",
  ])
    expect(bypassesWorker(path), path).toBe(true);
  for (const path of ["/", "/services", "/portal", `/portal/${id}`, "/login", "/no-such-page"])
    expect(bypassesWorker(path), path).toBe(false);
});
