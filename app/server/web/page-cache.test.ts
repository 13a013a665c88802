import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { stubSettings } from "../../../tests/support/stub-settings.ts";

let createPageCache: typeof import("./page-cache.ts").createPageCache;
let isAnonymous: typeof import("./page-cache.ts").isAnonymous;
let themeCookie: typeof import("../../lib/http/theme.server.ts").themeCookie;
const origin = "http://127.0.0.1:3000";
beforeAll(async () => {
  stubSettings({ APP_ORIGIN: origin });
  ({ createPageCache, isAnonymous } = await import("./page-cache.ts"));
  ({ themeCookie } = await import("../../lib/http/theme.server.ts"));
});
afterAll(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

const createIncoming = (cookie?: string, url = "/about") =>
  ({ method: "GET", url, headers: cookie ? { cookie } : {} }) as IncomingMessage;

/** Creates a page cache whose renderer returns `responses` in order, then always the last response. */
function createTestCache(...responses: (() => Response)[]) {
  const requests: Request[] = [];
  const pages = createPageCache(async (request) => {
    requests.push(request);
    await new Promise(setImmediate);
    return responses[Math.min(requests.length, responses.length) - 1]?.() ?? Response.error();
  }, origin);
  const read = async (request = createIncoming()) => {
    const found = await pages.getOrRender(request);
    if (!found) return null;
    return found.page instanceof Response ? found.page.text() : found.page.bodies.identity?.toString();
  };
  const readCached = (request: IncomingMessage) => pages.getCached(request)?.bodies.identity?.toString();
  return { requests, pages, read, readCached };
}
const runTenTimes = <T>(job: () => Promise<T>) => Promise.all(Array.from({ length: 10 }, job));
const createPageResponse = () => new Response("a page");

test("Ten parallel requests and a later request for the same page cause only one rendering.", async () => {
  const { requests, read } = createTestCache(createPageResponse);
  expect(await runTenTimes(() => read())).toEqual(Array(10).fill("a page"));
  expect(await read()).toBe("a page");
  expect(requests).toHaveLength(1);
});

test("Only pages requested with a URL as in the site's own links get the best compression.", async () => {
  const text = Array.from({ length: 3000 }, (_, index) => `<li>Consignment ${(index * 7919) % 1000}</li>`).join("");
  const { pages } = createTestCache(() => new Response(text));
  const compressedSize = async (url: string) => {
    const found = await pages.getOrRender(createIncoming(undefined, url));
    return found && "bodies" in found.page ? found.page.bodies.br?.length : undefined;
  };
  const best = await compressedSize("/resources/faq?quote");
  expect(await compressedSize("/resources/faq")).toBe(best);
  expect(await compressedSize("/resources/FAQ")).not.toBe(best);
});

test("Many URLs with query parameters do not remove the page without parameters from the cache.", async () => {
  // Ten of these pages exceed the size limit of the cache for URLs with parameters.
  const text = randomBytes(150_000).toString("hex");
  const { read, readCached } = createTestCache(createPageResponse, () => new Response(text));
  await read();
  for (let index = 0; index < 10; index += 1) await read(createIncoming(undefined, `/services?service=${index}`));
  expect(readCached(createIncoming())).toBe("a page");
  expect(readCached(createIncoming(undefined, "/services?service=0"))).toBeUndefined();
});

test("A page with an expiry time is rendered again at that time, with and without cookies.", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-11-02T13:59:59Z") });
  const { requests, read, readCached } = createTestCache(
    () => new Response("open", { headers: { Expires: "Mon, 02 Nov 2026 14:00:00 GMT" } }),
    () => new Response("closed", { headers: { Expires: "Tue, 03 Nov 2026 05:00:00 GMT" } }),
  );
  const [plain, withCookie] = [createIncoming(undefined, "/contact"), createIncoming("_ga=1", "/contact")];
  try {
    expect([await read(plain), await read(withCookie), readCached(plain)]).toEqual(["open", "open", "open"]);
    vi.setSystemTime(new Date("2026-11-02T14:00:00Z"));
    expect(readCached(plain)).toBeUndefined();
    expect([await read(withCookie), await read(plain), readCached(plain)]).toEqual(["closed", "closed", "closed"]);
    expect(requests).toHaveLength(2);
  } finally {
    vi.useRealTimers();
  }
});

const fail = () => {
  throw new Error("no memory");
};
test.each([
  ["An error page", () => new Response("not there", { status: 404 }), "not there"],
  ["A failed rendering", fail, "Error: no memory"],
])("All waiting requests get the same result, and the result is not cached: %s.", async (_what, respond, text) => {
  const { requests, read } = createTestCache(respond, createPageResponse);
  expect(await runTenTimes(() => read().catch(String))).toEqual(Array(10).fill(text));
  expect(requests).toHaveLength(1);
  expect(await read()).toBe("a page");
});

