import type { IncomingMessage } from "node:http";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
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

/** Pages whose renderer gives these answers in turn, and the requests that it got. */
function createTestCache(...answers: (() => Response)[]) {
  const asked: Request[] = [];
  const pages = createPageCache(async (request) => {
    asked.push(request);
    await new Promise(setImmediate);
    return answers[Math.min(asked.length, answers.length) - 1]?.() ?? Response.error();
  }, origin);
  const read = async (request: IncomingMessage) => {
    const found = await pages.getOrRender(request);
    if (!found) return null;
    return found.page instanceof Response ? found.page.text() : found.page.bodies.identity?.toString();
  };
  return { asked, read };
}
const runTenTimes = <T>(act: () => Promise<T>) => Promise.all(Array.from({ length: 10 }, act));
const createPageResponse = () => new Response("a page");

test("Ten parallel requests and the next one share one rendering of a page.", async () => {
  const { asked, read } = createTestCache(createPageResponse);
  expect(await runTenTimes(() => read(createIncoming()))).toEqual(Array(10).fill("a page"));
  expect(await read(createIncoming())).toBe("a page");
  expect(asked).toHaveLength(1);
});

test("only the address that our own links have is worth the best compression", async () => {
  const text = Array.from({ length: 3000 }, (_, index) => `<li>Consignment ${(index * 7919) % 1000}</li>`).join("");
  const pages = createPageCache(async () => new Response(text), origin);
  const sizeOf = async (url: string) => {
    const found = await pages.getOrRender(createIncoming(undefined, url));
    return found && "bodies" in found.page ? found.page.bodies.br?.length : undefined;
  };
  const best = await sizeOf("/resources/faq");
  expect(await sizeOf("/resources/faq?quote")).toBe(best);
  for (const made of ["/resources/FAQ", "/resources//faq", "/resources/faq/", "/resources/%66aq"]) {
    expect(await sizeOf(made), made).not.toBe(best);
  }
});

test("a page that says until when it holds is rendered anew at that moment, for who has cookies and who has none", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-11-02T13:59:59Z") });
  const opened = () => new Response("open", { headers: { Expires: "Mon, 02 Nov 2026 14:00:00 GMT" } });
  const closed = () => new Response("closed", { headers: { Expires: "Tue, 03 Nov 2026 05:00:00 GMT" } });
  let asked = 0;
  const pages = createPageCache(async () => (asked++ === 0 ? opened() : closed()), origin);
  const told = async (cookie?: string) => {
    const found = await pages.getOrRender(createIncoming(cookie, "/contact"));
    return found && "bodies" in found.page ? found.page.bodies.identity?.toString() : "";
  };
  const known = () => pages.getCached(createIncoming(undefined, "/contact"))?.bodies.identity?.toString();
  try {
    expect([await told(), await told("_ga=1"), known()]).toEqual(["open", "open", "open"]);
    vi.setSystemTime(new Date("2026-11-02T14:00:00Z"));
    expect(known()).toBeUndefined();
    expect([await told("_ga=1"), await told(), known()]).toEqual(["closed", "closed", "closed"]);
    expect(asked).toBe(2);
  } finally {
    vi.useRealTimers();
  }
});

test("An error is rendered once for all waiting requests and is not cached.", async () => {
  const { asked, read } = createTestCache(() => new Response("not there", { status: 404 }), createPageResponse);
  expect(await runTenTimes(() => read(createIncoming()))).toEqual(Array(10).fill("not there"));
  expect(asked).toHaveLength(1);
  expect(await read(createIncoming())).toBe("a page");
});

test("a rendering that fails is forgotten: the next request gets the page", async () => {
  const fail = () => {
    throw new Error("no memory");
  };
  const { asked, read } = createTestCache(fail, createPageResponse);
  expect(await runTenTimes(() => read(createIncoming()).catch(String))).toEqual(Array(10).fill("Error: no memory"));
  expect(await read(createIncoming())).toBe("a page");
  expect(asked).toHaveLength(2);
});

test.each([
  ["one person's", { headers: { "Cache-Control": "private, no-store" } }],
  ["with a cookie", { headers: { "Set-Cookie": "theme=x" } }],
  ["an error with a cookie", { status: 404, headers: { "Set-Cookie": "theme=x" } }],
  ["that leads elsewhere", { status: 303, headers: { Location: "/login" } }],
])("an answer %s goes to nobody else", async (_what, init) => {
  const { read } = createTestCache(() => new Response("theirs", init));
  expect(await runTenTimes(() => read(createIncoming()))).toEqual(Array(10).fill(null));
});

test("nothing of a person comes into the rendering of a page for everybody", async () => {
  const { asked, read } = createTestCache(createPageResponse);
  const headers = {
    cookie: "session.0=secret; known=1; _ga=1; lite=1",
    authorization: "x",
    referer: "https://x.example",
  };
  await read({ method: "GET", url: "/about", headers } as IncomingMessage);
  expect([...(asked[0]?.headers ?? [])]).toEqual([["cookie", "lite=1; session="]]);
});

