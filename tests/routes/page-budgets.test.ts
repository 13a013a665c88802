import { existsSync, readdirSync, readFileSync } from "node:fs";
import http from "node:http";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clientBuildFolder } from "../../app/server/start/build.ts";
import { authPages, publicPages } from "../support/public-pages.ts";
import { getTestApp, startTestSite } from "../support/test-app.ts";

/** The size of the first flight of ten TCP segments, headers included, in bytes (RFC 6928). */
const firstFlightBytes = 14_300;
/** Script before a page is idle, brotli, in bytes. */
const maxScriptBytes = 115_000;

const publicPaths = [...publicPages, ...authPages];

let app: Awaited<ReturnType<typeof getTestApp>>;
let site: Awaited<ReturnType<typeof startTestSite>>;
let cookie: string;
let shipment: string;
beforeAll(async () => {
  app = await getTestApp();
  site = await startTestSite();
  const client = site.browser();
  await client.signUpAndLogIn("Wanjiru Kamau");
  await client.get("/portal");
  shipment = await client.createShipment("Solar panels, two 40 ft containers");
  cookie = [...client.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
});
afterAll(async () => {
  await site.close();
});

type MeasuredResponse = {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: Buffer;
  /** All bytes received on the connection. */
  bytes: number;
};

/** One request on a connection of its own, to count what crosses the line. */
function sendRequest(address: string, headers: Record<string, string> = {}, method = "GET"): Promise<MeasuredResponse> {
  return new Promise((resolve, reject) => {
    const options = {
      port: site.port,
      path: address,
      method,
      headers: { "Accept-Encoding": "br", ...headers },
      agent: false,
    };
    const request = http.request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const { statusCode: status = 0, headers, socket } = response;
        resolve({ status, headers, body: Buffer.concat(chunks), bytes: socket.bytesRead });
      });
    });
    request.on("error", reject);
    request.end();
  });
}

/** The HTML of a page as it is. */
const fetchHtml = async (address: string, headers: Record<string, string> = {}) =>
  (await sendRequest(address, { ...headers, "Accept-Encoding": "identity" })).body.toString("utf8");

describe.each(publicPaths)("on a first visit, %s", (page) => {
  test("fits one flight with its styles, and waits for nothing else to be painted", async () => {
    for (const address of [page, `${page}?quote`]) await expectOneFlight(address);
    const text = await fetchHtml(page);
    expect(text).toContain("<style>");
    expect(text).not.toMatch(/<link rel="stylesheet"/);
    expect(text).not.toMatch(/<script(?![^>]* (?:async|type="application\/ld\+json"))[^>]* src=/);
  });

  test("names no more script than may come before it is idle, all of it at low priority", async () => {
    expectScriptBudget(await fetchHtml(page));
  });

  test("is text alone where the line or the person asks for that", async () => {
    for (const [name, value] of [
      ["Save-Data", "on"],
      ["ECT", "2g"],
      ["ECT", "slow-2g"],
      ["Cookie", "lite=1"],
    ] as const) {
      expectTextOnly(await fetchHtml(page, { [name]: value }));
    }
    expect(await fetchHtml(page, { ECT: "4g" })).toContain("<script");
    expect(await fetchHtml(page, { "Save-Data": "on", Cookie: "lite=0" })).toContain("<script");
    const { headers } = await sendRequest(page);
    for (const name of ["Accept-Encoding", "Cookie", "Save-Data", "ECT", "Sec-Fetch-Site"])
      expect(headers.vary).toContain(name);
    expect(headers["accept-ch"]).toBe("ECT");
  });
});

async function expectOneFlight(address: string, headers: Record<string, string> = {}): Promise<void> {
  const answer = await sendRequest(address, headers);
  expect(answer.headers["content-encoding"]).toBe("br");
  expect(answer.bytes, address).toBeLessThanOrEqual(firstFlightBytes);
}

function expectTextOnly(text: string): void {
  expect(text).not.toMatch(
    /<script(?! type="application\/ld\+json")|modulepreload|prefetch|\/art\/|favicon\.svg|rel="manifest"/,
  );
}

test("every article fits one flight, with its tables and what matters at a glance", async () => {
  const articles = readdirSync(path.resolve("content/blog")).map((file) => path.basename(file, ".mdx"));
  expect(articles).toContain("port-clearance-mistakes");
  for (const article of articles) await expectOneFlight(`/resources/blog/${article}`);
});

