import { afterAll, expect, test } from "vitest";
import { listLinkAddresses } from "../support/page-parts.ts";
import { getTestApp, noStorePattern, origin, parsePage, password, startTestSite } from "../support/test-app.ts";

const app = await getTestApp();
const site = await startTestSite();
const client = site.browser();
const email = await client.signUpAndLogIn("Requester");
const shipment = await client.createShipment("Requests");
afterAll(() => site.close());

/** Headers that browsers send with a form from another site. */
const foreignOrigins: Record<string, string>[] = [
  { Origin: "https://evil.example" },
  { Origin: "null" },
  { Origin: origin, "Sec-Fetch-Site": "cross-site" },
  { Origin: origin, "Sec-Fetch-Site": "same-site" },
];

const formPaths: [string, () => string][] = [
  ["the sign-up", () => "/signup"],
  ["the login", () => "/login"],
  ["the confirmation of an address", () => "/auth/confirm"],
  ["a new shipment", () => "/portal/new"],
  ["an upload", () => shipment],
  ["an upload by script", () => `${shipment}/documents`],
  ["the sign-out", () => "/portal/sign-out"],
  ["a payment", () => `${shipment}/payments`],
  ["the theme", () => "/actions/theme"],
  ["a forgotten password", () => "/actions/forgot-password"],
  ["a login by script", () => "/login.data"],
  ["a sign-out by script", () => "/portal/sign-out.data"],
];

const send = (method: string, path: string, init: RequestInit = {}) =>
  client.send(new Request(new URL(path, origin), { method, ...init }));

function expectRejected(response: Response, status: number, what: string): void {
  expect([what, response.status]).toEqual([what, status]);
  expect(response.headers.get("Cache-Control") ?? "", what).toMatch(noStorePattern);
}

test.each(formPaths)(
  "The form address of %s accepts only the methods GET, HEAD and POST, and only forms as bodies.",
  async (_what, path) => {
    for (const method of ["PUT", "PATCH", "DELETE"]) {
      const response = await send(method, path(), { body: "a=b", headers: { Origin: origin } });
      expectRejected(response, 405, method);
      expect(response.headers.get("Allow")).toBe("GET, HEAD, POST");
    }
    const body = new TextEncoder().encode('{"a":"b"}');
    for (const type of ["application/json", "text/plain", ""])
      expectRejected(
        await send("POST", path(), { body, headers: { Origin: origin, "Content-Type": type } }),
        415,
        type,
      );
  },
);

test.each(formPaths)(
  "The form address of %s rejects a form from another site without a backend call and without a cookie.",
  async (_what, path) => {
    const calls = await app.proxy.during(async () => {
      for (const headers of foreignOrigins) {
        const response = await client.post(path(), { email, password, name: "Forged", theme: "light" }, headers);
        expectRejected(response, 403, JSON.stringify(headers));
        expect(response.headers.getSetCookie()).toEqual([]);
      }
    });
    expect(calls.filter((call) => !call.startsWith("GET "))).toEqual([]);
  },
);

test.each(formPaths)("A damaged form for %s causes no server error.", async (_what, path) => {
  const sendMultipart = (boundary: string, body: string) => {
    const headers = { Origin: origin, "Content-Type": `multipart/form-data${boundary}` };
    return send("POST", path(), { body, headers });
  };
  for (const response of [
    await sendMultipart("", "--x\r\n"),
    await sendMultipart("; boundary=x", "no boundary in here"),
    await sendMultipart("; boundary=x", '--x\r\nContent-Disposition: form-data; name="email"\r\n\r\ncut o'),
    await sendMultipart("; boundary=x", "--x\r\nContent-Disposition: nonsense\r\n\r\na\r\n--x--\r\n"),
    await sendMultipart(`; boundary=${"x".repeat(500)}`, ""),
    await sendMultipart("; boundary=x", "--x--\r\n"),
    await client.post(path(), new URLSearchParams("%E0%A4%A=%%%&=&&&email[a]=1&email[b]=2&__proto__[x]=1&0=1")),
  ]) {
    expect(response.status).toBeLessThan(500);
    expect(response.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
  }
});

test("Rejected requests change neither the client's shipments nor the theme.", async () => {
  // Logs in again, because the damaged form for the sign-out has signed the client out.
  if (!client.cookies.has("session")) await client.logIn(email);
  const page = await client.open("/portal");
  expect(page.all("main section[aria-labelledby=shipments-title] li")).toHaveLength(1);
  expect(page.all("html").map((html) => html.getAttribute("class"))).toEqual(["dark"]);
});

test.each<[string, Record<string, string>]>([
  ["the site's origin", { Origin: origin }],
  ["localhost as its origin", { Origin: "http://localhost:3000" }],
  ["the IPv6 address of this machine as its origin", { Origin: "http://[::1]:3000" }],
  ["the mark of the same origin", { Origin: origin, "Sec-Fetch-Site": "same-origin" }],
  ["no origin, typed by a person", { "Sec-Fetch-Site": "none" }],
])("A form with %s is accepted.", async (_what, headers) => {
  for (const path of ["/login", "/actions/theme"]) {
    const body = new URLSearchParams({ email, password });
    const response = await site.browser().send(new Request(new URL(path, origin), { method: "POST", body, headers }));
    expect([path, response.status]).toEqual([path, 303]);
  }
});

test("A rejected form from another site shows a page with the reason and the site's address.", async () => {
  const page = await parsePage(await client.post("/login", {}, { Origin: "https://evil.example" }));
  expect([page.status, page.h1]).toEqual([403, "We cannot process this request"]);
  expect(page.text).toContain(`This form was sent from another site. Open the page at ${origin}, then`);
  expect(listLinkAddresses(page, "main a")).toEqual(["/"]);
});

test("A damaged form shows a page with the reason.", async () => {
  const headers = { Origin: origin, "Content-Type": "multipart/form-data; boundary=x" };
  for (const path of ["/login", "/signup", shipment]) {
    const page = await parsePage(await send("POST", path, { body: "--x\r\ncut o", headers }));
    expect([path, page.status]).toEqual([path, 400]);
    expect(page.text, path).toContain("We received only part of the form.");
  }
});

test.each(["/actions/theme", "/actions/forgot-password", "/portal/sign-out"])(
  "A GET request for %s changes nothing, and redirects to a page or shows the form.",
  async (path) => {
    const browser = site.browser();
    await browser.logIn(email);
    const response = await browser.get(path);
    expect(response.headers.getSetCookie()).toEqual([]);
    if (response.status === 303) expect((await browser.follow(response)).status).toBe(200);
    else expect((await parsePage(response)).all("main form")).toHaveLength(1);
    expect((await browser.get("/portal")).status).toBe(200);
  },
);
