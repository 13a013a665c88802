import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import bcrypt from "bcryptjs";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { clientIdRefused } from "../../app/models/client-id.ts";
import { createBackend } from "../../supabase/local/backend.ts";
import { migratedDatabase } from "../support/database.ts";
import { backendKeys } from "../support/keys.ts";
import { memoryBackend } from "../support/memory-backend.ts";

const password = "a good password";
/** As supabase/config.toml and the mail itself say, in seconds. */
const hour = 60 * 60;
const linkLasts = 24 * hour;

let world: Awaited<ReturnType<typeof memoryBackend>>;
let number = 0;
beforeAll(async () => {
  world = await memoryBackend();
});
afterAll(() => world.close());

test("a new client ID opens an account, is claimed by it, and its owner gets one mail", async () => {
  const clientId = await newClientId();
  const email = newAddress();
  const { data, error } = await signUp(email, clientId);
  expect(error).toBeNull();
  expect(data.session).toBeNull();
  const user = await userOf(email);
  expect(user).toMatchObject({ id: data.user?.id, confirmed: false });
  expect(await claimOf(clientId)).toBe(user?.id);
  expect(mailsTo(email)).toHaveLength(1);
});

test("a missing, an unknown and a used client ID are refused alike, without an account or a mail", async () => {
  const used = await newClientId();
  await signUp(newAddress(), used);
  const before = { users: await users(), mails: world.mails.length };
  const answers = await Promise.all(
    [{}, { client_id: "" }, { client_id: "N0TH-1NG0-0F1T-HERE" }, { client_id: used }, { client_id: null }].map(
      (data) => post("/auth/v1/signup", { email: newAddress(), password, data }),
    ),
  );
  answers.push(await post("/auth/v1/signup", { email: newAddress(), password }));
  for (const answer of answers) {
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({ code: 400, error_code: "unknown", msg: clientIdRefused });
  }
  expect({ users: await users(), mails: world.mails.length }).toEqual(before);
});

test.each([
  ["a list that holds it", (id: string) => [id]],
  ["a pattern", () => "%"],
  ["in small letters", (id: string) => id.toLowerCase()],
  ["with a blank behind it", (id: string) => `${id} `],
  ["with more SQL behind it", (id: string) => `${id}' or '1'='1`],
  ["an object", (id: string) => ({ client_id: id })],
  ["true", () => true],
])("a client ID sent as %s opens nothing", async (_how, send) => {
  const before = await users();
  const answer = await post("/auth/v1/signup", {
    email: newAddress(),
    password,
    data: { client_id: send(await newClientId()) },
  });
  expect(answer.status).toBe(400);
  expect(await users()).toEqual(before);
});

test("fifty sign-ups at once with one client ID and fifty addresses make exactly one account", async () => {
  const clientId = await newClientId();
  const before = await users();
  const answers = await Promise.all(Array.from({ length: 50 }, () => signUp(newAddress(), clientId)));
  expect(answers.filter(({ error }) => error === null)).toHaveLength(1);
  const refusals = answers.flatMap(({ error }) => (error ? [error.message] : []));
  expect(new Set(refusals)).toEqual(new Set([clientIdRefused]));
  const made = (await users()).filter(({ id }) => !before.some((old) => old.id === id));
  expect(made).toHaveLength(1);
  expect(await claimOf(clientId)).toBe(made[0]?.id);
});

test("two client IDs do not open two accounts for one address", async () => {
  const email = newAddress();
  const [first, second] = [await newClientId(), await newClientId()];
  await Promise.all([signUp(email, first), signUp(email, second)]);
  expect((await users()).filter((user) => user.email === email)).toHaveLength(1);
  expect([await claimOf(first), await claimOf(second)].filter((claim) => claim !== null)).toHaveLength(1);
});

test("the database refuses a user without an unclaimed client ID, whoever inserts it", async () => {
  const used = await newClientId();
  await signUp(newAddress(), used);
  const before = await users();
  for (const data of [null, {}, { client_id: null }, { client_id: "" }, { client_id: "N0TH" }, { client_id: used }]) {
    await expect(
      world.backend.db.query(
        "insert into auth.users (id, email, raw_user_meta_data) values (gen_random_uuid(), $1, $2::jsonb)",
        [newAddress(), data && JSON.stringify(data)],
      ),
    ).rejects.toThrow(/client ID/);
  }
  expect(await users()).toEqual(before);
});