test("the longest pages fit one flight for who is signed in and chose the light theme", async () => {
  const browser = site.browser();
  await browser.post("/actions/theme", { theme: "light" });
  const Cookie = `${cookie}; theme=${browser.cookies.get("theme")}`;
  for (const page of ["/", "/services"]) await expectOneFlight(page, { Cookie });
});

test("an estimate fits one flight, with its sums or with everything wrong, and under the quote form", async () => {
  const registered = `${new Date().getFullYear() - 3}-05`;
  const sums = `what=car&registered=${registered}&excise=25&currency=USD&value=8,000&freight=1200&insurance=120.50&rate=129.5&duty=25`;
  for (const query of [sums, "what=car&value=x&freight=-1&insurance=x&rate=x&duty=x&registered=x"]) {
    for (const address of [`/resources/cost?${query}`, `/resources/cost?${query}&quote`])
      await expectOneFlight(address);
  }
});

test("the quote form brings no script to who asked for text alone", async () => {
  for (const page of ["/?quote", "/resources/blog?quote"]) expectTextOnly(await fetchHtml(page, { "Save-Data": "on" }));
});

function expectScriptBudget(text: string): void {
  const preloads = [...text.matchAll(/<link rel="modulepreload"([^>]*) href="([^"]+)"/g)];
  expect(preloads.length).toBeGreaterThan(2);
  // A file named twice is fetched once.
  const sizes = [...new Set(preloads.map(([, , href = ""]) => href))].map(getBrotliSize);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(maxScriptBytes);
  for (const [, attributes] of preloads) expect(attributes).toContain('fetchpriority="low"');
}

function getBrotliSize(href: string): number {
  const file = path.join(clientBuildFolder, href);
  // The smallest files are sent as they are.
  return readFileSync(existsSync(`${file}.br`) ? `${file}.br` : file).length;
}

describe.each(["/portal", "/portal/new", "/portal/2fa", "a shipment"])("on a first visit, signed in, %s", (page) => {
  const address = () => (page === "a shipment" ? shipment : page);

  test("fits one flight, a shipment with its documents and history", async () => {
    const { status, bytes } = await sendRequest(address(), { Cookie: cookie });
    expect(status).toBe(200);
    expect(bytes).toBeLessThanOrEqual(firstFlightBytes);
  });

  test.each(["", "?quote"])("names no more script than may come before it is idle%s", async (panel) => {
    expectScriptBudget(await fetchHtml(address() + panel, { Cookie: cookie }));
  });
});

test("nothing is prefetched but modules, as no directive of the policy lets browsers fetch anything else ahead", async () => {
  for (const page of ["/?quote", "/about?quote", "/no-such-page?quote"])
    expect(await fetchHtml(page), page).not.toContain('rel="prefetch"');
});

test("a second page leaves out the styles the browser has", async () => {
  const text = await fetchHtml("/about", { "Sec-Fetch-Site": "same-origin" });
  expect(text).toContain('<link rel="stylesheet"');
  expect(text).not.toContain("<style>");
});

