import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { listLinkAddresses } from "../support/page-parts.ts";
import { getTestApp, getTestSite, noStorePattern, origin, parsePage, password } from "../support/test-app.ts";

const app = await getTestApp();
const site = await getTestSite();
const client = site.browser();
const email = await client.signUpAndLogIn("Requester");
const shipment = await client.createShipment("Requests");

/** The headers that browsers send with a form from another site. */
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
  "The form URL of %s accepts only the methods GET, HEAD and POST, and only forms as request bodies.",
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
  "The form URL of %s rejects a form from another site, makes no backend call and sets no cookie.",
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

test.each(formPaths)("A damaged form for %s gets a response without a server error.", async (_what, path) => {
  const sendMultipart = (boundary: string, body: string) => {
    const headers = { Origin: origin, "Content-Type": `multipart/form-data${boundary}` };
    return send("POST", path(), { body, headers });
  };
  for (const response of [
    await sendMultipart("", "--x\r\n"),
    await sendMultipart("; boundary=x", '--x\r\nContent-Disposition: form-data; name="email"\r\n\r\ncut o'),
    await sendMultipart("; boundary=x", "--x\r\nContent-Disposition: nonsense\r\n\r\na\r\n--x--\r\n"),
    await sendMultipart(`; boundary=${"x".repeat(500)}`, ""),
    await client.post(path(), new URLSearchParams("%E0%A4%A=%%%&=&&&email[a]=1&email[b]=2&__proto__[x]=1&0=1")),
  ]) {
    expect(response.status).toBeLessThan(500);
    expect(response.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
  }
});

test("Rejected requests change neither the client's shipments nor the theme.", async () => {
  // Logs in again, because one of the damaged forms has signed the client out.
  if (!client.cookies.has("session")) await client.logIn(email);
  const page = await client.open("/portal");
  expect(page.all("main section[aria-labelledby=shipments-title] li")).toHaveLength(1);
  expect(page.all("html").map((html) => html.getAttribute("class"))).toEqual(["dark"]);
});

test.each<[string, Record<string, string>]>([
  ["the site's origin", { Origin: origin }],
  ["localhost as its origin", { Origin: "http://localhost:3000" }],
  ["the mark of the same origin", { Origin: origin, "Sec-Fetch-Site": "same-origin" }],
  ["no origin, typed by a person", { "Sec-Fetch-Site": "none" }],
])("A form with %s is accepted.", async (_what, headers) => {
  for (const path of ["/login", "/actions/theme"]) {
    const body = new URLSearchParams({ email, password });
    const response = await site.browser().send(new Request(new URL(path, origin), { method: "POST", body, headers }));
    expect([path, response.status]).toEqual([path, 303]);
  }
});

test("The response to a form from another site is a page with the reason for the rejection and our site's URL.", async () => {
  const page = await parsePage(await client.post("/login", {}, { Origin: "https://evil.example" }));
  expect([page.status, page.h1]).toEqual([403, "We cannot process this request"]);
  expect(page.text).toContain(`This form was sent from another site. Open the page at ${origin}, then`);
  expect(listLinkAddresses(page, "main a")).toEqual(["/"]);
  expect(listLinkAddresses(page, "header nav a")).toContain("/services");
});

test("The response to a damaged form is a page with the reason for the rejection.", async () => {
  const headers = { Origin: origin, "Content-Type": "multipart/form-data; boundary=x" };
  const page = await parsePage(await send("POST", shipment, { body: "--x\r\ncut o", headers }));
  expect([page.status, page.text]).toEqual([...[400, expect.stringContaining("We received only part of the form.")]]);
});

test.each(["/actions/theme", "/actions/forgot-password", "/portal/sign-out"])(
  "A GET request for %s changes nothing, and shows the form or is redirected to a page.",
  async (path) => {
    const response = await client.get(path);
    expect(response.headers.getSetCookie()).toEqual([]);
    if (response.status === 303) expect((await client.follow(response)).status).toBe(200);
    else {
      const forms = (await parsePage(response)).all("main form");
      expect(forms.map((form) => form.getAttribute("method"))).toEqual(["post"]);
    }
    expect((await client.get("/portal")).status).toBe(200);
  },
);

describe("Unusual URLs", () => {
  let lines: Record<string, unknown>[];
  beforeAll(() => {
    vi.spyOn(console, "log").mockImplementation((text: unknown) => {
      for (const line of String(text).split("\n")) if (line.startsWith("{")) lines.push(JSON.parse(line));
    });
  });
  beforeEach(() => {
    lines = [];
  });
  afterAll(() => {
    vi.restoreAllMocks();
  });

  /** Sends a request through a socket, because fetch would normalize the URL. Waits for the request's log line. */
  async function sendRaw(target: string, method = "GET", moreHeaders = "", body = "") {
    const socket = connect(site.port, "127.0.0.1").on("error", () => undefined);
    const head = `Host: x\r\nConnection: close\r\n${moreHeaders}Content-Length: ${body.length}`;
    socket.write(`${method} ${target} HTTP/1.1\r\n${head}\r\n\r\n${body}`);
    const [top = ""] = (await buffer(socket)).toString("latin1").split("\r\n\r\n");
    const [, ...rows] = top.split("\r\n");
    const headers = new Headers(
      rows.map((row): [string, string] => [row.split(": ", 1)[0] ?? "", row.replace(/^[^:]*: /, "")]),
    );
    const id = headers.get("X-Request-Id");
    await expect.poll(() => lines.filter(({ requestId }) => requestId === id && id), { interval: 5 }).not.toEqual([]);
    expect(headers.get("Cache-Control") ?? "", target).toMatch(noStorePattern);
    return { status: Number(top.slice(9, 12)), headers };
  }

  test.each([
    ...[
      "/%0a",
      "/login%0D.data",
      "/portal/%E2%80%A8",
      "/%E0%A4%A/%e2%80%a9",
      "/%00",
      "/%",
      "//x",
      "/x/../../y",
      "/\\..\\x",
    ],
    ...["//x.data", "/%00.data", "/_root.data/x", "/__manifest", "http://evil.example/x%0a"],
    ...[`/${"a".repeat(8000)}`, `/x?${"a".repeat(8000)}`],
  ])(
    "The unknown URL %j rejects another site's form, and every response is logged and not cached.",
    async (address) => {
      // Below /portal/, visitors are redirected to the login page, even if the page does not exist.
      expect(address.startsWith("/portal/") ? [303] : [404, 400]).toContain((await sendRaw(address)).status);
      const headers = "Sec-Fetch-Site: cross-site\r\nContent-Type: application/json\r\n";
      expect([403, 400]).toContain((await sendRaw(address, "POST", headers, "{}")).status);
    },
  );

  test.each(["OPTIONS", "TRACE", "PURGE"])(
    "The method %s is rejected for every URL, and the response lists the accepted methods.",
    async (method) => {
      for (const address of ["/login", "/favicon.svg", "/healthz", "/x%0a", "/portal.data"]) {
        const { status, headers } = await sendRaw(address, method);
        expect([address, status, headers.get("Allow")]).toEqual([address, 405, "GET, HEAD, POST"]);
      }
    },
  );

  test.each(["nonsense", "http://[", "https://a, https://b"])(
    "A form with the Origin header %j is rejected.",
    async (from) => {
      for (const address of ["/login", "/login.data", "/actions/theme"]) {
        const headers = `Origin: ${from}\r\nContent-Type: application/x-www-form-urlencoded\r\n`;
        expect([address, (await sendRaw(address, "POST", headers, "email=a")).status]).toEqual([address, 403]);
      }
    },
  );
});

function expectPrivate({ headers }: Response, what: string): void {
  expect(headers.get("Cache-Control") ?? "", what).toMatch(noStorePattern);
  expect(headers.get("X-Robots-Tag"), what).toBe("noindex");
}

test("Personal pages are not cached, and search engines do not index them.", async () => {
  for (const path of ["/portal", "/portal/new", "/portal/2fa"]) expectPrivate(await client.get(path), path);
  for (const path of ["/login", "/signup", "/auth/confirm", "/auth/confirm?token_hash=x"])
    expectPrivate(await site.browser().get(path), path);
});

test("Redirects, errors and responses to rejected forms are not cached or indexed, for pages and for client-side navigations.", async () => {
  const visitor = site.browser();
  const redirects = ["/portal", "/portal/new", shipment, "/login/verify", "/actions/theme", "/portal/sign-out"];
  for (const path of redirects.flatMap((redirect) => [redirect, `${redirect}.data`])) {
    const response = await visitor.get(path);
    expect([202, 303], path).toContain(response.status);
    expectPrivate(response, path);
  }
  for (const path of ["/no-such-page", "/portal/no-such", "/resources/blog/no-such", "/no-such.data"])
    expectPrivate(await client.get(path), path);
  expectPrivate(await client.post("/contact", {}), "an empty form");
  expectPrivate(await client.post("/contact", {}, { Origin: "https://evil.example" }), "a form of another site");
});

test("Caches and search engines may store public pages.", async () => {
  for (const path of ["/", "/contact", "/resources/blog", "/sitemap.xml", "/robots.txt"]) {
    const { headers } = await site.browser().get(path);
    expect(headers.get("X-Robots-Tag"), path).toBeNull();
    expect(headers.get("Cache-Control"), path).not.toContain("no-store");
  }
});

test("Responses that set a cookie are not cached.", async () => {
  const browser = site.browser();
  const responses = [
    await browser.post("/actions/theme", { theme: "light", to: "/" }),
    await browser.post("/actions/forgot-password", {}),
    await browser.get("/"),
    await browser.post("/login", { email, password }),
    await browser.get("/"),
    await browser.post(`${shipment}/payments`, { payment: "duties" }),
    await browser.get("/no-such-page"),
    await browser.post("/portal/new", { name: "" }),
    await browser.post("/portal/sign-out", {}),
    await browser.get("/signup"),
  ].filter((response) => response.headers.getSetCookie().length > 0);
  expect(responses.length).toBeGreaterThanOrEqual(8);
  for (const { headers } of responses)
    expect(headers.get("Cache-Control") ?? "", headers.getSetCookie().join()).toMatch(noStorePattern);
});

test("The response to an accepted form is not cached, for pages and for client-side navigations.", async () => {
  const form = { name: "Amina Wanjiru", email: "amina@client.example", subject: "Tea", message: "When?" };
  for (const path of ["/contact", "/contact.data"]) {
    const response = await client.post(path, form);
    expect([path, response.status, response.headers.getSetCookie()]).toEqual([path, 200, []]);
    expect(await response.text()).toContain("amina@client.example");
    expect(response.headers.get("Cache-Control")).toBe("private, no-store");
  }
});