test("no other door of auth opens an account", async () => {
  const before = await users();
  const email = newAddress();
  const doors: [string, object][] = [
    ["/auth/v1/otp", { email, create_user: true, data: { client_id: await newClientId() } }],
    ["/auth/v1/magiclink", { email, data: { client_id: await newClientId() } }],
    ["/auth/v1/recover", { email }],
    ["/auth/v1/resend", { type: "signup", email }],
    ["/auth/v1/signup", { data: { client_id: await newClientId() } }],
    ["/auth/v1/invite", { email }],
    ["/auth/v1/admin/users", { email, password, email_confirm: true }],
  ];
  for (const [door, body] of doors) await post(door, body);
  expect(await users()).toEqual(before);
  expect(mailsTo(email)).toEqual([]);
});

test("no mail but the confirmation can be asked for, and nobody learns who has an account by asking", async () => {
  const known = await confirmedAddress();
  const sent = mailsTo(known).length;
  const doors: [string, object][] = [
    ["/auth/v1/otp", {}],
    ["/auth/v1/magiclink", {}],
    ["/auth/v1/recover", {}],
    ["/auth/v1/invite", {}],
    ["/auth/v1/resend", { type: "email_change" }],
  ];
  for (const [door, body] of doors) {
    const answers = await Promise.all([known, newAddress()].map((email) => post(door, { ...body, email })));
    expect(answers.map(({ ok }) => ok)).toEqual([false, false]);
    const [first, second] = await Promise.all(answers.map((answer) => answer.text()));
    expect([answers[0]?.status, first]).toEqual([answers[1]?.status, second]);
  }
  expect(mailsTo(known)).toHaveLength(sent);
});

test("the gate holds however the address of sign-up is written", async () => {
  const before = await users();
  for (const door of [
    "/auth/v1/%73ignup",
    "/auth/v1/signup/",
    "/auth/v1/./signup",
    "/auth/v1/SIGNUP",
    "/auth/v1/signup?x=1",
    "/auth/v1//signup",
    "/auth//v1/signup",
    "/auth/v1/signup;x",
    "/auth/v1/x/%2e%2e/signup",
    "/auth/v1/%2573ignup",
  ]) {
    const answer = await post(door, { email: newAddress(), password, data: { client_id: "N0TH-1NG0-0F1T-HERE" } });
    expect([400, 404], door).toContain(answer.status);
  }
  expect(await users()).toEqual(before);
});

test("a mail that cannot be delivered leaves no user and the client ID unclaimed, and the same form works later", async () => {
  const objectsDir = mkdtempSync(path.join(tmpdir(), "objects-"));
  const database = await migratedDatabase();
  let delivers = false;
  const backend = await createBackend({
    dataDir: null,
    databaseUrl: database?.url ?? null,
    objectsDir,
    siteUrl: "http://127.0.0.1:3000",
    ...backendKeys,
    deliver: async () => {
      if (!delivers) throw new Error("the mail server is away");
    },
    seed: false,
  });
  try {
    await backend.db.query("insert into public.client_ids (client_id) values ('0000-0000-0000-0001')");
    const form = { email: newAddress(), password, data: { client_id: "0000-0000-0000-0001" } };
    const send = () =>
      backend.fetch(
        new Request("http://backend.local/auth/v1/signup", {
          method: "POST",
          headers: { apikey: world.publishableKey, "content-type": "application/json" },
          body: JSON.stringify(form),
        }),
      );
    const state = async () =>
      (
        await backend.db.query<{ users: number; identities: number; claimed: number }>(
          `select (select count(*) from auth.users)::int as users, (select count(*) from auth.identities)::int as identities,
             (select count(claimed_by) from public.client_ids)::int as claimed`,
        )
      ).rows[0];

    const failed = await send();
    expect(failed.status).toBeGreaterThanOrEqual(500);
    expect(await failed.text()).not.toContain("mail server");
    expect(await state()).toEqual({ users: 0, identities: 0, claimed: 0 });

    delivers = true;
    expect((await send()).status).toBe(200);
    expect(await state()).toEqual({ users: 1, identities: 1, claimed: 1 });
  } finally {
    await backend.close();
    await database?.drop();
    rmSync(objectsDir, { recursive: true, force: true });
  }
});

test.each([
  ["no address", { email: undefined }],
  ["something that is no address", { email: "not an address" }],
  ["a password of five characters", { password: "short" }],
  ["no password", { password: undefined }],
  ["a password of 73 characters", { password: "x".repeat(73) }],
])("a sign-up with %s is refused and leaves the client ID unclaimed", async (_what, change) => {
  const clientId = await newClientId();
  const before = await users();
  const form = { email: newAddress(), password, data: { client_id: clientId }, ...change };
  const answer = await post("/auth/v1/signup", form);
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.status).toBeLessThan(500);
  expect(await users()).toEqual(before);
  expect(await claimOf(clientId)).toBeNull();
});

