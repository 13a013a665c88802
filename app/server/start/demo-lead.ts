/** The demo's lead: a colleague with a second factor, whose password and secret are of this installation alone. */
import { randomInt } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { TOTP } from "otpauth";
import { z } from "zod";
import { inWords } from "../../../supabase/local/data-dir.ts";
import { anonymousBackend, type Backend } from "../../lib/supabase.server.ts";
import { act, orThrow } from "../../models/desk-act.server.ts";

const DemoLead = z.object({ account: z.string(), email: z.string(), password: z.string(), secret: z.string() });
export type DemoLead = z.infer<typeof DemoLead>;

const email = "lead@mizigo.example";
const name = "Wanjiru Demo";

const fileIn = (dataDir: string) => path.join(dataDir, "demo-lead.json");

/** What this data directory keeps of its lead, or null. */
export function readDemoLead(dataDir: string): DemoLead | null {
  try {
    return DemoLead.parse(JSON.parse(readFileSync(fileIn(dataDir), "utf8")));
  } catch {
    return null;
  }
}

/** Six digits: the code of the moment, or of another time, in milliseconds. */
export function codeOf({ secret }: Pick<DemoLead, "secret">, timestamp = Date.now()): string {
  return new TOTP({ secret }).generate({ timestamp });
}

/**
 * Makes the lead with a verified factor, then the file that this user alone may read. An account without its file is of a
 * start that was cut off: nobody knows its secret, and it goes.
 */
export async function makeDemoLead(company: Backend, dataDir: string): Promise<DemoLead> {
  const left = known(await company.rpc("find_account", { email }));
  if (left) known(await company.auth.admin.deleteUser(left));
  const asked = orThrow(await act(company, "invite_colleague", { email, name, role: "lead", by_name: "the demo" }));
  const { invitation } = z.object({ invitation: z.string() }).parse(asked);
  const password = newPassword();
  const { user } = known(
    await company.auth.admin.createUser({
      email,
      password,
      email_confirm: true,
      user_metadata: { full_name: name, colleague_invitation: invitation },
    }),
  );

  const { auth } = anonymousBackend();
  known(await auth.signInWithPassword({ email, password }));
  const { id: factorId, totp } = known(await auth.mfa.enroll({ factorType: "totp", friendlyName: "Demo" }));
  // A code is taken once: that of the step before leaves the present one to whoever signs in first.
  const code = codeOf(totp, Date.now() - 25_000);
  known(await auth.mfa.challengeAndVerify({ factorId, code }));
  const lead = { account: user.id, email, password, secret: totp.secret };
  await auth.signOut({ scope: "local" });
  keep(dataDir, lead);
  return lead;
}

/** Written atomically: half a file would be none. */
function keep(dataDir: string, lead: DemoLead): void {
  const draft = `${fileIn(dataDir)}.${process.pid}`;
  inWords(dataDir, () => {
    try {
      writeFileSync(draft, JSON.stringify(lead, null, 2), { mode: 0o600 });
      renameSync(draft, fileIn(dataDir));
    } finally {
      rmSync(draft, { force: true });
    }
  });
}

/** Three groups of three syllables, such as "kavuli-tenosa-maruto": 57 random bits. */
function newPassword(): string {
  const one = (letters: string) => letters[randomInt(letters.length)];
  const group = () => Array.from({ length: 3 }, () => `${one("bdfghjklmnprstwz")}${one("aeiou")}`).join("");
  return [group(), group(), group()].join("-");
}

/** What the backend answered. Throws what it refused. */
function known<Answer extends { data: unknown; error: { message: string } | null }>(answer: Answer) {
  if (answer.error) throw new Error(`The demo's lead could not be made: ${answer.error.message}`);
  return answer.data as Extract<Answer, { error: null }>["data"];
}
