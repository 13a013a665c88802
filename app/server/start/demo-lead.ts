import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { TOTP } from "otpauth";
import { z } from "zod";
import type { Settings } from "../../lib/http/env.server.ts";
import { type AppSupabaseClient, anonymousClient } from "../../lib/supabase/client.server.ts";
import { resultOrThrow, runStaffAction } from "../../models/staff.server.ts";
import { writeSecretFile } from "../embedded-backend.ts";

const DemoLead = z.object({ account: z.string(), email: z.string(), password: z.string(), secret: z.string() });
export type DemoLead = z.infer<typeof DemoLead>;

const leadEmail = "lead@mizigo.example";
const leadName = "Wanjiru Demo";

const getLeadFile = (dataDir: string) => path.join(dataDir, "demo-lead.json");

export function readDemoLead(dataDir: string): DemoLead | null {
  try {
    return DemoLead.parse(JSON.parse(readFileSync(getLeadFile(dataDir), "utf8")));
  } catch {
    return null;
  }
}

/** Returns the six-digit code that is valid at `timestamp`, in milliseconds since 1970. */
export function createTotp({ secret }: Pick<DemoLead, "secret">, timestamp = Date.now()): string {
  return new TOTP({ secret }).generate({ timestamp });
}

export function getDemoTotp({ dataDir, databaseUrl }: Settings): string {
  const lead = databaseUrl ? null : readDemoLead(dataDir);
  if (!lead)
    throw new Error(
      `${dataDir} contains no demo lead. Start the site once, or set DATA_DIR to the data directory of the running site.`,
    );
  return createTotp(lead);
}

/** Creates the demo's lead. First deletes the lead of an interrupted start, because that lead's secret is lost. */
export async function createDemoLead(serviceRole: AppSupabaseClient, dataDir: string): Promise<DemoLead> {
  const leftoverId = getDataOrThrow(await serviceRole.rpc("find_account_id", { email: leadEmail }));
  if (leftoverId) getDataOrThrow(await serviceRole.auth.admin.deleteUser(leftoverId));
  const member = { email: leadEmail, name: leadName, role: "lead", actor_name: "the demo" };
  const invite = resultOrThrow(await runStaffAction(serviceRole, "invite_staff_member", member));
  const { invite_id } = z.object({ invite_id: z.string() }).parse(invite);
  const password = createPassword();
  const user_metadata = { full_name: leadName, staff_invite_id: invite_id };
  const account = { email: leadEmail, password, email_confirm: true, user_metadata };
  const { user } = getDataOrThrow(await serviceRole.auth.admin.createUser(account));

  const { auth } = anonymousClient();
  getDataOrThrow(await auth.signInWithPassword({ email: leadEmail, password }));
  const { id: factorId, totp } = getDataOrThrow(await auth.mfa.enroll({ factorType: "totp", friendlyName: "Demo" }));
  // Each code works only once. This login uses the code of the previous 30 seconds, so that the next login can use the
  // current code.
  const code = createTotp(totp, Date.now() - 25_000);
  getDataOrThrow(await auth.mfa.challengeAndVerify({ factorId, code }));
  const lead = { account: user.id, email: leadEmail, password, secret: totp.secret };
  await auth.signOut({ scope: "local" });
  writeSecretFile(dataDir, getLeadFile(dataDir), lead);
  return lead;
}

/** Returns a password such as "kavuli-tenosa-maruto", with 57 random bits. */
function createPassword(): string {
  const pickLetter = (letters: string) => letters[randomInt(letters.length)];
  const group = () =>
    Array.from({ length: 3 }, () => `${pickLetter("bdfghjklmnprstwz")}${pickLetter("aeiou")}`).join("");
  return [group(), group(), group()].join("-");
}

export function getDataOrThrow<Result extends { data: unknown; error: { message: string } | null }>(result: Result) {
  if (result.error) throw new Error(`The demo data could not be created: ${result.error.message}`);
  return result.data as Extract<Result, { error: null }>["data"];
}