test.each([
  ["lines", "Amina\r\n5a000000  Gold"],
  ["an escape", "Amina\u001b[2K"],
  ["a C1 escape", "Amina\u009b2K"],
  ["a direction override", "Amina\u202eanimA"],
  ["101 characters", "x".repeat(101)],
])("a full name with %s opens no account past the form, and an account does not take it later", async (_what, name) => {
  const clientId = await newClientId();
  const before = await users();
  const answer = await post("/auth/v1/signup", {
    email: newAddress(),
    password,
    data: { client_id: clientId, full_name: name },
  });
  expect(answer.ok).toBe(false);
  expect(await users()).toEqual(before);
  expect(await claimOf(clientId)).toBeNull();

  const client = await world.newClient(newAddress());
  const nameNow = async () => (await client.handle.auth.getUser()).data.user?.user_metadata.full_name;
  const had = await nameNow();
  expect((await client.handle.auth.updateUser({ data: { full_name: name } })).error).not.toBeNull();
  expect(await nameNow()).toBe(had);
  expect((await client.handle.auth.updateUser({ data: { full_name: "أمينة Wanjirũ" } })).error).toBeNull();
  expect(await nameNow()).toBe("أمينة Wanjirũ");
});

test("more than 4000 bytes beside the name open no account, and an account does not take them later", async () => {
  const much = "x".repeat(4000);
  const clientId = await newClientId();
  const before = await users();
  const answer = await post("/auth/v1/signup", {
    email: newAddress(),
    password,
    data: { client_id: clientId, full_name: "Amina", much },
  });
  expect(answer.ok).toBe(false);
  expect(await users()).toEqual(before);
  expect(await claimOf(clientId)).toBeNull();

  const client = await world.newClient(newAddress());
  const kept = async () => (await client.handle.auth.getUser()).data.user?.user_metadata ?? {};
  const had = await kept();
  // Bytes, not characters; and all of it together, not each by itself.
  for (const data of [{ much }, { much: "é".repeat(2000) }, { one: "x".repeat(2500), two: "x".repeat(2500) }]) {
    expect((await client.handle.auth.updateUser({ data })).error).not.toBeNull();
    expect(await kept()).toEqual(had);
  }
  expect((await client.handle.auth.updateUser({ data: { one: "x".repeat(2500) } })).error).toBeNull();
  expect((await client.handle.auth.updateUser({ data: { two: "x".repeat(2500) } })).error).not.toBeNull();
  expect(await kept()).toEqual({ ...had, one: "x".repeat(2500) });
  expect((await client.handle.auth.updateUser({ data: { one: null, two: "x".repeat(2500) } })).error).toBeNull();
});

test("a known, confirmed address gets an answer shaped like a new one, and neither mail nor claim", async () => {
  const known = await confirmedAddress();
  const fresh = await (await post("/auth/v1/signup", await form(newAddress()))).json();
  const sent = mailsTo(known).length;
  const before = await users();
  const again = await form(known);
  const answer = await post("/auth/v1/signup", again);

  expect(answer.status).toBe(200);
  const body = await answer.json();
  expect(Object.keys(body).sort()).toEqual(Object.keys(fresh).sort());
  expect(body).toMatchObject({ email: known, aud: "authenticated", app_metadata: fresh.app_metadata });
  expect(body.id).not.toBe((await userOf(known))?.id);
  expect(Date.parse(body.created_at)).toBeGreaterThan(Date.parse("2020-01-01"));
  expect(JSON.stringify(body)).not.toContain("confirmed_at");
  expect(mailsTo(known)).toHaveLength(sent);
  expect(await users()).toEqual(before);
  expect(await claimOf(again.data.client_id)).toBeNull();
});

test("signing up again for a known address does not change its password", async () => {
  const known = await confirmedAddress();
  await post("/auth/v1/signup", { ...(await form(known)), password: "another password" });
  expect((await signIn(known, "another password")).error?.code).toBe("invalid_credentials");
  expect((await signIn(known, password)).error).toBeNull();
});

test("a known, unconfirmed address gets the mail again, but not within a minute of the last", async () => {
  const email = newAddress();
  const clientId = await newClientId();
  await signUp(email, clientId);
  const [first] = mailsTo(email);

  const soon = await post("/auth/v1/signup", { email, password, data: { client_id: clientId } });
  expect(soon.status).toBe(429);
  expect((await soon.json()).error_code).toBe("over_email_send_rate_limit");
  expect(mailsTo(email)).toEqual([first]);

  await mailedAgo(email, 61);
  const later = await post("/auth/v1/signup", { email, password, data: { client_id: clientId } });
  expect(later.status).toBe(200);
  expect(mailsTo(email)).toHaveLength(2);
  expect((await users()).filter((user) => user.email === email)).toHaveLength(1);

  const once = await post("/auth/v1/signup", { email, password, data: { client_id: clientId } });
  expect(once.status).toBe(429);
  expect(mailsTo(email)).toHaveLength(2);
});

