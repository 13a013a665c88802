/** The demo's lead: a colleague with a second factor, whose password and secret are of this installation alone. */
import { randomInt } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { TOTP } from "otpauth";
import { z } from "zod";
import { rethrowAsDataDirError } from "../../../supabase/contract/data-dir.ts";
import { type AppSupabaseClient, anonymousClient } from "../../lib/supabase/client.server.ts";
import { resultOrThrow, runStaffAction } from "../../models/staff-action.server.ts";

const DemoLead = z.object({ account: z.string(), email: z.string(), password: z.string(), secret: z.string() });
export type DemoLead = z.infer<typeof DemoLead>;

const leadEmail = "lead@mizigo.example";
const leadName = "Wanjiru Demo";

const getLeadFile = (dataDir: string) => path.join(dataDir, "demo-lead.json");

/** What this data directory keeps of its lead, or null. */
export function readDemoLead(dataDir: string): DemoLead | null {
  try {
    return DemoLead.parse(JSON.parse(readFileSync(getLeadFile(dataDir), "utf8")));
  } catch {
    return null;
  }
}

/** Six digits: the code of the moment, or of another time, in milliseconds. */
export function createTotp({ secret }: Pick<DemoLead, "secret">, timestamp = Date.now()): string {
  return new TOTP({ secret }).generate({ timestamp });
}

/**
 * Makes the lead with a verified factor, then the file that this user alone may read. An account without its file is of a
 * start that was cut off: nobody knows its secret, and it goes.
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
  // A code is taken once: that of the step before leaves the present one to whoever signs in first.
  const code = createTotp(totp, Date.now() - 25_000);
  getDataOrThrow(await auth.mfa.challengeAndVerify({ factorId, code }));
  const lead = { account: user.id, email: leadEmail, password, secret: totp.secret };
  await auth.signOut({ scope: "local" });
  writeDemoLead(dataDir, lead);
  return lead;
}

/** Written atomically: half a file would be none. */
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

/** Three groups of three syllables, such as "kavuli-tenosa-maruto": 57 random bits. */
function createPassword(): string {
  const one = (letters: string) => letters[randomInt(letters.length)];
  const group = () => Array.from({ length: 3 }, () => `${one("bdfghjklmnprstwz")}${one("aeiou")}`).join("");
  return [group(), group(), group()].join("-");
}

/** What the backend answered. Throws what it refused. */
function getDataOrThrow<Answer extends { data: unknown; error: { message: string } | null }>(answer: Answer) {
  if (answer.error) throw new Error(`The demo's lead could not be made: ${answer.error.message}`);
  return answer.data as Extract<Answer, { error: null }>["data"];
}
