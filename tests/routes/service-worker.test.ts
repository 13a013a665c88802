import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildServiceWorker } from "../../app/lib/build/worker.ts";
import { clientBuildFolder } from "../../app/server/start/build.ts";
import { getTestApp, startTestSite } from "../support/test-app.ts";

let app: Awaited<ReturnType<typeof getTestApp>>;
let site: Awaited<ReturnType<typeof startTestSite>>;
beforeAll(async () => {
  app = await getTestApp();
  site = await startTestSite();
});
afterAll(async () => {
  await site.close();
});

describe("service worker", () => {
  // As a browser does that asks whether it is still the same.
  const ask = (tag = "") =>
    fetch(`http://127.0.0.1:${site.port}/worker.js`, {
      headers: { "If-None-Match": tag, "Cache-Control": "max-age=0" },
    });

  test("The worker is revalidated on each request and may connect only to this site.", async () => {
    const { status, headers } = await ask();
    expect(status).toBe(200);
    expect(headers.get("Content-Type")).toMatch(/^text\/javascript/);
    expect(headers.get("Cache-Control")).toBe("no-cache");
    expect(headers.get("Content-Security-Policy")).toBe("default-src 'none'; connect-src 'self'");
    expect((await ask(headers.get("ETag") ?? "")).status).toBe(304);
  });

  test("The worker has at most 3 KB.", () => {
    expect(readFileSync(path.join(clientBuildFolder, "worker.js.br")).length).toBeLessThanOrEqual(3 * 1024);
  });

  test("The worker changes with each build and allows only its retry script, by hash.", async () => {
    const [one, other] = [await buildServiceWorker("one"), await buildServiceWorker("other")];
    expect(one).not.toBe(other);
    const script = /<script>(.*?)<\\?\/script>/s.exec(one)?.[1] ?? "";
    expect(script).toContain("location.reload");
    expect(one).toContain(`'sha256-${createHash("sha256").update(script).digest("base64")}'`);
    expect(one).not.toContain("unsafe-");
  });

  test("No page names the worker in its HTML.", async () => {
    for (const headers of [{ "Save-Data": "off" }, { "Save-Data": "on" }])
      expect(await (await site.browser().get("/", headers)).text()).not.toContain("worker.js");
  });
});

test("The site can be added to a home screen as one app.", () => {
  const manifest = JSON.parse(readFileSync(path.join(clientBuildFolder, "manifest.webmanifest"), "utf8"));
  expect(manifest).toMatchObject({ id: "/", scope: "/", start_url: "/", display: "standalone" });
  for (const { src, sizes } of manifest.icons.filter(({ type }: { type: string }) => type === "image/png")) {
    const file = readFileSync(path.join(clientBuildFolder, src));
    expect(`${file.readUInt32BE(16)}x${file.readUInt32BE(20)}`).toBe(sizes);
  }
  expect(manifest.icons.map(({ sizes }: { sizes: string }) => sizes)).toEqual(["192x192", "512x512", "any"]);
});

describe("offline copies in the account", () => {
  const isKept = async (browser: ReturnType<typeof app.browser>) =>
    (await browser.open("/portal/account")).all('#offline-pages input[name="enabled"]')[0]?.hasAttribute("checked");

  test("A client switches offline copies off and on in a cookie that script can read.", async () => {
    const browser = app.browser();
    await browser.signUpAndLogIn("Wanjiru Kamau");
    expect(await isKept(browser)).toBe(true);

    const off = await browser.post("/portal/account", { intent: "offline-pages", form: "offline-pages" });
    expect([off.status, off.headers.get("Location")]).toEqual([303, "/portal/account"]);
    const line = off.headers.getSetCookie().find((cookie) => cookie.startsWith("offline=")) ?? "";
    expect(line.split("; ")).toEqual(expect.arrayContaining(["offline=off", "Max-Age=31536000", "SameSite=Lax"]));
    expect(line).not.toContain("HttpOnly");
    expect(await isKept(browser)).toBe(false);

    await browser.post("/portal/account", { intent: "offline-pages", form: "offline-pages", enabled: "yes" });
    expect(browser.cookies.has("offline")).toBe(false);
    expect(await isKept(browser)).toBe(true);
  });

  test("A shared computer offers no choice of offline copies.", async () => {
    const browser = app.browser();
    await browser.signUpAndLogIn("Achieng Otieno");
    browser.cookies.set("shared", "1");
    const page = await browser.open("/portal/account");
    expect(page.all('#offline-pages input[name="enabled"]')).toEqual([]);
    expect(page.html).toContain("On a shared computer no pages are kept.");
  });
});