test.each([
  ["that is private", { headers: { "Cache-Control": "private, no-store" } }],
  ["with a cookie", { headers: { "Set-Cookie": "theme=x" } }],
  ["with an error and a cookie", { status: 404, headers: { "Set-Cookie": "theme=x" } }],
  ["with a redirect", { status: 303, headers: { Location: "/login" } }],
])("The page cache shares no response %s between visitors.", async (_what, init) => {
  const { read } = createTestCache(() => new Response("theirs", init));
  expect(await runTenTimes(() => read())).toEqual(Array(10).fill(null));
});

test("The request for which a cached page is rendered has no personal headers and cookies.", async () => {
  const { requests, read } = createTestCache(createPageResponse);
  const cookie = "session.0=secret; known=1; _ga=1; lite=1";
  const headers = { cookie, authorization: "x", referer: "https://x.example" };
  await read({ method: "GET", url: "/about", headers } as IncomingMessage);
  expect([...(requests[0]?.headers ?? [])]).toEqual([["cookie", "lite=1; session="]]);
});

test("A public page is rendered separately for team members, but only while they are signed in.", async () => {
  const { requests, read } = createTestCache(createPageResponse);
  const staff = ["session=x; desk=1", "session=y; desk=1"];
  for (const cookie of ["session=x; desk=0", ...staff, "session=z", "session.0=z", "desk=1", undefined])
    await read(createIncoming(cookie));
  expect(requests.map(({ headers }) => headers.get("cookie"))).toEqual(["session=", "session=; desk=1", null]);
});

test("A page is rendered once for each theme, and an invalid theme cookie counts as dark.", async () => {
  const { requests, read } = createTestCache(createPageResponse);
  const createCookie = async (theme: string) => (await themeCookie(new Request(origin), theme)).split(";")[0] ?? "";
  const light = await createCookie("light");
  const [dark, unknown] = [await createCookie("dark"), await createCookie("pink")];
  for (const cookie of [light, dark, "theme=light", `${light}x`, unknown, undefined, light])
    await read(createIncoming(cookie));
  expect(requests).toHaveLength(2);
});

test("Cookies and query parameters that do not change a page cause no second rendering.", async () => {
  const { requests, read } = createTestCache(createPageResponse);
  for (const cookie of ["known=1", "shared=1", "reminded=1", "cookieSettings=x", "__Host-flash=x", "_ga=1; theme"])
    await read(createIncoming(cookie));
  for (const query of ["?utm_source=x", "?fbclid=1&gclid=2", "?n=1", "?n=2"])
    await read(createIncoming(undefined, `/about${query}`));
  expect(requests.map(({ url }) => url)).toEqual([`${origin}/about`]);
});

const spellings = (path: string) => [
  path,
  `/${path}`,
  path.toUpperCase(),
  path.replace(/^\/(.)/, (_, letter) => `/%${letter.charCodeAt(0).toString(16)}`),
];
test.each([
  ...["/resources/cost?what=car", "/resources/cost.data?what=car", "//Resources/c%6fst/?what=a", "/contact?about=a"],
  ...["/portal", "/desk/log", "/login?next=x", "/signup.data", "/auth/confirm", "/unsubscribe?a", "/s/token"].flatMap(
    spellings,
  ),
  "/services?service=".padEnd(513, "a"),
])("The page %s is not cached, because it is personal or contains typed text.", (url) => {
  expect(isAnonymous(createIncoming(undefined, url))).toBe(false);
});

test.each([
  ...["/resources/cost", "/resources/cost?quote", "/contact", "/contact?quote", "/contact.data"],
  ...["/services", "/about", "/resources/blog", "/services?service=".padEnd(512, "a")],
])("The public page %s can be cached.", (url) => {
  expect(isAnonymous(createIncoming(undefined, url))).toBe(true);
});

test("A page is rendered once for each combination of known query parameters, in any order.", async () => {
  const { requests, read } = createTestCache(createPageResponse);
  for (const query of ["?category=customs&page=2", "?utm_source=x&page=2&category=customs", "?page=2&category=guides"])
    await read(createIncoming(undefined, `/resources/blog${query}`));
  const searches = requests.map(({ url }) => new URL(url).search);
  expect(searches).toEqual(["?category=customs&page=2", "?category=guides&page=2"]);
});

test.each([
  ...["session=x", "theme=x", "lite=1", "other=x"].map((cookie) => createIncoming(cookie)),
  ...["//about", "/about/", "/%61bout", "/./about", "/about#x", "http://elsewhere/about", "/About"].map((url) =>
    createIncoming(undefined, url),
  ),
])("A request for $url with the headers $headers gets no cached page.", async (request) => {
  const { read, readCached } = createTestCache(createPageResponse);
  await read();
  expect(readCached(request)).toBeUndefined();
});

test.each([{ "save-data": "on" }, { ect: "2g" }, { "sec-fetch-site": "same-origin" }])(
  "Requests with the header %j get a separate cached page.",
  async (headers) => {
    const { read, readCached } = createTestCache(createPageResponse);
    await read();
    const request = { ...createIncoming(), headers } as unknown as IncomingMessage;
    expect(readCached(request)).toBeUndefined();
    await read(request);
    expect(readCached(request)).toBe("a page");
  },
);