test("asking for the mail again sends it to unconfirmed addresses only, once a minute", async () => {
  const email = newAddress();
  await signUp(email, await newClientId());
  const resend = (to: string) => post("/auth/v1/resend", { type: "signup", email: to });

  expect((await resend(email)).status).toBe(429);
  expect(mailsTo(email)).toHaveLength(1);
  await mailedAgo(email, 61);
  const again = await resend(email.toUpperCase());
  expect(again.status).toBe(200);
  expect(mailsTo(email)).toHaveLength(2);

  const confirmed = await confirmedAddress();
  const sent = mailsTo(confirmed).length;
  const unknown = newAddress();
  const [toConfirmed, toUnknown] = [await resend(confirmed), await resend(unknown)];
  expect([toConfirmed.status, toUnknown.status]).toEqual([again.status, again.status]);
  const said = await again.text();
  expect([await toConfirmed.text(), await toUnknown.text()]).toEqual([said, said]);
  expect(mailsTo(confirmed)).toHaveLength(sent);
  expect(mailsTo(unknown)).toEqual([]);
});

test("a link in a newer mail works and the one in the older does not any more", async () => {
  const email = newAddress();
  await signUp(email, await newClientId());
  await mailedAgo(email, 61);
  await post("/auth/v1/resend", { type: "signup", email });
  const [older, newer] = mailsTo(email).map(tokenIn);
  expect(newer).not.toBe(older);
  expect((await confirm(email, older)).error?.code).toBe("otp_expired");
  expect(await userOf(email)).toMatchObject({ confirmed: false });
  expect((await confirm(email, newer)).error).toBeNull();
  expect(await userOf(email)).toMatchObject({ confirmed: true });
});

// Each as GoTrue 2.196.0 answers it.
test.each([
  ["/auth/v1/token?grant_type=password", '{"email":5,"password":"x"}', "bad_json"],
  ["/auth/v1/token?grant_type=password", '{"email":"a@client.example","password":["x"]}', "bad_json"],
  ["/auth/v1/token?grant_type=password", "[]", "bad_json"],
  ["/auth/v1/token?grant_type=password", "", "bad_json"],
  ["/auth/v1/token?grant_type=password", "null", "validation_failed"],
  ["/auth/v1/token?grant_type=password", '{"email":null,"password":"x"}', "validation_failed"],
  ["/auth/v1/token?grant_type=refresh_token", '{"refresh_token":{}}', "bad_json"],
  ["/auth/v1/token?grant_type=refresh_token", "null", "validation_failed"],
  ["/auth/v1/signup", '{"email":"a@client.example","password":"long enough","data":[1]}', "bad_json"],
  ["/auth/v1/signup", "{", "bad_json"],
  ["/auth/v1/token?grant_type=refresh_token", '{"refresh_token":"\\u0000"}', "bad_json"],
  [
    "/auth/v1/signup",
    '{"email":"a@client.example","password":"long enough","data":{"client_id":"\\ud800"}}',
    "bad_json",
  ],
  ["/auth/v1/resend", '{"type":"signup","email":5}', "bad_json"],
  ["/auth/v1/resend", "null", "validation_failed"],
  ["/auth/v1/verify", '{"type":"signup","token_hash":5}', "bad_json"],
  ["/auth/v1/verify", "null", "validation_failed"],
])("%s says of the body %s that it is %s, with 400", async (at, body, code) => {
  const answer = await postText(at, body);
  expect({ status: answer.status, code: (await answer.json()).error_code }).toEqual({ status: 400, code });
});

test("before the confirmation only the right password says what is missing, a wrong one says what it says to anybody", async () => {
  const unconfirmed = newAddress();
  await signUp(unconfirmed, await newClientId());
  const confirmed = await confirmedAddress();

  const right = await signIn(unconfirmed, password);
  expect(right.error?.code).toBe("email_not_confirmed");
  expect(right.data.session).toBeNull();

  const wrong = await Promise.all(
    [unconfirmed, confirmed, newAddress()].map(async (email) => {
      const answer = await post("/auth/v1/token?grant_type=password", { email, password: "a wrong password" });
      return { status: answer.status, body: await answer.json() };
    }),
  );
  expect(wrong[0]).toMatchObject({ status: 400, body: { error_code: "invalid_credentials" } });
  expect(wrong[1]).toEqual(wrong[0]);
  expect(wrong[2]).toEqual(wrong[0]);
});

