import { afterEach, expect, test } from "vitest";
import { createUnsubscribeUrl } from "../../app/models/email-delivery.server.ts";
import { listButtons } from "../support/page-parts.ts";
import { type LoggedInClient, newClient, successToast } from "../support/route-fixtures.ts";
import {
  expectNoInternals,
  getTestApp,
  getTestSite,
  noStorePattern,
  origin,
  parsePage,
  readLogDuring,
} from "../support/test-app.ts";

const app = await getTestApp();
const { sql } = app;
const site = await getTestSite();
const client = await newClient(app, "Subscribed Client");
const otherClient = await newClient(app, "Other Client");
afterEach(async () => {
  app.proxy.fail("none");
  await sql`delete from private.email_opt_outs where account_id = ${client.id}`;
});

const getPath = ({ id }: LoggedInClient) => createUnsubscribeUrl(id).replace(origin, "");
const getToken = ({ id }: LoggedInClient) => new URL(createUnsubscribeUrl(id)).searchParams.get("token") ?? "";
const getSignature = (account: LoggedInClient) => getToken(account).split(".")[1] ?? "";

/** The fields that the page's button sends, and the field that an email app's button sends (RFC 8058). */
const unsubscribeForms: Record<string, string>[] = [{ enabled: "no" }, { "List-Unsubscribe": "One-Click" }];

const isSubscribed = async ({ id }: LoggedInClient) =>
  (await sql`select from private.email_opt_outs where account_id = ${id}`).length === 0;

test("The page of an unsubscribe link has two buttons, and opening the page changes nothing.", async () => {
  const calls = await app.proxy.during(async () => {
    const head = await app.browser().send(new Request(createUnsubscribeUrl(client.id), { method: "HEAD" }));
    expect(head.status).toBe(200);
    const page = await app.browser().open(getPath(client));
    expect([page.status, page.h1]).toEqual([200, "Emails about your shipments"]);
    expect(page.all("main button").map(({ text }) => text)).toEqual(["Unsubscribe", "Subscribe again"]);
  });
  expect(calls.filter((call) => !call.startsWith("GET "))).toEqual([]);
  expect(await isSubscribed(client)).toBe(true);
});

test("The page of an unsubscribe link is not indexed or cached, and exists only for valid links.", async () => {
  const visitor = site.browser();
  for (const [path, hasButtons] of [
    [getPath(client), true],
    ["/unsubscribe", false],
    [getPath(otherClient), true],
    [`${getPath(otherClient)}x`, false],
  ] as const) {
    const page = await visitor.open(path);
    expect(page.headers.get("Cache-Control") ?? "", path).toMatch(noStorePattern);
    expect(page.headers.get("ETag"), path).toBeNull();
    expect(page.html).toContain('<meta name="robots" content="noindex"');
    expect(page.headers.get("Referrer-Policy")).toBe("strict-origin-when-cross-origin");
    expect([path, listButtons(page).includes("Unsubscribe")]).toEqual([path, hasButtons]);
  }
});

test("With an unsubscribe link, a visitor can turn the account's shipment updates off and on without a login.", async () => {
  const visitor = app.browser();
  const click = async (button: string) => visitor.submit(await visitor.open(getPath(client)), button);
  expect((await visitor.open(getPath(client))).text).toContain(
    "We email you when: we open shipments for you your shipment reaches a new stage",
  );
  const response = await click("Unsubscribe");
  expect([response.status, response.headers.get("Location")]).toEqual([303, getPath(client)]);
  expect((await visitor.follow(response)).toasts).toEqual(successToast("Unsubscribed"));
  expect([await isSubscribed(client), await isSubscribed(otherClient)]).toEqual([false, true]);
  const page = await visitor.follow(await click("Subscribe again"));
  expect(page.toasts).toEqual(successToast("Subscribed again"));
  expect(await isSubscribed(client)).toBe(true);
});

test("An email app's unsubscribe button works repeatedly, without an Origin header and cookies, and as multipart (RFC 8058).", async () => {
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    const response = await fetch(`http://127.0.0.1:${site.port}${getPath(client)}`, {
      method: "POST",
      headers: { "Content-Type": "application/x-www-form-urlencoded", "User-Agent": "email program" },
      body: "List-Unsubscribe=One-Click",
      redirect: "manual",
    });
    expect([response.status, response.headers.get("Location")]).toEqual([200, null]);
    expect(response.headers.getSetCookie()).toEqual([]);
    await response.text();
    expect(await isSubscribed(client)).toBe(false);
  }
  await sql`delete from private.email_opt_outs where account_id = ${client.id}`;
  const form = new FormData();
  form.append("List-Unsubscribe", "One-Click");
  form.append("enabled", "yes");
  expect((await app.browser().post(getPath(client), form)).status).toBe(200);
  expect(await isSubscribed(client)).toBe(false);
});

test("A wrong or damaged unsubscribe link unsubscribes nobody and makes no backend call.", async () => {
  const visitor = app.browser();
  const [token, signature, otherSignature] = [getToken(client), getSignature(client), getSignature(otherClient)];
  const wrongTokens = [
    ...[client.id, `${client.id}.`, `.${signature}`, token.slice(0, -1), `${token}A`, `${token}.x`],
    ...[`${token}.%0D%0ASet-Cookie:%20a=b`, `${client.id}.${otherSignature}`, `${client.id}.${"%C3%A9".repeat(43)}`],
    `${client.id.toUpperCase()}.${signature}`,
  ];
  const calls = await app.proxy.during(async () => {
    for (const query of ["", "?token=", ...wrongTokens.map((wrong) => `?token=${wrong}`)]) {
      const page = await visitor.open(`/unsubscribe${query}`);
      expect([query, page.status, page.h1]).toEqual([query, 200, "Emails about your shipments"]);
      expect(page.text, query).toContain("This link is incomplete or no longer valid.");
      expect(page.all("main button"), query).toEqual([]);
      for (const form of unsubscribeForms)
        expect((await visitor.post(`/unsubscribe${query}`, form)).status, query).toBe(400);
    }
  });
  expect(calls.filter((call) => !call.startsWith("GET "))).toEqual([]);
  expect([await isSubscribed(client), await isSubscribed(otherClient)]).toEqual([true, true]);
});

test("A form on another website cannot unsubscribe a client.", async () => {
  const response = await app.browser().post(getPath(client), { enabled: "no" }, { Origin: "https://evil.example" });
  expect([response.status, await isSubscribed(client)]).toEqual([403, true]);
});

test.each([503, "html"] as const)(
  "While the backend fails (%s), unsubscribing shows an error and changes nothing.",
  async (fault) => {
    for (const form of unsubscribeForms) {
      app.proxy.fail(fault, /set_shipment_emails_enabled/);
      const page = await parsePage(await app.browser().post(getPath(client), form));
      expect([page.status, page.h1, page.toasts]).toEqual(
        fault === "html" ? [502, "Something went wrong", []] : [503, "Site not available", []],
      );
      expectNoInternals(page);
      expect(await isSubscribed(client)).toBe(true);
    }
  },
);

test("The log does not contain the token or the account of an unsubscribe link.", async () => {
  const visitor = site.browser();
  const log = await readLogDuring("/unsubscribe", 7, async () => {
    for (const path of [getPath(client), `${getPath(client)}x`]) {
      await visitor.open(path);
      for (const form of unsubscribeForms) await visitor.post(path, form);
    }
    app.proxy.fail(500, /set_shipment_emails_enabled/);
    await visitor.post(getPath(client), { enabled: "no" });
  });
  for (const secret of [client.id, getSignature(client), "token="]) expect(log).not.toContain(secret);
});
