import { describe, expect, test } from "vitest";
import { password, setUpSignUp } from "../support/sign-up-suite.ts";

const suite = setUpSignUp();
const { testBackend, query, sendRequest } = suite;
const { newClientId, newEmailAddress, signUp, logInAs, confirmEmail } = suite;
const { postJson, listEmailsTo, extractToken, findUser, backdateConfirmation } = suite;

const hourSeconds = 60 * 60;

test("Only the confirmation link in the newest email is valid.", async () => {
  const email = newEmailAddress();
  await signUp(email, await newClientId());
  await backdateConfirmation(email, 61);
  await postJson("/auth/v1/resend", { type: "signup", email });
  const [older, newer] = listEmailsTo(email).map(extractToken);
  expect(newer).not.toBe(older);
  expect((await confirmEmail(email, older)).error?.code).toBe("otp_expired");
  expect(await findUser(email)).toMatchObject({ confirmed: false });
  expect((await confirmEmail(email, newer)).error).toBeNull();
  expect(await findUser(email)).toMatchObject({ confirmed: true });
});

test("A confirmation link is valid only once.", async () => {
  const email = newEmailAddress();
  await signUp(email, await newClientId());
  const token = extractToken(listEmailsTo(email)[0]);
  expect(token).not.toBe("");
  expect((await confirmEmail(email, token)).error).toBeNull();
  expect(await findUser(email)).toMatchObject({ confirmed: true });
  const second = await confirmEmail(email, token);
  expect(second.error?.code).toBe("otp_expired");
  expect(second.data.session).toBeNull();
});

test("Only one of ten parallel confirmations with the same link opens a session.", async () => {
  const email = newEmailAddress();
  await signUp(email, await newClientId());
  const token = extractToken(listEmailsTo(email)[0]);
  const results = await Promise.all(Array.from({ length: 10 }, () => confirmEmail(email, token)));
  expect(results.filter(({ data }) => data.session !== null)).toHaveLength(1);
});

test("A confirmation link is valid after 23 hours, and is rejected after a day.", async () => {
  const [email, lateEmail] = [newEmailAddress(), newEmailAddress()];
  await signUp(email, await newClientId());
  await backdateConfirmation(email, 23 * hourSeconds);
  expect((await confirmEmail(email, extractToken(listEmailsTo(email)[0]))).error).toBeNull();
  await signUp(lateEmail, await newClientId());
  await backdateConfirmation(lateEmail, 24 * hourSeconds + 60);
  const { data, error } = await confirmEmail(lateEmail, extractToken(listEmailsTo(lateEmail)[0]));
  expect([data.session, error?.code]).toEqual([null, "otp_expired"]);
  expect([await findUser(email), await findUser(lateEmail)]).toMatchObject([{ confirmed: true }, { confirmed: false }]);
});

test.each(["", "0", "a".repeat(64), "null", "%", "' or true --"])(
  "The token %j confirms no address.",
  async (token) => {
    const waiting = newEmailAddress();
    await signUp(waiting, await newClientId());
    const { data, error } = await confirmEmail(waiting, token);
    expect(error).not.toBeNull();
    expect(data.session).toBeNull();
    expect(await findUser(waiting)).toMatchObject({ confirmed: false });
  },
);

describe("confirmation needs the password", () => {
  test("No endpoint of Supabase Auth confirms an address without the password, and the rejected token is still valid with the password.", async () => {
    const email = newEmailAddress();
    await signUp(email, await newClientId());
    const token = extractToken(listEmailsTo(email)[0]);
    for (const type of ["signup", "email", "magiclink", "recovery", "invite", "email_change"]) {
      await postJson("/auth/v1/verify", { type, token_hash: token });
      const headers = { apikey: testBackend.publishableKey };
      await sendRequest("GET", `/auth/v1/verify?type=${type}&token=${token}`, headers);
    }
    expect(await findUser(email)).toMatchObject({ confirmed: false });
    expect((await logInAs(email, password)).error?.code).toBe("email_not_confirmed");
    expect((await confirmEmail(email, token)).error).toBeNull();
    expect((await logInAs(email, password)).error).toBeNull();
  });

  test("A confirmation fails with another account's password, or with a password given more than a minute ago.", async () => {
    const [email, otherEmail] = [newEmailAddress(), newEmailAddress()];
    await signUp(email, await newClientId());
    await signUp(otherEmail, await newClientId());
    const [token, otherToken] = [email, otherEmail].map((address) => extractToken(listEmailsTo(address)[0]));
    const prove = (address: string, token = "") =>
      testBackend.serviceRole.rpc("mark_password_proven", { email: address, token });
    expect((await prove(otherEmail, token)).data).toBe(false);
    expect((await prove(otherEmail, otherToken)).data).toBe(true);
    await testBackend.anonymous().auth.verifyOtp({ token_hash: token ?? "", type: "signup" });
    expect(await findUser(email)).toMatchObject({ confirmed: false });

    expect((await prove(email, token)).data).toBe(true);
    await query("update public.client_ids set password_proven_at = password_proven_at - interval '61 s'");
    await testBackend.anonymous().auth.verifyOtp({ token_hash: token ?? "", type: "signup" });
    expect(await findUser(email)).toMatchObject({ confirmed: false });
    expect((await confirmEmail(email, token)).error).toBeNull();
  });
});

test("The link in the confirmation email leads to the site and contains no session token.", async () => {
  const email = newEmailAddress();
  await signUp(email, await newClientId());
  const message = listEmailsTo(email)[0];
  const link = new URL(/https?:\/\/[^\s"\]]+/.exec(message?.text ?? "")?.[0] ?? "");
  expect(link.origin + link.pathname).toBe("http://127.0.0.1:3000/auth/confirm");
  expect(link.searchParams.get("type")).toBe("signup");
  expect(link.searchParams.get("token_hash")).toBe(extractToken(message));
  expect(message?.text).not.toMatch(/access_token|refresh_token/);
});
