/** Notices: mails to clients about their shipments. The database writes them with each act; any process of the site sends them. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { env } from "../lib/env.server.ts";
import { log } from "../lib/log.server.ts";
import { sendMail } from "../lib/mail.server.ts";
import { type Refusal, refusalOf } from "../lib/refusal.server.ts";
import type { Backend } from "../lib/supabase.server.ts";
import { type Letterhead, senderOf, shipmentNotice } from "./letter.ts";

/** What public.claim_notices answers: one of these is one mail. */
const Claimed = z.array(
  z.object({
    ids: z.array(z.string()),
    account: z.string(),
    email: z.string(),
    shipment: z.string(),
    name: z.string(),
    stage: z.number(),
    status: z.string(),
    turn: z.enum(["client", "company", "closed"]),
    happened: z.array(
      z.object({
        kind: z.enum(["stage", "sent back", "note", "charge", "storage"]),
        what: z.string(),
        reason: z.string().nullable(),
      }),
    ),
  }),
);
type Claimed = z.infer<typeof Claimed>[number];

/** Mails claimed at once. */
const batch = 20;
/** How long mails of one claim are begun, in milliseconds: before the claim ends after five minutes, also with a slow server. */
const claimLasts = 240_000;

/**
 * Sends every notice that is due, each once however many processes do this; how many mails left. One that fails is tried
 * again later, for a day. Throws when the backend does not answer; what was claimed then, or when `isStopped`, is sent in a
 * later round.
 */
export async function sendDueNotices(
  company: Backend,
  head: Letterhead,
  isStopped: () => boolean = () => false,
): Promise<number> {
  let count = 0;
  for (;;) {
    const { data, error, status } = await company.rpc("claim_notices", { most: batch });
    if (error) throw new Error(refusalOf({ ...error, status }).reason);
    const claimed = Claimed.parse(data);
    const began = performance.now();
    for (const one of claimed) {
      if (isStopped() || performance.now() - began > claimLasts) return count;
      if (await sendOne(company, head, one)) count += 1;
    }
    if (claimed.length === 0) return count;
  }
}

async function sendOne(
  company: Backend,
  head: Letterhead,
  { ids, account, email, ...told }: Claimed,
): Promise<boolean> {
  const stop = stopLink(account);
  if (await hasNoteOfMove(company, told)) told.happened.push({ kind: "note", what: "note", reason: null });
  const headers = { "List-Unsubscribe": `<${stop}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" };
  const sent = await sendMail({ to: email, ...shipmentNotice(head, told, stop), headers }, senderOf(head)).then(
    () => true,
    () => false,
  );
  const { error, status } = await company.rpc("settle_notices", { ids, sent });
  if (error) throw new Error(refusalOf({ ...error, status }).reason);
  if (!sent) log("warn", "notice not sent", { shipment: told.shipment });
  return sent;
}

/**
 * Whether one of the moves that a mail tells came with a note, where the mail tells of no other note. A move's notice has
 * its stage alone; the note stands in the move's event, of which there is one for each such notice.
 */
async function hasNoteOfMove(company: Backend, told: Pick<Claimed, "shipment" | "happened">): Promise<boolean> {
  const stages = told.happened.filter(({ kind }) => kind === "stage").map(({ what }) => what);
  if (stages.length === 0 || told.happened.some(({ kind }) => kind === "note")) return false;
  const { data, error, status } = await company
    .from("tracking_events")
    .select("note")
    .eq("shipment_id", told.shipment)
    .in(
      "status",
      stages.flatMap((stage) => [stage, `Corrected: ${stage}`]),
    )
    .order("created_at", { ascending: false })
    .limit(stages.length)
    .retry(false);
  if (error) throw new Error(refusalOf({ ...error, status }).reason);
  return data.some(({ note }) => note !== null);
}

/** The page where an account stops its notices without a login. Good until SESSION_SECRET changes. */
export function stopLink(account: string): string {
  return `${env().origin}/notices?token=${account}.${signatureOf(account)}`;
}

/** The account of a stop link's token; null when it is none of ours. */
export function accountOfToken(token: string | null): string | null {
  const [account = "", signature = "", ...more] = (token ?? "").split(".");
  const [given, right] = [Buffer.from(signature), Buffer.from(signatureOf(account))];
  return more.length === 0 && given.length === right.length && timingSafeEqual(given, right) ? account : null;
}

function signatureOf(account: string): string {
  return createHmac("sha256", env().sessionSecret).update(`stop notices ${account}`).digest("base64url");
}

/** Whether an account gets notices from now on; what waits for one that wants none is dropped. Null, or a refusal. */
export async function wantNotices(company: Backend, account: string, wanted: boolean): Promise<Refusal | null> {
  const { error, status } = await company.rpc("want_notices", { account, wanted });
  return error ? refusalOf({ ...error, status }) : null;
}
