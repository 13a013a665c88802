import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { aPlace, demo } from "../support/place.ts";

let place: Awaited<ReturnType<typeof aPlace>>;
beforeAll(async () => {
  place = await aPlace();
});
afterAll(() => place.leave());

/** What a start prints that fails, and its exit code. */
async function failed(environment: Record<string, string>) {
  const site = place.start(environment);
  const code = await site.exit();
  return { code, printed: site.output.trim().split("\n") };
}

// The tests of app/lib/env.server.ts cover the invalid values of each variable.
test("a wrong configuration is one line that names the variable, exit code 1, and prints no secret", async () => {
  const secret = "s3cr3t-0f-th3-t3sts";
  const { code, printed } = await failed({ SMTP_URL: `http://user:${secret}@mail.example` });
  expect(code).toBe(1);
  expect(printed).toHaveLength(1);
  expect(printed[0]).toContain("SMTP_URL");
  expect(printed[0]).not.toContain(secret);
});

test("a port that is taken, for the site or its backend, is one line that names the variable, and nothing was begun", async () => {
  const fresh = await aPlace({}, "new");
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, "127.0.0.1", resolve));
  const taken = String((holder.address() as { port: number }).port);
  for (const name of ["PORT", "BACKEND_PORT"]) {
    const { code, printed } = await failed({ [name]: taken, DATA_DIR: fresh.dataDir });
    expect(code, name).toBe(1);
    expect(printed, name).toEqual([`Port ${taken} is taken: set ${name} to another one.`]);
    expect(readdirSync(fresh.dataDir), name).toEqual([]);
  }
  holder.close();
  await fresh.leave();
});

test("a DATA_DIR that is a file is one line", async () => {
  const file = path.join(place.dataDir, "file");
  writeFileSync(file, "");
  expect(await failed({ DATA_DIR: file })).toEqual({
    code: 1,
    printed: [`DATA_DIR cannot be ${file}: it or a part of its path is a file.`],
  });
  const restored = await place.staff(["restore", file], { DATA_DIR: file });
  expect(restored.told).toBe(`DATA_DIR cannot be ${file}: it or a part of its path is a file.\n`);
  expect(restored.code).toBe(1);
});

test("of two starts on one folder the second says who has it, and the first goes on", async () => {
  const first = place.start();
  await first.answers();
  const elsewhere = await aPlace({ DATA_DIR: place.dataDir });
  const second = elsewhere.start();
  expect(await second.exit()).toBe(1);
  expect(second.output.trim()).toMatch(/^The data in .+ is in use by process \d+: end that one first\.$/);
  expect((await place.browser().post("/login", demo)).status).toBe(303);
  expect((await first.end("SIGTERM")).code).toBe(0);
  await elsewhere.leave();
});

test("the demo's lead is the same at every start, and made again when a start was cut off before it was written down", async () => {
  const file = path.join(place.dataDir, "demo-lead.json");
  const introduced = async () => {
    const site = place.start();
    await site.introduced();
    const [, email = "", password = ""] = /^ {2}Demo lead {9}(\S+), password ([a-z-]+)$/m.exec(site.output) ?? [];
    return { site, lead: { email, password } };
  };
  // The data are those of a start before this one.
  const made = JSON.parse(readFileSync(file, "utf8"));
  const first = await introduced();
  expect(first.lead).toEqual({ email: "lead@mizigo.example", password: made.password });
  const code = await place.staff(["demo-code"]);
  expect(code.printed).toMatch(/^\d{6}\n$/);
  expect((await place.browser().post("/login", first.lead)).status).toBe(303);
  await first.site.end("SIGTERM");

  rmSync(file);
  const none = await place.staff(["demo-code"]);
  expect(none.told.trim()).toBe(
    `There is no demo lead in ${place.dataDir}: start the site once, or set DATA_DIR to where it runs.`,
  );
  expect(none.code).toBe(1);
  const again = await introduced();
  expect(again.lead.password).not.toBe(first.lead.password);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect((await place.browser().post("/login", first.lead)).status).toBe(400);
  expect((await place.browser().post("/login", again.lead)).status).toBe(303);
  await again.site.end("SIGTERM");
});

test("with the backend dead every public page is there, /healthz too, and /readyz and the login say so", async () => {
  // A hosted backend, at an address where nothing listens: the site does not start it.
  const site = place.start({
    SUPABASE_URL: `http://127.0.0.1:${place.backendPort}`,
    SUPABASE_PUBLISHABLE_KEY: "sb_publishable_x",
    SUPABASE_SECRET_KEY: "sb_secret_x",
    SESSION_SECRET: "x".repeat(48),
  });
  const get = (address: string) => fetch(`http://127.0.0.1:${place.port}${address}`);
  await site.listens();
  const map = await (await get("/sitemap.xml")).text();
  const pages = [...map.matchAll(/<loc>https?:\/\/[^/]+([^<]*)<\/loc>/g)].map(([, address]) => address || "/");
  expect(pages.length).toBeGreaterThan(15);
  for (const page of [...pages, "/login", "/signup"]) expect((await get(page)).status, page).toBe(200);
  const ready = await get("/readyz");
  expect(ready.status).toBe(503);
  expect(await ready.text()).toBe("the backend does not answer\n");
  const browser = place.browser();
  expect((await browser.post("/login", demo)).status).toBe(503);
  expect((await site.end("SIGTERM")).code).toBe(0);
});
