/** Measures the desk with a small and a large database, on a PostgreSQL server, as with a hosted backend. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createClient } from "@supabase/supabase-js";
import postgres from "postgres";
import { TOTP } from "totp-generator";
import ws from "ws";
import { startPostgres } from "../support/postgres-server.ts";
import { createServiceRoleClient, measurePortalPage } from "./load.ts";
import { getMemoryMb, startOurSite, stopSite } from "./site.ts";

type DeskPageCost = { page: string; small: number; grown: number; bytes: number };
export type DeskBenchResult = { pages: DeskPageCost[]; csv: { rows: number; seconds: number; memory: number[] } };

const leadCredentials = { email: "lead@company.example", password: "a password of the bench" };
const shipmentSorts = ["name", "client", "awb", "stage", "waiting", "documents", "due", "free", "changed"];
const smallDataset = { clients: 2, shipments: 20 };
const largeDataset = { clients: 2_000, shipments: 100_000 };

/** Measures each page of the desk with the small and the large database, and the CSV download of all shipments. */
export async function measureDesk(): Promise<DeskBenchResult> {
  const dataDir = mkdtempSync(path.join(tmpdir(), "desk-bench-"));
  const server = await startPostgres();
  process.env.DATABASE_URL = `${server.url}/postgres`;
  const site = await startOurSite(dataDir);
  delete process.env.DATABASE_URL;
  const sql = postgres(`${server.url}/postgres`, { max: 1, onnotice: () => undefined });
  try {
    const origin = `http://127.0.0.1:${site.port}`;
    const cookie = await createLeadCookie(dataDir, site.backendPort);
    await growDatabase(sql, smallDataset);
    const shipment = "/desk/shipments/00000000-0000-4000-8000-000000000007";
    const pages = [
      ...["/desk", "/desk/shipments", "/desk/shipments?q=consignment+7", "/desk/shipments?stage=3&waiting=company"],
      ...["/desk/shipments?q=client7@", "/desk/shipments?q=0700+000+007", "/desk/clients?q=0700+000+007", shipment],
      ...["/desk/clients", "/desk/clients?q=client7", "/desk/log", "/desk/log?sort=who", "/desk/log?sort=-what"],
      ...shipmentSorts.flatMap((sort) => [`/desk/shipments?sort=${sort}`, `/desk/shipments?sort=-${sort}`]),
      "/desk/report",
    ];
    // The results of this round are discarded, because a new process gets faster during its first few hundred
    // requests.
    for (const page of pages) await measurePortalPage(origin, page, cookie);
    const before = await measureDeskPages(origin, pages, cookie);
    await growDatabase(sql, largeDataset);
    for (const page of pages) await measurePortalPage(origin, page, cookie);
    const after = await measureDeskPages(origin, pages, cookie);
    return {
      pages: pages.map((page, at) => ({
        page,
        small: before[at]?.time ?? 0,
        grown: after[at]?.time ?? 0,
        bytes: after[at]?.bytes ?? 0,
      })),
      csv: await measureCsv(`${origin}/desk/shipments.csv`, cookie, () => getMemoryMb(site)),
    };
  } finally {
    await sql.end();
    await stopSite(site);
    server.remove();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Measures every page in three rounds. Returns for each page the measurement with the median response time. */
async function measureDeskPages(origin: string, pages: string[], cookie: string) {
  const rounds: Awaited<ReturnType<typeof measurePortalPage>>[][] = [];
  for (let round = 0; round < 3; round++) {
    const all = [];
    for (const page of pages) all.push(await measurePortalPage(origin, page, cookie));
    rounds.push(all);
  }
  return pages.map((_, at) => rounds.map((all) => all[at]).sort((a, b) => (a?.time ?? 0) - (b?.time ?? 0))[1]);
}

/**
 * Downloads the CSV file at `url`. Returns the site's memory in MB before and after the download, and the maximum
 * memory during the download.
 */
async function measureCsv(url: string, cookie: string, memory: () => number) {
  const before = memory();
  let most = 0;
  const since = performance.now();
  const response = await fetch(url, { headers: { cookie } });
  let rows = -1;
  for await (const chunk of response.body ?? []) {
    rows += Buffer.from(chunk).toString("latin1").split("\r\n").length - 1;
    most = Math.max(most, memory());
  }
  return { rows, seconds: Math.round((performance.now() - since) / 100) / 10, memory: [before, most, memory()] };
}

/** Creates a lead with a second factor. Returns the cookie of a session that has passed the second factor. */
async function createLeadCookie(dataDir: string, backendPort: number): Promise<string> {
  const company = createServiceRoleClient(dataDir, backendPort);
  const invitation = { email: leadCredentials.email, name: "Lead", role: "lead" };
  const invited = await company.rpc("invite_staff_member", invitation);
  const { invite_id: staff_invite_id } = invited.data as { invite_id: string };
  const user_metadata = { full_name: "Lead", staff_invite_id };
  const created = await company.auth.admin.createUser({ ...leadCredentials, email_confirm: true, user_metadata });
  if (created.error) throw created.error;
  const person = createClient(`http://127.0.0.1:${backendPort}`, getSupabaseKey(company), {
    auth: { persistSession: false, autoRefreshToken: false },
    realtime: { transport: ws as never },
  });
  await person.auth.signInWithPassword(leadCredentials);
  const factor = await person.auth.mfa.enroll({ factorType: "totp", friendlyName: "Bench" });
  if (factor.error) throw factor.error;
  const { otp } = await TOTP.generate(factor.data.totp.secret);
  const verified = await person.auth.mfa.challengeAndVerify({ factorId: factor.data.id, code: otp });
  if (verified.error) throw verified.error;
  const { access_token, refresh_token, expires_in, token_type } = verified.data;
  const expires_at = Math.floor(Date.now() / 1000) + expires_in;
  const session = JSON.stringify({ access_token, refresh_token, expires_in, expires_at, token_type });
  return `session=base64-${Buffer.from(session).toString("base64url")}`;
}

const getSupabaseKey = (supabase: object) => (supabase as { supabaseKey: string }).supabaseKey;

/**
 * Adds clients and shipments until the database has `clients` clients and `shipments` shipments. Most of the new
 * shipments' documents count as uploaded.
 */
async function growDatabase(sql: postgres.Sql, { clients, shipments }: typeof largeDataset): Promise<void> {
  await sql`
    insert into public.client_ids (client_id)
    select 'BENCH-CLIENT-' || number from generate_series(1, ${clients}::int) as number on conflict do nothing`;
  await sql`
    insert into auth.users (id, aud, role, email, email_confirmed_at, raw_user_meta_data, created_at, updated_at)
    select ('c0000000-0000-4000-8000-' || lpad(number::text, 12, '0'))::uuid, 'authenticated', 'authenticated',
      'client' || number || '@client.example', now(),
      jsonb_build_object('full_name', 'Client ' || number, 'client_id', 'BENCH-CLIENT-' || number),
      now() - make_interval(mins => number), now()
    from generate_series(1, ${clients}::int) as number
    where not exists (select from auth.users where email = 'client' || number || '@client.example')`;
  await sql`
    insert into private.client_phones (account_id, phone)
    select id, '+254700' || right(id::text, 6) from auth.users where email like 'client%@client.example'
    on conflict do nothing`;
  // The storage contains no files for these documents, because no measured page opens a file.
  await sql.unsafe("set session_replication_role = replica");
  await sql`
    insert into public.shipments (
      id, user_id, name, awb, stage, status, waiting_on, waiting_since, changed_at, staff_action_at, created_at,
      client_name, document_count, uploaded_count, due_on, storage_location, arrived_on, cargo,
      free_storage_ends_on
    )
    select ('00000000-0000-4000-8000-' || lpad(number::text, 12, '0'))::uuid,
      ('c0000000-0000-4000-8000-' || lpad((number % ${clients}::int + 1)::text, 12, '0'))::uuid,
      'Consignment ' || number || ' of tea', 'AWB' || number, number % 10 + 1,
      private.stage_name((number % 10 + 1)::smallint),
      case when number % 10 = 9 then 'nobody' when number % 4 = 0 then 'client' else 'company' end,
      now() - make_interval(mins => number), now() - make_interval(mins => number),
      now() - make_interval(mins => number), now() - make_interval(mins => number),
      'Client ' || number % ${clients}::int + 1, 4, 4, case when number % 4 = 0 then current_date - number % 400 end,
      case when number % 3 = 0 then 'mombasa' end, case when number % 3 = 0 then current_date - number % 400 - 4 end,
      case when number % 3 = 0 then 'container-20' end, case when number % 3 = 0 then current_date - number % 400 end
    from generate_series(1, ${shipments}::int) as number
    on conflict do nothing`;
  await sql`
    insert into public.charges (shipment_id, item, amount, currency, due_on)
    select id, 'duties', 1000, 'KES', due_on from public.shipments where due_on is not null on conflict do nothing`;
  await sql`
    insert into public.documents (shipment_id, user_id, name, uploaded, verified, storage_path, uploaded_at)
    select shipment.id, shipment.user_id, document.name, true, number <> 4, shipment.id || '/' || document.name,
      shipment.created_at
    from public.shipments as shipment,
      unnest(array['Commercial Invoice', 'Packing List', 'Insurance Certificate', 'Bill of Lading'])
        with ordinality as document (name, number)
    on conflict do nothing`;
  await sql`
    insert into public.audit_log (actor_name, action, shipment_id, created_at)
    select 'Team member ' || number % 20, 'shipment move', shipment.id, shipment.created_at
    from (select id, created_at, row_number() over () as number from public.shipments) as shipment
    where not exists (select from public.audit_log where audit_log.shipment_id = shipment.id)`;
  // Each shipment has visited all earlier stages. The visits of all shipments ended during the last 12 months.
  await sql`
    insert into private.stage_visits (
      shipment_id, stage, is_first, started_at, ended_at, client_seconds, company_seconds, counted_until
    )
    select shipment.id, visited, visited = 1, last - interval '1 day', case when visited < shipment.stage then last end,
      case when visited < 10 then random() * 500000 else 0 end, case when visited < 10 then random() * 900000 else 0 end, last
    from public.shipments as shipment, generate_series(1, shipment.stage) as visited,
      lateral (select now() - random() * interval '330 days' as last where shipment.stage > 0 and visited > 0) as ended
    where not exists (select from private.stage_visits where stage_visits.shipment_id = shipment.id)`;
  await sql.unsafe("set session_replication_role = origin");
  await sql.unsafe("analyze");
}
