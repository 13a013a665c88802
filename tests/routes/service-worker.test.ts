import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { buildServiceWorker } from "../../app/lib/build/worker.ts";
import { clientBuildFolder } from "../../app/server/start/build.ts";
import { getTestApp, getTestSite } from "../support/test-app.ts";

const app = await getTestApp();
const site = await getTestSite();

describe("Service worker", () => {
  /** Requests worker.js with the headers of a browser that checks for an update of the copy with the ETag `tag`. */
  const revalidate = (tag = "") =>
    fetch(`http://127.0.0.1:${site.port}/worker.js`, {
      headers: { "If-None-Match": tag, "Cache-Control": "max-age=0" },
    });

  test("Browsers may cache the service worker for a day, and its Content-Security-Policy allows connections only to its own site.", async () => {
    const { status, headers } = await revalidate();
    expect(status).toBe(200);
    expect(headers.get("Content-Type")).toMatch(/^text\/javascript/);
    expect(headers.get("Cache-Control")).toBe("max-age=86400");
    expect(headers.get("Content-Security-Policy")).toBe("default-src 'none'; connect-src 'self'");
    expect((await revalidate(headers.get("ETag") ?? "")).status).toBe(304);
  });

  test("The compressed service worker has at most 3 KB.", () => {
    expect(readFileSync(path.join(clientBuildFolder, "worker.js.br")).length).toBeLessThanOrEqual(3 * 1024);
  });

  test("The service worker differs in each build, and its policy allows only its retry script by hash.", async () => {
    const worker = await buildServiceWorker("first build");
    expect(worker).not.toBe(await buildServiceWorker("second build"));
    const script = /<script[^>]*>(.*?)<\\?\/script>/s.exec(worker)?.[1]?.replace(/\\([`$])/g, "$1") ?? "";
    expect(script).toContain("location.reload");
    expect(worker).toContain(`'sha256-${createHash("sha256").update(script).digest("base64")}'`);
    expect(worker).not.toContain("unsafe-");
  });

  test("The HTML of pages does not contain the URL of the service worker.", async () => {
    for (const headers of [{ "Save-Data": "off" }, { "Save-Data": "on" }])
      expect(await (await app.browser().get("/", headers)).text()).not.toContain("worker.js");
  });
});

test("With the manifest, a person can add the whole site to a home screen as an app.", () => {
  const manifest = JSON.parse(readFileSync(path.join(clientBuildFolder, "manifest.webmanifest"), "utf8"));
  expect(manifest).toMatchObject({ id: "/", scope: "/", start_url: "/", display: "standalone" });
  for (const { src, sizes } of manifest.icons.filter(({ type }: { type: string }) => type === "image/png")) {
    const file = readFileSync(path.join(clientBuildFolder, src));
    expect(`${file.readUInt32BE(16)}x${file.readUInt32BE(20)}`).toBe(sizes);
  }
  expect(manifest.icons.map(({ sizes }: { sizes: string }) => sizes)).toEqual(["192x192", "512x512", "any"]);
});

describe("Offline copies on the account page", () => {
  const isEnabled = async (browser: ReturnType<typeof app.browser>) =>
    (await browser.open("/portal/account")).all('#offline-pages input[name="enabled"]')[0]?.hasAttribute("checked");

  test("A client can turn offline copies off and on. The choice is in a cookie that script can read.", async () => {
    const browser = app.browser();
    await browser.signUpAndLogIn("Wanjiru Kamau");
    expect(await isEnabled(browser)).toBe(true);

    const response = await browser.post("/portal/account", { intent: "offline-pages", form: "offline-pages" });
    expect([response.status, response.headers.get("Location")]).toEqual([303, "/portal/account"]);
    const cookie = response.headers.getSetCookie().find((each) => each.startsWith("offline=")) ?? "";
    expect(cookie.split("; ")).toEqual(expect.arrayContaining(["offline=off", "Max-Age=31536000", "SameSite=Lax"]));
    expect(cookie).not.toContain("HttpOnly");
    expect(await isEnabled(browser)).toBe(false);

    await browser.post("/portal/account", { intent: "offline-pages", form: "offline-pages", enabled: "yes" });
    expect(browser.cookies.has("offline")).toBe(false);
    expect(await isEnabled(browser)).toBe(true);
  });

  test("On a shared computer, the account page has no setting for offline copies.", async () => {
    const browser = app.browser();
    await browser.signUpAndLogIn("Achieng Otieno");
    browser.cookies.set("shared", "1");
    const page = await browser.open("/portal/account");
    expect(page.all('#offline-pages input[name="enabled"]')).toEqual([]);
    expect(page.html).toContain("You logged in on a shared device, so your browser stores no offline copies.");
  });
});
