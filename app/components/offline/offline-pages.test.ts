import { expect, test } from "vitest";
import { bypassesWorker, endsAccountCache, getOfflineKind, isAuthPage, isOfflineAllowed } from "./offline-pages.ts";

const id = "5b000000-0000-4000-8000-00000000000a";

test.each([
  ["public", ["/", "/services", "/resources/cost", "/resources/blog/importing-a-car-to-kenya", "/cookie-settings"]],
  ["portal", ["/portal", "/portal?q=tea&stage=&waiting=client&page=2", `/portal/${id}`, `/portal/${id}?page=2`]],
  [null, ["/portal/2fa", "/portal/new", "/portal/account", `/portal/${id}/share`, `/portal/${id}/documents/${id}`]],
  [null, [`/portal/${id.toUpperCase()}x`, "/portal?token=x", "/portal?quote", "/portal/", "/login", "/signup"]],
  [null, ["/auth/password?token=x", "/s/abcdef", "/unsubscribe?token=x", "/desk", `/desk/clients/${id}`]],
  [null, ["/resources/cost?what=car&value=8000", "/contact?subject=x", "/about?quote", "/about/", "/actions/quote"]],
  [null, ["/resources/blog/rss.xml", "/no-such-page", "/worker.js"]],
])("The kind of offline copy is %s (null: the browser stores no copy) for the pages %j.", (kind, addresses) => {
  for (const address of addresses) {
    const { pathname, search } = new URL(address, "https://site.example");
    expect(getOfflineKind(pathname, search), address).toBe(kind);
  }
});

test("The browser stores no offline copies on a shared computer or when a person has turned offline copies off.", () => {
  for (const cookies of ["", "theme=x", "__Host-offline=on; lite=0", "xshared=1", "shared=10"])
    expect(isOfflineAllowed(cookies), cookies).toBe(true);
  for (const cookies of ["shared=1", "a=b; __Host-shared=1", "offline=off; a=b", "__Host-offline=off"])
    expect(isOfflineAllowed(cookies), cookies).toBe(false);
});

test("Every form that changes a session or a login deletes the account's offline copies, with and without script.", () => {
  const ending = ["/login", "/login.data", "/login/verify", "/signup.data", "/auth/password", "/portal/sign-out.data"];
  const accountForms = ["/portal/account", "/portal/2fa.data", `/portal/2fa/${id}`];
  const others = [`/portal/${id}`, "/portal/new.data", "/contact", "/actions/theme"];
  expect([...ending, ...accountForms, ...others].filter(endsAccountCache)).toEqual([...ending, ...accountForms]);
});

test("Only the pages for logging in and signing up count as auth pages.", () => {
  const authPages = ["/login", "/login/verify", "/signup"];
  expect([...authPages, "/portal", "/"].filter(isAuthPage)).toEqual(authPages);
});

test("The service worker handles page requests, except requests for the desk, secret links and files.", () => {
  const files = [`/portal/${id}/documents/${id}`, "/portal/account/data.zip", "/portal/shipments.csv"];
  const bypassed = ["/desk", "/desk/shipments", "/s/token", "/auth/password", ...files, "/resources/blog/rss.xml"];
  const pages = ["/", "/services", "/portal", `/portal/${id}`, "/login", "/no-such-page"];
  expect([...bypassed, ...pages].filter(bypassesWorker)).toEqual(bypassed);
});
