import { beforeEach } from "vitest";
import { setUpDesk } from "./database-suite.ts";

export type QueuedUpdate = { kind: string; detail: string; reason: string | null };
type ClaimedUpdate = QueuedUpdate & { note: string | null; previous_stage: number | null };
export type ClaimedEmail = { ids: string[]; shipment_id: string; events: ClaimedUpdate[] } & Record<string, unknown>;

/** Calls setUpDesk, empties the email outbox before each test, and adds functions that read and change the outbox. */
export function setUpShipmentEmails() {
  const suite = setUpDesk();
  const { testBackend, query, owner } = suite;
  beforeEach(async () => {
    await query(
      "update public.shipments set storage_location = null, arrived_on = null, cargo = null, free_storage_ends_on = null where withdrawn_at is null",
    );
    await query("delete from public.email_outbox");
  });

  /** Returns the unsent shipment updates of a shipment, oldest first. */
  function listQueuedUpdates(shipment: string): Promise<QueuedUpdate[]> {
    return query(
      "select kind, detail, reason from public.email_outbox where shipment_id = $1 and sent_at is null order by created_at, id",
      [shipment],
    );
  }

  async function claimEmails(maxCount?: number): Promise<ClaimedEmail[]> {
    const args = maxCount ? { max_count: maxCount } : {};
    const { data } = await testBackend.serviceRole.rpc("claim_shipment_emails", args).throwOnError();
    return data as unknown as ClaimedEmail[];
  }

  async function finishEmails(claimed: ClaimedEmail | undefined, sent: boolean): Promise<void> {
    const args = { email_ids: claimed?.ids ?? [], sent };
    await testBackend.serviceRole.rpc("finish_shipment_emails", args).throwOnError();
  }

  async function setEmailsEnabled(enabled: boolean, account = owner.id): Promise<void> {
    const args = { account_id: account, enabled };
    await testBackend.serviceRole.rpc("set_shipment_emails_enabled", args).throwOnError();
  }

  async function makeDue(shipment: string): Promise<void> {
    await query("update public.email_outbox set due_at = now() where shipment_id = $1", [shipment]);
  }

  /** Sets a shipment's last day of free storage to `days` days after today in East Africa Time. Returns this day. */
  async function setFreeStorageEnd(shipment: string, days: number, stage = 1): Promise<string> {
    const [row] = await query<{ day: string }>(
      `update public.shipments
       set storage_location = 'mombasa', cargo = 'container-20', arrived_on = current_date - 4, stage = $3,
         free_storage_ends_on = (now() at time zone 'Africa/Nairobi')::date + $2::integer
       where id = $1 returning free_storage_ends_on::text as day`,
      [shipment, days, stage],
    );
    return row?.day ?? "";
  }

  return { ...suite, listQueuedUpdates, claimEmails, finishEmails, setEmailsEnabled, makeDue, setFreeStorageEnd };
}

export function createMoveArgs(shipment: string) {
  return { shipment_id: shipment, despite_missing: true };
}

export function createChargeArgs(shipment: string) {
  return { shipment_id: shipment, item: "duties", amount: 1234.5, currency: "KES" };
}