test("a page is rendered once for each theme; a cookie that names none, or is not ours, counts as dark", async () => {
  const { asked, read } = createTestCache(createPageResponse);
  const cookie = async (theme: string) => (await themeCookie(new Request(origin), theme)).split(";")[0] ?? "";
  const light = await cookie("light");
  for (const one of [light, await cookie("dark"), "theme=light", `${light}x`, await cookie("pink"), undefined, light])
    await read(createIncoming(one));
  expect(asked).toHaveLength(2);
});

test("cookies that a page does not depend on do not have it rendered again", async () => {
  const { asked, read } = createTestCache(createPageResponse);
  for (const cookie of ["known=1", "shared=1", "reminded=1", "cookieSettings=x", "__Host-flash=x", "_ga=1; theme"])
    await read(createIncoming(cookie));
  expect(asked).toHaveLength(1);
});

test("A response to free text in a URL is for one visitor only and is not cached.", () => {
  for (const url of [
    "/resources/cost?what=car",
    "/resources/cost.data?what=car",
    "//Resources/c%6fst/?what=a",
    "/contact?about=a",
  ])
    expect(isAnonymous(createIncoming(undefined, url)), url).toBe(false);
  for (const url of ["/resources/cost", "/resources/cost?quote", "/contact", "/contact?quote", "/contact.data"])
    expect(isAnonymous(createIncoming(undefined, url)), url).toBe(true);
});

test("a page of one person is not rendered for everybody, however its address is spelled", () => {
  for (const path of [
    "/portal",
    "/desk/log",
    "/login?next=x",
    "/signup.data",
    "/auth/confirm",
    "/unsubscribe?a",
    "/s/token",
  ])
    for (const url of [
      path,
      `/${path}`,
      path.toUpperCase(),
      path.replace(/^\/(.)/, (_, letter) => `/%${letter.charCodeAt(0).toString(16)}`),
    ])
      expect(isAnonymous(createIncoming(undefined, url)), url).toBe(false);
  for (const url of ["/services", "/about", "/resources/blog"])
    expect(isAnonymous(createIncoming(undefined, url)), url).toBe(true);
});

test("A page with an address of more than 512 characters is not cached.", () => {
  const url = (length: number) => "/services?service=".padEnd(length, "a");
  expect([512, 513].map((length) => isAnonymous(createIncoming(undefined, url(length))))).toEqual([true, false]);
});

test("Parameters that a page does not know make no new page and do not reach its rendering.", async () => {
  const { asked, read } = createTestCache(createPageResponse);
  for (const query of ["", "?utm_source=x", "?fbclid=1&gclid=2", "?n=1", "?n=2"])
    expect(await read(createIncoming(undefined, `/about${query}`))).toBe("a page");
  expect(asked.map(({ url }) => url)).toEqual([`${origin}/about`]);
});

test("Parameters that a page knows make one page for each value, in whatever order they are sent.", async () => {
  const { asked, read } = createTestCache(createPageResponse);
  for (const query of ["?category=customs&page=2", "?utm_source=x&page=2&category=customs", "?page=2&category=guides"])
    await read(createIncoming(undefined, `/resources/blog${query}`));
  expect(asked.map(({ url }) => new URL(url).search)).toEqual(["?category=customs&page=2", "?category=guides&page=2"]);
});

describe("a page that is kept is found by its address alone", () => {
  const kept = async () => {
    const pages = createPageCache(async () => new Response("a page"), origin);
    for (const url of ["/", "/about", "/about?quote"]) await pages.getOrRender(createIncoming(undefined, url));
    return pages;
  };

  test("when the request has no cookie", async () => {
    const pages = await kept();
    for (const url of ["/", "/about", "/about?quote"]) {
      expect(pages.getCached(createIncoming(undefined, url))?.bodies.identity?.toString(), url).toBe("a page");
    }
    expect(pages.getCached(createIncoming(undefined, "/services"))).toBeUndefined();
  });

  test("not with a cookie, another spelling, or headers by which pages differ", async () => {
    const pages = await kept();
    for (const cookie of ["session=x", "theme=x", "lite=1", "other=x"]) {
      expect(pages.getCached(createIncoming(cookie)), cookie).toBeUndefined();
    }
    for (const url of ["//about", "/about/", "/%61bout", "/./about", "/about#x", "http://elsewhere/about", "/About"]) {
      expect(pages.getCached(createIncoming(undefined, url)), url).toBeUndefined();
    }
    for (const headers of [{ "save-data": "on" }, { ect: "2g" }, { "sec-fetch-site": "same-origin" }]) {
      const request = { ...createIncoming(), headers } as unknown as IncomingMessage;
      const pages = await kept();
      expect(pages.getCached(request), JSON.stringify(headers)).toBeUndefined();
      await pages.getOrRender(request);
      expect(pages.getCached(request), JSON.stringify(headers)).toBeDefined();
    }
  });
});