describe("a page that is the same for everybody", () => {
  test("is not sent again to a browser that has it", async () => {
    const first = await sendRequest("/about");
    const again = await sendRequest("/about", { "If-None-Match": first.headers.etag ?? "" });
    expect(again.status).toBe(304);
    expect(again.body.length).toBe(0);
    expect(again.headers["content-security-policy"]).toBe(first.headers["content-security-policy"]);
  });

  test("has a tag of its own for each encoding and form", async () => {
    const asked: Record<string, string>[] = [
      {},
      { "Accept-Encoding": "gzip" },
      { "Accept-Encoding": "identity" },
      { "Save-Data": "on" },
    ];
    const tags = await Promise.all(asked.map(async (headers) => (await sendRequest("/about", headers)).headers.etag));
    expect(new Set(tags).size).toBe(asked.length);
  });

  test("answers HEAD as GET, without the body", async () => {
    const head = await sendRequest("/about", {}, "HEAD");
    const get = await sendRequest("/about");
    expect(head.body.length).toBe(0);
    expect(head.headers["content-length"]).toBe(get.headers["content-length"]);
  });

  /** Asks for a page, and once more with the tag of the first answer. */
  async function twice(page: string, headers: Record<string, string>) {
    const first = await sendRequest(page, headers);
    const again = await sendRequest(page, { ...headers, "If-None-Match": first.headers.etag ?? "" });
    return { tag: first.headers.etag, again: again.status };
  }

  test("is not sent again either to who chose a theme or cookies, logged in or had a message", async () => {
    const browser = site.browser();
    const brought = () => [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const dark = await twice("/about", {});

    await browser.post("/actions/forgot-password", {});
    expect(await fetchHtml("/about", { Cookie: brought() })).toContain("Feature coming soon!");
    await browser.get("/about");
    expect(await twice("/about", { Cookie: brought() })).toEqual(dark);

    await browser.post("/cookie-settings", { marketing: "on" });
    await browser.get("/cookie-settings");
    expect(await twice("/about", { Cookie: brought() })).toEqual(dark);
    const { headers, body } = await sendRequest("/cookie-settings", {
      Cookie: brought(),
      "Accept-Encoding": "identity",
    });
    expect(headers.etag).toBeUndefined();
    expect(body.toString()).toMatch(/<input[^>]*id="marketing"[^>]* checked/);
    expect(await fetchHtml("/cookie-settings")).not.toMatch(/<input[^>]*id="marketing"[^>]* checked/);

    await browser.post("/actions/theme", { theme: "light" });
    const light = await twice("/about", { Cookie: brought() });
    expect(light).toEqual({ tag: expect.stringMatching(/./), again: 304 });
    expect(light.tag).not.toBe(dark.tag);
    expect(await fetchHtml("/about", { Cookie: brought() })).toContain('<html lang="en" class="light">');

    const client = await twice("/about", { Cookie: cookie });
    expect(client).toEqual({ tag: expect.stringMatching(/./), again: 304 });
    expect([dark.tag, light.tag]).not.toContain(client.tag);
  });

  test("depends on whether a client is signed in, not on which", async () => {
    const theirs = await fetchHtml("/about", { Cookie: cookie });
    expect(theirs).toContain("Sign out");
    expect(await fetchHtml("/about", { Cookie: "session=forged" })).toBe(theirs);
    expect(await fetchHtml("/about")).not.toContain("Sign out");
  });

  test("is kept for nobody who has a message coming", async () => {
    const { headers } = await sendRequest("/about", { Cookie: "flash=x" });
    expect(headers.etag).toBeUndefined();
    expect(headers["set-cookie"]?.join()).toMatch(/^flash=;.*Max-Age=0/);
  });

  test("is kept only if it is no error", async () => {
    await sendRequest("/faq-not-there", { Cookie: cookie });
    const refused = await sendRequest("/faq-not-there");
    expect(refused.status).toBe(404);
    expect(refused.headers["cache-control"]).toContain("no-store");
    expect(refused.headers.etag).toBeUndefined();
  });
});

describe("a page of the portal costs the backend", () => {
  test.each([
    ["the list", () => "/portal"],
    ["a later page of the list", () => "/portal?page=2"],
    ["a shipment beside the list", () => shipment],
    ["a shipment, asked for by script", () => `${shipment}.data`],
  ])("one call, which says who asks too: %s", async (_name, address) => {
    app.proxy.calls.length = 0;
    expect((await sendRequest(address(), { Cookie: cookie })).status).toBe(200);
    expect(app.proxy.calls.map((call) => call.split("?")[0])).toEqual(["GET /rest/v1/rpc/portal_page"]);
  });

  test("nothing for a public page, signed in or not", async () => {
    app.proxy.calls.length = 0;
    // The login and the sign-up redirect clients who are signed in.
    for (const page of publicPaths.filter((page) => page !== "/login" && page !== "/signup"))
      await sendRequest(page, { Cookie: cookie });
    expect(app.proxy.calls).toEqual([]);
  });
});

test("what a script asks for comes compressed as its browser takes it", async () => {
  for (const encoding of ["br", "gzip"]) {
    const { headers } = await sendRequest(`${shipment}.data`, { Cookie: cookie, "Accept-Encoding": encoding });
    expect([headers["content-encoding"], headers.vary]).toEqual([encoding, expect.stringContaining("Accept-Encoding")]);
  }
});

test("files of the build come compressed, typed, and for good", async () => {
  const href = /href="(\/assets\/[^"]+\.js)"/.exec(await fetchHtml("/"))?.[1] ?? "";
  const { headers, status } = await sendRequest(href);
  expect(status).toBe(200);
  expect(headers["content-type"]).toMatch(/javascript/);
  expect(headers["content-encoding"]).toBe("br");
  expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable");
  expect(headers["x-content-type-options"]).toBe("nosniff");
  const picture = await sendRequest("/art/hero.svg", { "Accept-Encoding": "gzip" });
  expect(picture.headers["content-type"]).toMatch(/svg/);
  expect(picture.headers["content-encoding"]).toBe("gzip");
  expect(
    (await sendRequest("/art/hero.svg", { "If-None-Match": picture.headers.etag ?? "", "Accept-Encoding": "gzip" }))
      .status,
  ).toBe(304);
});
