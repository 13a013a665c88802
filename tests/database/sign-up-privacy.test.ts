import bcrypt from "bcryptjs";
import { expect, onTestFinished, test, vi } from "vitest";
import { password, setUpSignUp } from "../support/sign-up-suite.ts";

const suite = setUpSignUp();
const { newClientId, newEmailAddress, createSignUpForm, signUp, logInAs, newConfirmedEmail, postJson } = suite;
const { postText, listEmailsTo, listUsers, findUser, getClaimAccountId, backdateConfirmation } = suite;

test("The public endpoints of Supabase Auth send only the confirmation email, and do not reveal whether an address has an account.", async () => {
  const registered = await newConfirmedEmail();
  const sent = listEmailsTo(registered).length;
  for (const endpoint of ["otp", "magiclink", "recover", "invite", "resend"]) {
    const results = await Promise.all(
      [registered, newEmailAddress()].map((email) => postJson(`/auth/v1/${endpoint}`, { type: "email_change", email })),
    );
    expect(results.map(({ ok }) => ok)).toEqual([false, false]);
    const [first, second] = await Promise.all(results.map((result) => result.text()));
    expect([results[0]?.status, first]).toEqual([results[1]?.status, second]);
  }
  expect(listEmailsTo(registered)).toHaveLength(sent);
});

test("A sign-up for a confirmed address gets the same response as a new sign-up, but sends no email and changes nothing.", async () => {
  const registered = await newConfirmedEmail();
  const fresh = await (await postJson("/auth/v1/signup", await createSignUpForm(newEmailAddress()))).json();
  const sent = listEmailsTo(registered).length;
  const before = await listUsers();
  const resent = { ...(await createSignUpForm(registered)), password: "another password" };
  const result = await postJson("/auth/v1/signup", resent);

  expect(result.status).toBe(200);
  const body = await result.json();
  expect(Object.keys(body).sort()).toEqual(Object.keys(fresh).sort());
  expect(body).toMatchObject({ email: registered, aud: "authenticated", app_metadata: fresh.app_metadata });
  expect(body.id).not.toBe((await findUser(registered))?.id);
  expect(Date.parse(body.created_at)).toBeGreaterThan(Date.parse("2020-01-01"));
  expect(JSON.stringify(body)).not.toContain("confirmed_at");
  expect(listEmailsTo(registered)).toHaveLength(sent);
  expect(await listUsers()).toEqual(before);
  expect(await getClaimAccountId(resent.data.client_id)).toBeNull();
  expect((await logInAs(registered, "another password")).error?.code).toBe("invalid_credentials");
  expect((await logInAs(registered, password)).error).toBeNull();
});

test("A second sign-up for an unconfirmed address sends the confirmation email again, at most once per minute.", async () => {
  const email = newEmailAddress();
  const clientId = await newClientId();
  await signUp(email, clientId);
  const [first] = listEmailsTo(email);

  const form = { email, password, data: { client_id: clientId } };
  const soon = await postJson("/auth/v1/signup", form);
  expect([soon.status, (await soon.json()).error_code]).toEqual([429, "over_email_send_rate_limit"]);
  expect(listEmailsTo(email)).toEqual([first]);
  await backdateConfirmation(email, 61);
  expect((await postJson("/auth/v1/signup", form)).status).toBe(200);
  expect((await postJson("/auth/v1/signup", form)).status).toBe(429);
  expect(listEmailsTo(email)).toHaveLength(2);
  expect((await listUsers()).filter((user) => user.email === email)).toHaveLength(1);
});

test("The resend endpoint sends emails only to unconfirmed addresses, once per minute, and has the same response for all addresses.", async () => {
  const email = newEmailAddress();
  await signUp(email, await newClientId());
  const resend = (to: string) => postJson("/auth/v1/resend", { type: "signup", email: to });

  expect((await resend(email)).status).toBe(429);
  expect(listEmailsTo(email)).toHaveLength(1);
  await backdateConfirmation(email, 61);
  const resent = await resend(email.toUpperCase());
  expect(resent.status).toBe(200);
  expect(listEmailsTo(email)).toHaveLength(2);

  const confirmed = await newConfirmedEmail();
  const sent = listEmailsTo(confirmed).length;
  const unknown = newEmailAddress();
  const [toConfirmed, toUnknown] = [await resend(confirmed), await resend(unknown)];
  expect([toConfirmed.status, toUnknown.status]).toEqual([resent.status, resent.status]);
  const text = await resent.text();
  expect([await toConfirmed.text(), await toUnknown.text()]).toEqual([text, text]);
  expect(listEmailsTo(confirmed)).toHaveLength(sent);
  expect(listEmailsTo(unknown)).toEqual([]);
});

