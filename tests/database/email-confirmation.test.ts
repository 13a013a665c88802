import { describe, expect, test } from "vitest";
import { clientIdInvalid } from "../../app/models/client-id.server.ts";
import { password, setUpSignUp } from "../support/sign-up-suite.ts";

const suite = setUpSignUp();
const { testBackend, query, sendRequest, newClientId, newEmailAddress, signUp, logInAs, confirmEmail } = suite;
const { postJson, listEmailsTo, extractToken, findUser, backdateConfirmation, isAdmitted } = suite;
const { newConfirmedEmail, listUsers, getClaimAccountId, backdateClientId } = suite;

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

test("A confirmation link works only once, even in ten parallel requests.", async () => {
  const email = newEmailAddress();
  await signUp(email, await newClientId());
  const token = extractToken(listEmailsTo(email)[0]);
  const results = await Promise.all(Array.from({ length: 10 }, () => confirmEmail(email, token)));
  expect(results.filter(({ data }) => data.session !== null)).toHaveLength(1);
  expect((await confirmEmail(email, token)).error?.code).toBe("otp_expired");
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

test("A confirmation with a wrong token fails.", async () => {
  const waiting = newEmailAddress();
  await signUp(waiting, await newClientId());
  for (const token of ["", "0", "a".repeat(64), "null", "%", "' or true --"]) {
    const { data, error } = await confirmEmail(waiting, token);
    expect(error, token).not.toBeNull();
    expect(data.session).toBeNull();
  }
  expect(await findUser(waiting)).toMatchObject({ confirmed: false });
});

describe("Confirmation with the password", () => {
  test("No endpoint of Supabase Auth confirms an email address without the password. The token remains valid for the password.", async () => {
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

  test("A confirmation fails with another account's password, or with a password that was sent more than a minute ago.", async () => {
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

const hourSeconds = 60 * 60;

async function expectNewestLinkConfirms(email: string): Promise<void> {
  expect((await confirmEmail(email, extractToken(listEmailsTo(email).at(-1)))).error).toBeNull();
  expect((await logInAs(email, password)).error).toBeNull();
}

test("After an hour, a sign-up with another Client ID replaces an unconfirmed sign-up with its password and link.", async () => {
  const email = newEmailAddress();
  const [first, second] = [await newClientId(), await newClientId()];
  await signUp(email, first, "a stranger's");
  const oldToken = extractToken(listEmailsTo(email)[0]);
  await backdateClientId(email, hourSeconds + 1);
  // The hour starts at the sign-up, so a later confirmation email does not protect the unconfirmed sign-up for longer.
  await query("update auth.users set confirmation_sent_at = now() where email = $1", [email]);
  expect(await isAdmitted(second, email)).toBe(true);
  expect((await signUp(email, second)).error).toBeNull();

  expect((await confirmEmail(email, oldToken)).error?.code).toBe("otp_expired");
  expect((await logInAs(email, "a stranger's")).error?.code).toBe("invalid_credentials");
  await expectNewestLinkConfirms(email);
  expect(await getClaimAccountId(first)).toBeNull();
  expect(await getClaimAccountId(second)).toBe((await findUser(email))?.id);
  // After the replacement, the first Client ID still counts as used. The response to a sign-up with this Client ID
  // therefore does not reveal the replacement.
  expect(await isAdmitted(first, email)).toBe(true);
  expect(await isAdmitted(first, newEmailAddress())).toBe(false);
  expect((await signUp(newEmailAddress(), first)).error?.message).toBe(clientIdInvalid);
});

test("An unconfirmed sign-up cannot be replaced by another Client ID within an hour.", async () => {
  const email = newEmailAddress();
  await signUp(email, await newClientId());
  await backdateClientId(email, hourSeconds - 10);
  const before = await findUser(email);
  expect(await isAdmitted(await newClientId(), email)).toBe(true);
  expect(await findUser(email)).toEqual(before);
  await backdateClientId(email, hourSeconds + 1);
  expect(await isAdmitted(await newClientId(), email)).toBe(true);
  expect(await findUser(email)).toBeUndefined();
});

test("A Client ID that failed to replace an unconfirmed sign-up within the hour can replace the sign-up after the hour.", async () => {
  const email = newEmailAddress();
  const [foreignId, ownId, lateId] = [await newClientId(), await newClientId(), await newClientId()];
  await signUp(email, foreignId, "a stranger's");
  for (let round = 0; round < 2; round += 1) {
    expect(await isAdmitted(ownId, email)).toBe(true);
    expect((await testBackend.serviceRole.rpc("redeem_client_id", { client_id: ownId, email })).data).toBe(true);
  }
  expect(await getClaimAccountId(foreignId)).toBe((await findUser(email))?.id);
  await query("update public.client_ids set used_at = used_at - interval '61 minutes'");
  expect(await isAdmitted(ownId, email)).toBe(true);
  expect((await signUp(email, ownId)).error).toBeNull();
  const waiting = await findUser(email);
  expect(await getClaimAccountId(ownId)).toBe(waiting?.id);
  for (const clientId of [foreignId, lateId]) expect(await isAdmitted(clientId, email)).toBe(true);
  expect(await findUser(email)).toEqual(waiting);
  await expectNewestLinkConfirms(email);
});

test("A replaced sign-up cannot replace the new sign-up, even if its Client ID is sent again and again.", async () => {
  const email = newEmailAddress();
  const [foreignId, ownId] = [await newClientId(), await newClientId()];
  await signUp(email, foreignId, "a stranger's");
  // The stranger repeats the sign-up as often as the rate limit allows.
  await backdateClientId(email, hourSeconds + 1);
  await isAdmitted(foreignId, email);
  await signUp(email, foreignId, "a stranger's");
  await isAdmitted(ownId, email);
  await signUp(email, ownId);
  const waiting = await findUser(email);
  for (let round = 0; round < 3; round += 1) {
    await backdateConfirmation(email, 61);
    expect(await isAdmitted(foreignId, email)).toBe(true);
    await signUp(email, foreignId, "a stranger's");
  }
  expect(await findUser(email)).toEqual(waiting);
  await expectNewestLinkConfirms(email);
  expect((await logInAs(email, "a stranger's")).error?.code).toBe("invalid_credentials");
});

test("An owner whose unconfirmed sign-up was replaced by a stranger can sign up again an hour later with the same Client ID.", async () => {
  const email = newEmailAddress();
  const [ownId, foreignId] = [await newClientId(), await newClientId()];
  await signUp(email, ownId);
  await backdateClientId(email, hourSeconds + 1);
  await isAdmitted(foreignId, email);
  await signUp(email, foreignId, "a stranger's");
  const replaced = await findUser(email);
  expect(await isAdmitted(ownId, email)).toBe(true);
  expect(await findUser(email)).toEqual(replaced);
  await backdateClientId(email, hourSeconds + 1);
  expect(await isAdmitted(ownId, email)).toBe(true);
  expect((await signUp(email, ownId)).error).toBeNull();
  await expectNewestLinkConfirms(email);
});

test("A sign-up can be repeated with the same Client ID after a minute, for example to correct a mistyped password.", async () => {
  const email = newEmailAddress();
  const clientId = await newClientId();
  await signUp(email, clientId, "mistyped");
  const before = await findUser(email);
  expect(await isAdmitted(clientId, email)).toBe(true);
  expect(await findUser(email)).toEqual(before);
  await backdateConfirmation(email, 61);
  expect(await isAdmitted(clientId, email)).toBe(true);
  expect((await signUp(email, clientId)).error).toBeNull();
  await expectNewestLinkConfirms(email);
});

test("An invalid Client ID cannot replace a sign-up, and no Client ID can replace an account that has been confirmed once.", async () => {
  const waiting = newEmailAddress();
  await signUp(waiting, await newClientId());
  await backdateClientId(waiting, hourSeconds + 1);
  const used = await newClientId();
  await signUp(newEmailAddress(), used);
  const confirmed = await newConfirmedEmail();
  await backdateClientId(confirmed, hourSeconds + 1);
  const revoked = await newConfirmedEmail();
  await query("update auth.users set email_confirmed_at = null where email = $1", [revoked]);
  await backdateClientId(revoked, hourSeconds + 1);
  const before = await listUsers();
  for (const invalidId of ["N0TH-1NG0-0F1T-HERE", "", used]) expect(await isAdmitted(invalidId, waiting)).toBe(false);
  for (const email of [confirmed, revoked]) expect(await isAdmitted(await newClientId(), email)).toBe(true);
  expect(await listUsers()).toEqual(before);
});

test("Only one of fifty parallel requests with the same Client ID replaces one of fifty unconfirmed sign-ups.", async () => {
  const rows = await query<{ email: string }>(
    `with issued as (
         insert into public.client_ids select private.generate_client_id() from generate_series(1, 50) returning client_id
       )
       insert into auth.users (id, email, raw_user_meta_data, created_at)
       select gen_random_uuid(), 'pending-' || lower(client_id) || '@client.example',
         jsonb_build_object('client_id', client_id), now() - interval '61 seconds'
       from issued
       returning email`,
  );
  const emails = rows.map(({ email }) => email);
  await query(
    `update public.client_ids set used_at = now() - interval '61 minutes'
       where account_id in (select id from auth.users where email like 'pending-%')`,
  );
  const clientId = await newClientId();
  const results = await Promise.all(emails.map((email) => isAdmitted(clientId, email)));
  expect(results.filter(Boolean)).toHaveLength(1);
  const remaining = (await listUsers()).filter(({ email }) => emails.includes(email));
  expect(remaining).toHaveLength(49);
});
