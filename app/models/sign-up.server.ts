import { log, pseudonym } from "../lib/http/log.server.ts";
import type { RateLimiter } from "../lib/http/rate-limiter.server.ts";
import { toUserError, type UserError, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import { anonymousClient, serviceRoleClient } from "../lib/supabase/client.server.ts";
import { admitSignUp, normalizeClientId, redeemClientId } from "./client-id.server.ts";

type SignUpFailure = UserError & { title: "Sign up Failed" | "Sign-up Failed" };

/** Returns the same result for a new address and a known address, so that the form does not reveal accounts. */
export async function signUp(
  limits: RateLimiter,
  input: { clientId: string; fullName: string; email: string; password: string },
): Promise<SignUpFailure | null> {
  const clientId = normalizeClientId(input.clientId);
  const guess = await limits.consumeClientId();
  if ("reason" in guess) return toSignUpFailure(guess);
  const email = await limits.consumeEmail(input.email);
  if ("reason" in email) {
    guess.refund();
    return toSignUpFailure(email);
  }
  const serviceRole = serviceRoleClient();
  const rejection = await admitSignUp(serviceRole, clientId, input.email).catch(userErrorFromThrown);
  if (!rejection || rejection.status >= 500) guess.refund();
  if (rejection) {
    email.refund();
    return logSignUpFailure(input.email, rejection);
  }
  const { error } = await anonymousClient()
    .auth.signUp({
      email: input.email,
      password: input.password,
      options: { data: { full_name: input.fullName, client_id: clientId } },
    })
    .catch((error: Error) => ({ error }));
  // Supabase Auth limits emails only to addresses that have an account, so this error would reveal the account.
  if (error && !("code" in error && error.code === "over_email_send_rate_limit")) {
    email.refund();
    const userError = toUserError(error);
    // Supabase Auth responds with 500 if another sign-up has just used the Client ID.
    const isRefusal = "status" in error && error.status === 500;
    const conflict = isRefusal ? await admitSignUp(serviceRole, clientId, input.email).catch(() => null) : null;
    return logSignUpFailure(input.email, conflict ?? userError);
  }
  const conflict = await redeemClientId(serviceRole, clientId, input.email).catch(() => null);
  if (conflict) return logSignUpFailure(input.email, conflict);
  log("info", "sign-up", { account: pseudonym(input.email) });
  return null;
}

function logSignUpFailure(email: string, userError: UserError): SignUpFailure {
  log("warn", "sign-up failed", { account: pseudonym(email), status: userError.status });
  return toSignUpFailure(userError);
}

function toSignUpFailure(userError: UserError): SignUpFailure {
  return { ...userError, title: userError.status < 500 ? "Sign up Failed" : "Sign-up Failed" };
}
