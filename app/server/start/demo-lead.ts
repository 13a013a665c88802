/** The demo's lead: a team member with a second factor. Each installation has its own password and secret. */
import { randomInt } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { TOTP } from "otpauth";
import { z } from "zod";
import { rethrowAsDataDirError } from "../../../supabase/contract/data-dir.ts";
import type { Settings } from "../../lib/http/env.server.ts";
import { type AppSupabaseClient, anonymousClient } from "../../lib/supabase/client.server.ts";
import { resultOrThrow, runStaffAction } from "../../models/staff-action.server.ts";

const DemoLead = z.object({ account: z.string(), email: z.string(), password: z.string(), secret: z.string() });
export type DemoLead = z.infer<typeof DemoLead>;

const leadEmail = "lead@mizigo.example";
const leadName = "Wanjiru Demo";

const getLeadFile = (dataDir: string) => path.join(dataDir, "demo-lead.json");

/** Returns the lead of this data directory, or null. */
export function readDemoLead(dataDir: string): DemoLead | null {
  try {
    return DemoLead.parse(JSON.parse(readFileSync(getLeadFile(dataDir), "utf8")));
  } catch {
    return null;
  }
}

/** Returns the code of a time in milliseconds, six digits. */
export function createTotp({ secret }: Pick<DemoLead, "secret">, timestamp = Date.now()): string {
  return new TOTP({ secret }).generate({ timestamp });
}

/** Returns the current code of the demo's lead. Throws if the data directory has no demo. */
export function getDemoTotp({ dataDir, databaseUrl }: Settings): string {
  const lead = databaseUrl ? null : readDemoLead(dataDir);
  if (!lead)
    throw new Error(`There is no demo lead in ${dataDir}: start the site once, or set DATA_DIR to where it runs.`);
  return createTotp(lead);
}

/**
 * Creates the lead with a verified factor, then a file that only this user may read. Deletes an account without a file:
 * it is left from an interrupted start, and its secret is unknown.
 */
export async function createDemoLead(company: AppSupabaseClient, dataDir: string): Promise<DemoLead> {
  const left = getDataOrThrow(await company.rpc("find_account_id", { email: leadEmail }));
  if (left) getDataOrThrow(await company.auth.admin.deleteUser(left));
  const asked = resultOrThrow(
    await runStaffAction(company, "invite_staff_member", {
      email: leadEmail,
      name: leadName,
      role: "lead",
      actor_name: "the demo",
    }),
  );
  const { invite_id } = z.object({ invite_id: z.string() }).parse(asked);
  const password = createPassword();
  const { user } = getDataOrThrow(
    await company.auth.admin.createUser({
      email: leadEmail,
      password,
      email_confirm: true,
      user_metadata: { full_name: leadName, staff_invite_id: invite_id },
    }),
  );

  const { auth } = anonymousClient();
  getDataOrThrow(await auth.signInWithPassword({ email: leadEmail, password }));
  const { id: factorId, totp } = getDataOrThrow(await auth.mfa.enroll({ factorType: "totp", friendlyName: "Demo" }));
  // Each code works once. Using the previous code leaves the current one for the first login.
  const code = createTotp(totp, Date.now() - 25_000);
  getDataOrThrow(await auth.mfa.challengeAndVerify({ factorId, code }));
  const lead = { account: user.id, email: leadEmail, password, secret: totp.secret };
  await auth.signOut({ scope: "local" });
  writeDemoLead(dataDir, lead);
  return lead;
}

/** Writes the file atomically. */
function writeDemoLead(dataDir: string, lead: DemoLead): void {
  const draft = `${getLeadFile(dataDir)}.${process.pid}`;
  rethrowAsDataDirError(dataDir, () => {
    try {
      writeFileSync(draft, JSON.stringify(lead, null, 2), { mode: 0o600 });
      renameSync(draft, getLeadFile(dataDir));
    } finally {
      rmSync(draft, { force: true });
    }
  });
}

/** Returns three groups of three syllables, such as "kavuli-tenosa-maruto": 57 random bits. */
function createPassword(): string {
  const one = (letters: string) => letters[randomInt(letters.length)];
  const group = () => Array.from({ length: 3 }, () => `${one("bdfghjklmnprstwz")}${one("aeiou")}`).join("");
  return [group(), group(), group()].join("-");
}

function getDataOrThrow<Answer extends { data: unknown; error: { message: string } | null }>(answer: Answer) {
  if (answer.error) throw new Error(`The demo's lead could not be made: ${answer.error.message}`);
  return answer.data as Extract<Answer, { error: null }>["data"];
}
