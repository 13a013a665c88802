import { setUpTestBackend } from "./database-suite.ts";

export const password = "a good password";

export function setUpSignUp() {
  const suite = setUpTestBackend();
  const { testBackend, query } = suite;
  let addressCount = 0;

  async function newClientId(): Promise<string> {
    const { data } = await testBackend.serviceRole.rpc("issue_client_ids", {}).throwOnError();
    return data[0]?.client_id ?? "";
  }

  function newEmailAddress(): string {
    addressCount += 1;
    return `client-${addressCount}@client.example`;
  }

  async function createSignUpForm(email: string) {
    return { email, password, data: { full_name: "Achieng Otieno", client_id: await newClientId() } };
  }

  function signUp(email: string, clientId: string, chosenPassword = password) {
    const form = { email, password: chosenPassword, options: { data: { client_id: clientId } } };
    return testBackend.anonymous().auth.signUp(form);
  }

  function logInAs(email: string, given: string) {
    return testBackend.anonymous().auth.signInWithPassword({ email, password: given });
  }

  /** Confirms an email address with the token of a link, as the site does after it has checked the password. */
  async function confirmEmail(email: string, token = "") {
    await testBackend.serviceRole.rpc("mark_password_proven", { email, token });
    return testBackend.anonymous().auth.verifyOtp({ token_hash: token, type: "signup" });
  }

  async function isAdmitted(client_id: string, email: string) {
    return (await testBackend.serviceRole.rpc("admit_sign_up", { client_id, email }).throwOnError()).data;
  }

  async function newConfirmedEmail(): Promise<string> {
    const { email } = await testBackend.newClient(newEmailAddress(), password);
    return email;
  }

  function postJson(at: string, body: object): Promise<Response> {
    return postText(at, JSON.stringify(body));
  }

  function postText(at: string, body: string): Promise<Response> {
    return testBackend.backend.fetch(
      new Request(`http://backend.local${at}`, {
        method: "POST",
        headers: { apikey: testBackend.publishableKey, "content-type": "application/json" },
        body,
      }),
    );
  }

  function listEmailsTo(email: string) {
    return testBackend.emails.filter((message) => message.to === email);
  }

  function extractToken(email: { text: string } | undefined): string {
    return /token_hash=([0-9a-f]+)/.exec(email?.text ?? "")?.[1] ?? "";
  }

  async function listUsers() {
    return query<{ id: string; email: string; confirmed: boolean }>(
      "select id, email, confirmed_at is not null as confirmed from auth.users order by id",
    );
  }

  async function findUser(email: string) {
    return (await listUsers()).find((user) => user.email === email);
  }

  /** Returns the ID of the account that has used a Client ID, or null. */
  async function getClaimAccountId(clientId: string): Promise<string | null> {
    const select = "select account_id from public.client_ids where client_id = $1";
    return (await query<{ account_id: string | null }>(select, [clientId]))[0]?.account_id ?? null;
  }

  /** Sets the creation time of an account and the time of its last confirmation email to `seconds` seconds ago. */
  async function backdateConfirmation(email: string, seconds: number): Promise<void> {
    await query(
      `update auth.users set created_at = now() - make_interval(secs => $2), confirmation_sent_at = now() - make_interval(secs => $2)
     where email = $1`,
      [email, seconds],
    );
  }

  /** Sets the times at which an unconfirmed account was created and its Client ID was used to `seconds` seconds ago. */
  async function backdateClientId(email: string, seconds: number): Promise<void> {
    await backdateConfirmation(email, seconds);
    await query(
      `update public.client_ids set used_at = now() - make_interval(secs => $2)
     where account_id = (select id from auth.users where email = $1)`,
      [email, seconds],
    );
  }

  return {
    ...{ ...suite, newClientId, newEmailAddress, createSignUpForm, signUp, logInAs, confirmEmail, isAdmitted },
    ...{ newConfirmedEmail, postJson, postText, listEmailsTo, extractToken, listUsers, findUser },
    ...{ getClaimAccountId, backdateConfirmation, backdateClientId },
  };
}