// The error codes come from GoTrue 2.196.0, the server program of Supabase Auth.
test.each([
  ["token?grant_type=password", '{"email":5,"password":"x"}', "bad_json"],
  ["token?grant_type=password", '{"email":"a@client.example","password":["x"]}', "bad_json"],
  ["token?grant_type=password", "[]", "bad_json"],
  ["token?grant_type=password", "", "bad_json"],
  ["token?grant_type=password", '{"email":null,"password":"x"}', "validation_failed"],
  ["token?grant_type=refresh_token", '{"refresh_token":{}}', "bad_json"],
  ["token?grant_type=refresh_token", '{"refresh_token":"\\u0000"}', "bad_json"],
  ["token?grant_type=refresh_token", "null", "validation_failed"],
  ["signup", '{"email":"a@client.example","password":"long enough","data":[1]}', "bad_json"],
  ["signup", '{"email":"a@client.example","password":"long enough","data":{"client_id":"\\ud800"}}', "bad_json"],
  ["resend", '{"type":"signup","email":5}', "bad_json"],
  ["verify", '{"type":"signup","token_hash":5}', "bad_json"],
  ["verify", "null", "validation_failed"],
])(
  "A POST request to the auth endpoint %s with the body %s gets the error %s and status 400.",
  async (at, body, code) => {
    const result = await postText(`/auth/v1/${at}`, body);
    expect({ status: result.status, code: (await result.json()).error_code }).toEqual({ status: 400, code });
  },
);

test("A login before the confirmation gets the error email_not_confirmed only with the correct password.", async () => {
  const unconfirmed = newEmailAddress();
  await signUp(unconfirmed, await newClientId());
  const confirmed = await newConfirmedEmail();

  const right = await logInAs(unconfirmed, password);
  expect(right.error?.code).toBe("email_not_confirmed");
  expect(right.data.session).toBeNull();

  const wrong = await Promise.all(
    [unconfirmed, confirmed, newEmailAddress()].map(async (email) => {
      const result = await postJson("/auth/v1/token?grant_type=password", { email, password: "a wrong password" });
      return { status: result.status, body: await result.json() };
    }),
  );
  expect(wrong[0]).toMatchObject({ status: 400, body: { error_code: "invalid_credentials" } });
  expect(wrong[1]).toEqual(wrong[0]);
  expect(wrong[2]).toEqual(wrong[0]);
});

test("A login or sign-up calculates exactly one password hash, whether or not the address has an account.", async () => {
  // Other tests use a low bcrypt cost to save time. This test uses the real cost.
  vi.stubEnv("LITE_AUTH_BCRYPT_COST", undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
  const registered = await newConfirmedEmail();
  const waiting = newEmailAddress();
  await signUp(waiting, await newClientId());
  const logIn = (email: string) =>
    postJson("/auth/v1/token?grant_type=password", { email, password: "a wrong password" });
  const signUpAgain = async (email: string) => postJson("/auth/v1/signup", await createSignUpForm(email));
  // This first login creates the hash with which the server compares passwords for unknown email addresses.
  await logIn(newEmailAddress());
  const requests = {
    "login, known": () => logIn(registered),
    "login, not confirmed": () => logIn(waiting),
    "login, unknown": () => logIn(newEmailAddress()),
    "sign-up, known": () => signUpAgain(registered),
    "sign-up, not confirmed": () => signUpAgain(waiting),
    "sign-up, unknown": () => signUpAgain(newEmailAddress()),
  };
  for (const [name, request] of Object.entries(requests)) {
    expect(await collectHashRounds(request), name).toEqual([10]);
  }
});

test("A login is rejected if the password only starts with the correct password.", async () => {
  const email = await newConfirmedEmail();
  for (const guess of [`${password}x`, password.slice(0, -1), password.toUpperCase(), ""]) {
    expect((await logInAs(email, guess)).data.session).toBeNull();
  }
});

test("Email addresses that differ only in upper and lower case belong to the same account.", async () => {
  const email = await newConfirmedEmail();
  expect((await logInAs(email.toUpperCase(), password)).error).toBeNull();
  const before = await listUsers();
  await postJson("/auth/v1/signup", await createSignUpForm(email.toUpperCase()));
  expect(await listUsers()).toEqual(before);
});

/** Runs `request`. Returns the bcrypt cost of each password that the server hashes or compares. */
async function collectHashRounds(request: () => Promise<unknown>): Promise<number[]> {
  const compare = vi.spyOn(bcrypt, "compare");
  const hash = vi.spyOn(bcrypt, "hash");
  try {
    await request();
    return [
      ...compare.mock.calls.map(([_given, stored]) => Number(String(stored).split("$")[2])),
      ...hash.mock.calls.map(([_given, rounds]) => Number(rounds)),
    ];
  } finally {
    compare.mockRestore();
    hash.mockRestore();
  }
}