test("a login and a sign-up cost the backend one hash of a password, whether the address has an account or not", async () => {
  // As in the product, not as in the other tests.
  vi.stubEnv("LITE_AUTH_BCRYPT_COST", undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
  const known = await confirmedAddress();
  const waiting = newAddress();
  await signUp(waiting, await newClientId());
  const logIn = (email: string) => post("/auth/v1/token?grant_type=password", { email, password: "a wrong password" });
  const join = async (email: string) => post("/auth/v1/signup", await form(email));
  // The hash that nobody has is made once for each cost, in the product as the backend starts.
  await logIn(newAddress());
  const acts = {
    "login, known": () => logIn(known),
    "login, not confirmed": () => logIn(waiting),
    "login, unknown": () => logIn(newAddress()),
    "sign-up, known": () => join(known),
    "sign-up, not confirmed": () => join(waiting),
    "sign-up, unknown": () => join(newAddress()),
  };
  for (const [what, act] of Object.entries(acts)) {
    expect(await roundsDuring(act), what).toEqual([10]);
  }
});

test("a password that only begins like the right one does not open the account", async () => {
  const email = await confirmedAddress();
  for (const tried of [`${password}x`, password.slice(0, -1), password.toUpperCase(), ""]) {
    expect((await signIn(email, tried)).data.session).toBeNull();
  }
});

test("a confirmation link works once", async () => {
  const email = newAddress();
  await signUp(email, await newClientId());
  const token = tokenIn(mailsTo(email)[0]);
  expect(token).not.toBe("");
  expect((await confirm(email, token)).error).toBeNull();
  expect(await userOf(email)).toMatchObject({ confirmed: true });
  const second = await confirm(email, token);
  expect(second.error?.code).toBe("otp_expired");
  expect(second.data.session).toBeNull();
});

test("ten confirmations with one link at once sign in at most one", async () => {
  const email = newAddress();
  await signUp(email, await newClientId());
  const token = tokenIn(mailsTo(email)[0]);
  const answers = await Promise.all(Array.from({ length: 10 }, () => confirm(email, token)));
  expect(answers.filter(({ data }) => data.session !== null)).toHaveLength(1);
});

test("a link older than a day is refused and leaves the address unconfirmed", async () => {
  const email = newAddress();
  await signUp(email, await newClientId());
  await mailedAgo(email, linkLasts + 60);
  const { data, error } = await confirm(email, tokenIn(mailsTo(email)[0]));
  expect(error?.code).toBe("otp_expired");
  expect(data.session).toBeNull();
  expect(await userOf(email)).toMatchObject({ confirmed: false });
  expect((await signIn(email, password)).error?.code).toBe("email_not_confirmed");
});

test("a link is still good after 23 hours", async () => {
  const email = newAddress();
  await signUp(email, await newClientId());
  await mailedAgo(email, linkLasts - 60 * 60);
  expect((await confirm(email, tokenIn(mailsTo(email)[0]))).error).toBeNull();
  expect(await userOf(email)).toMatchObject({ confirmed: true });
});

test.each(["", "0", "a".repeat(64), "null", "%", "' or true --"])(
  "no address is confirmed by the token %j",
  async (token) => {
    const waiting = newAddress();
    await signUp(waiting, await newClientId());
    const { data, error } = await confirm(waiting, token);
    expect(error).not.toBeNull();
    expect(data.session).toBeNull();
    expect(await userOf(waiting)).toMatchObject({ confirmed: false });
  },
);

describe("the mailbox alone confirms nothing", () => {
  test("at any address of auth, and the token still works with the password", async () => {
    const email = newAddress();
    await signUp(email, await newClientId());
    const token = tokenIn(mailsTo(email)[0]);
    for (const type of ["signup", "email", "magiclink", "recovery", "invite", "email_change"]) {
      await post("/auth/v1/verify", { type, token_hash: token });
      const headers = { apikey: world.publishableKey };
      await world.backend.fetch(
        new Request(`http://backend.local/auth/v1/verify?type=${type}&token=${token}`, { headers }),
      );
    }
    expect(await userOf(email)).toMatchObject({ confirmed: false });
    expect((await signIn(email, password)).error?.code).toBe("email_not_confirmed");
    expect((await confirm(email, token)).error).toBeNull();
    expect((await signIn(email, password)).error).toBeNull();
  });

  test("nor with the password of another account, nor with a password given a minute ago", async () => {
    const [email, other] = [newAddress(), newAddress()];
    await signUp(email, await newClientId());
    await signUp(other, await newClientId());
    const [token, others] = [email, other].map((address) => tokenIn(mailsTo(address)[0]));
    const prove = (address: string, token = "") => world.company.rpc("prove_password", { email: address, token });
    expect((await prove(other, token)).data).toBe(false);
    expect((await prove(other, others)).data).toBe(true);
    await world.anonymous().auth.verifyOtp({ token_hash: token ?? "", type: "signup" });
    expect(await userOf(email)).toMatchObject({ confirmed: false });

    expect((await prove(email, token)).data).toBe(true);
    await world.backend.db.query(
      "update public.client_ids set password_proven_at = password_proven_at - interval '61 s'",
    );
    await world.anonymous().auth.verifyOtp({ token_hash: token ?? "", type: "signup" });
    expect(await userOf(email)).toMatchObject({ confirmed: false });
    expect((await confirm(email, token)).error).toBeNull();
  });

  test("but the company may make an account that is confirmed from the start", async () => {
    const email = newAddress();
    await world.backend.db.exec(`begin;
      insert into auth.users (id, email, raw_user_meta_data)
      values (gen_random_uuid(), '${email}', '{"client_id": "${await newClientId()}"}');
      update auth.users set email_confirmed_at = now() where email = '${email}';
      commit;`);
    expect(await userOf(email)).toMatchObject({ confirmed: true });
  });
});

describe("a sign-up that nobody confirmed", () => {
  test("makes way for another with its own client ID: that one's password counts, the first link is dead", async () => {
    const email = newAddress();
    const [first, second] = [await newClientId(), await newClientId()];
    await world.anonymous().auth.signUp({ email, password: "a stranger's", options: { data: { client_id: first } } });
    const old = tokenIn(mailsTo(email)[0]);
    await usedAgo(email, hour + 1);
    expect(await admits(second, email)).toBe(true);
    expect((await signUp(email, second)).error).toBeNull();

    expect((await confirm(email, old)).error?.code).toBe("otp_expired");
    expect((await signIn(email, "a stranger's")).error?.code).toBe("invalid_credentials");
    expect((await confirm(email, tokenIn(mailsTo(email)[1]))).error).toBeNull();
    expect((await signIn(email, password)).error).toBeNull();
    expect(await claimOf(first)).toBeNull();
    expect(await claimOf(second)).toBe((await userOf(email))?.id);
    // The first client ID stays spent, so that nobody learns what became of the first sign-up.
    expect(await admits(first, email)).toBe(true);
    expect(await admits(first, newAddress())).toBe(false);
    expect((await signUp(newAddress(), first)).error?.message).toBe(clientIdRefused);
  });

  test("stays for a minute, so that nobody's mailbox is flooded", async () => {
    const email = newAddress();
    const clientId = await newClientId();
    await signUp(email, clientId);
    const before = await userOf(email);
    expect(await admits(clientId, email)).toBe(true);
    expect(await userOf(email)).toEqual(before);
  });

  test("stays for an hour whoever else comes, so that who reads the mailbox can confirm it", async () => {
    const email = newAddress();
    await signUp(email, await newClientId());
    await usedAgo(email, hour - 10);
    const before = await userOf(email);
    expect(await admits(await newClientId(), email)).toBe(true);
    expect(await userOf(email)).toEqual(before);
    await usedAgo(email, hour + 1);
    expect(await admits(await newClientId(), email)).toBe(true);
    expect(await userOf(email)).toBeUndefined();
  });

  test("makes way after its hour also for a client ID that was used while it lasted, and that one's hour begins", async () => {
    const email = newAddress();
    const [theirs, own, late] = [await newClientId(), await newClientId(), await newClientId()];
    await world.anonymous().auth.signUp({ email, password: "a stranger's", options: { data: { client_id: theirs } } });
    for (let press = 0; press < 2; press += 1) {
      expect(await admits(own, email)).toBe(true);
      expect((await world.company.rpc("spend_client_id", { client_id: own, email })).data).toBe(true);
    }
    expect(await claimOf(theirs)).toBe((await userOf(email))?.id);
    await world.backend.db.query("update public.client_ids set used_at = used_at - interval '61 minutes'");
    expect(await admits(own, email)).toBe(true);
    expect((await signUp(email, own)).error).toBeNull();
    const waiting = await userOf(email);
    expect(await claimOf(own)).toBe(waiting?.id);
    for (const other of [theirs, late]) expect(await admits(other, email)).toBe(true);
    expect(await userOf(email)).toEqual(waiting);
    expect((await confirm(email, tokenIn(mailsTo(email).at(-1)))).error).toBeNull();
    expect((await signIn(email, password)).error).toBeNull();
  });

  test("is not brought back by the client ID that was moved away, however often it is sent", async () => {
    const email = newAddress();
    const [theirs, own] = [await newClientId(), await newClientId()];
    await world.anonymous().auth.signUp({ email, password: "a stranger's", options: { data: { client_id: theirs } } });
    // The stranger repeats the sign-up as often as allowed.
    await usedAgo(email, hour + 1);
    await admits(theirs, email);
    await world.anonymous().auth.signUp({ email, password: "a stranger's", options: { data: { client_id: theirs } } });
    await admits(own, email);
    await signUp(email, own);
    const waiting = await userOf(email);
    for (let turn = 0; turn < 3; turn += 1) {
      await mailedAgo(email, 61);
      expect(await admits(theirs, email)).toBe(true);
      await world
        .anonymous()
        .auth.signUp({ email, password: "a stranger's", options: { data: { client_id: theirs } } });
    }
    expect(await userOf(email)).toEqual(waiting);
    expect((await confirm(email, tokenIn(mailsTo(email).at(-1)))).error).toBeNull();
    expect((await signIn(email, password)).error).toBeNull();
    expect((await signIn(email, "a stranger's")).error?.code).toBe("invalid_credentials");
  });

  test("makes way for its own client ID, for who mistyped the password", async () => {
    const email = newAddress();
    const clientId = await newClientId();
    await world.anonymous().auth.signUp({ email, password: "mistyped", options: { data: { client_id: clientId } } });
    await mailedAgo(email, 61);
    expect(await admits(clientId, email)).toBe(true);
    expect((await signUp(email, clientId)).error).toBeNull();
    expect((await confirm(email, tokenIn(mailsTo(email).at(-1)))).error).toBeNull();
    expect((await signIn(email, password)).error).toBeNull();
  });

  test("makes way also where another mail was asked for a moment ago", async () => {
    const email = newAddress();
    const [theirs, own] = [await newClientId(), await newClientId()];
    await signUp(email, theirs);
    await usedAgo(email, hour + 1);
    await world.backend.db.query("update auth.users set confirmation_sent_at = now() where email = $1", [email]);
    const before = await userOf(email);
    expect(await admits(own, email)).toBe(true);
    await signUp(email, own);
    expect((await userOf(email))?.id).not.toBe(before?.id);
  });

  test("stays where the client ID is not good, and so does every account that was ever confirmed", async () => {
    const waiting = newAddress();
    await signUp(waiting, await newClientId());
    await usedAgo(waiting, hour + 1);
    const used = await newClientId();
    await signUp(newAddress(), used);
    const confirmed = await confirmedAddress();
    await usedAgo(confirmed, hour + 1);
    const revoked = await confirmedAddress();
    await world.backend.db.query("update auth.users set email_confirmed_at = null where email = $1", [revoked]);
    await usedAgo(revoked, hour + 1);
    const before = await users();
    for (const bad of ["N0TH-1NG0-0F1T-HERE", "", used]) expect(await admits(bad, waiting)).toBe(false);
    for (const email of [confirmed, revoked]) expect(await admits(await newClientId(), email)).toBe(true);
    expect(await users()).toEqual(before);
  });

  test("is moved by one client ID for one address, when fifty come at once", async () => {
    const { rows } = await world.backend.db.query<{ email: string }>(
      `with issued as (
         insert into public.client_ids select private.new_client_id() from generate_series(1, 50) returning client_id
       )
       insert into auth.users (id, email, raw_user_meta_data, created_at)
       select gen_random_uuid(), 'pending-' || lower(client_id) || '@client.example',
         jsonb_build_object('client_id', client_id), now() - interval '61 seconds'
       from issued
       returning email`,
    );
    const emails = rows.map(({ email }) => email);
    await world.backend.db.query(
      `update public.client_ids set used_at = now() - interval '61 minutes'
       where claimed_by in (select id from auth.users where email like 'pending-%')`,
    );
    const clientId = await newClientId();
    const answers = await Promise.all(emails.map((email) => admits(clientId, email)));
    expect(answers.filter(Boolean)).toHaveLength(1);
    const left = (await users()).filter(({ email }) => emails.includes(email));
    expect(left).toHaveLength(49);
  });
});

test("the mail's link leads to the site and holds nothing that signs in by itself", async () => {
  const email = newAddress();
  await signUp(email, await newClientId());
  const mail = mailsTo(email)[0];
  const link = new URL(/https?:\/\/[^\s"\]]+/.exec(mail?.text ?? "")?.[0] ?? "");
  expect(link.origin + link.pathname).toBe("http://127.0.0.1:3000/auth/confirm");
  expect(link.searchParams.get("type")).toBe("signup");
  expect(link.searchParams.get("token_hash")).toBe(tokenIn(mail));
  expect(mail?.text).not.toMatch(/access_token|refresh_token/);
});

test("addresses are one account whatever their capitals", async () => {
  const email = await confirmedAddress();
  expect((await signIn(email.toUpperCase(), password)).error).toBeNull();
  const before = await users();
  await post("/auth/v1/signup", await form(email.toUpperCase()));
  expect(await users()).toEqual(before);
});

async function newClientId(): Promise<string> {
  const { data, error } = await world.company.rpc("issue_client_ids", {});
  if (error) throw error;
  return data[0]?.client_id ?? "";
}

function newAddress(): string {
  number += 1;
  return `client-${number}@client.example`;
}

async function form(email: string) {
  return { email, password, data: { full_name: "Achieng Otieno", client_id: await newClientId() } };
}

/** The bcrypt cost of each password hash made or compared during an act: hashing takes nearly all of its time. */
async function roundsDuring(act: () => Promise<unknown>): Promise<number[]> {
  const compare = vi.spyOn(bcrypt, "compare");
  const hash = vi.spyOn(bcrypt, "hash");
  try {
    await act();
    return [
      ...compare.mock.calls.map(([_typed, stored]) => Number(String(stored).split("$")[2])),
      ...hash.mock.calls.map(([_typed, rounds]) => Number(rounds)),
    ];
  } finally {
    compare.mockRestore();
    hash.mockRestore();
  }
}

function signUp(email: string, clientId: string) {
  return world.anonymous().auth.signUp({ email, password, options: { data: { client_id: clientId } } });
}

function signIn(email: string, typed: string) {
  return world.anonymous().auth.signInWithPassword({ email, password: typed });
}

/** Confirms an address with the token of a link, after the password was proven. */
async function confirm(email: string, token = "") {
  await world.company.rpc("prove_password", { email, token });
  return world.anonymous().auth.verifyOtp({ token_hash: token, type: "signup" });
}

async function admits(client_id: string, email: string) {
  const { data, error } = await world.company.rpc("admit_sign_up", { client_id, email });
  if (error) throw error;
  return data;
}

async function confirmedAddress(): Promise<string> {
  const { email } = await world.newClient(newAddress(), password);
  return email;
}

function post(at: string, body: object): Promise<Response> {
  return postText(at, JSON.stringify(body));
}

function postText(at: string, body: string): Promise<Response> {
  return world.backend.fetch(
    new Request(`http://backend.local${at}`, {
      method: "POST",
      headers: { apikey: world.publishableKey, "content-type": "application/json" },
      body,
    }),
  );
}

function mailsTo(email: string) {
  return world.mails.filter((mail) => mail.to === email);
}

function tokenIn(mail: { html: string } | undefined): string {
  return /token_hash=([0-9a-f]+)/.exec(mail?.html ?? "")?.[1] ?? "";
}

async function users() {
  const { rows } = await world.backend.db.query<{ id: string; email: string; confirmed: boolean }>(
    "select id, email, confirmed_at is not null as confirmed from auth.users order by id",
  );
  return rows;
}

async function userOf(email: string) {
  return (await users()).find((user) => user.email === email);
}

/** Who has claimed a client ID; null when nobody has. */
async function claimOf(clientId: string): Promise<string | null> {
  const { rows } = await world.backend.db.query<{ claimed_by: string | null }>(
    "select claimed_by from public.client_ids where client_id = $1",
    [clientId],
  );
  expect(rows).toHaveLength(1);
  return rows[0]?.claimed_by ?? null;
}

/** Moves the sending of the last mail to an address into the past. */
async function mailedAgo(email: string, seconds: number): Promise<void> {
  await world.backend.db.query(
    `update auth.users
     set created_at = now() - make_interval(secs => $2), confirmation_sent_at = now() - make_interval(secs => $2)
     where email = $1`,
    [email, seconds],
  );
}

/** As if the client ID of an account that waits for its confirmation had been used so many seconds earlier. */
async function usedAgo(email: string, seconds: number): Promise<void> {
  await mailedAgo(email, seconds);
  await world.backend.db.query(
    `update public.client_ids set used_at = now() - make_interval(secs => $2)
     where claimed_by = (select id from auth.users where email = $1)`,
    [email, seconds],
  );
}
