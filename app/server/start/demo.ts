import { createHash } from "node:crypto";
import type { AppSupabaseClient } from "../../lib/supabase/client.server.ts";
import { objectPath } from "../../models/document.server.ts";
import { lastStage } from "../../models/shipment.ts";
import { resultOrThrow, runStaffAction } from "../../models/staff.server.ts";
import { createDemoPage, type DemoCargo, renderPdf, renderScan } from "./demo-files.ts";
import { createDemoLead, type DemoLead, getDataOrThrow, readDemoLead } from "./demo-lead.ts";

export const demoClient = { email: "demo@mizigo.example", password: "karibu-mombasa" };

const clientNames: Readonly<Record<string, string>> = {
  "d0000000-0000-4000-8000-000000000001": "Amina Demo, Nairobi",
  "d0000000-0000-4000-8000-000000000002": "Joseph Demo, Mombasa",
  "d0000000-0000-4000-8000-000000000003": "Halima Demo, Nairobi",
};

type DemoDocuments = Pick<DemoCargo, "shipper" | "route" | "packages" | "kilograms" | "goods"> & {
  scanned?: string[];
  rejected?: string;
  missing?: string[];
};

/** The documents of the shipments in supabase/seed.sql, by shipment ID. */
const demoDocuments: Readonly<Record<string, DemoDocuments>> = {
  "5a000000-0000-4000-8000-000000000001": {
    shipper: "Sahyadri Milling Machines, Pune",
    route: ["Nhava Sheva, India", "Eldoret, Kenya", "MV Kipepeo, voyage 118S"],
    packages: "14 crates in one 20 ft container",
    kilograms: 2160,
    goods: [
      ["8437.90", "Hammers and screens for maize mills", 640, 11.4],
      ["4010.35", "Toothed drive belts", 120, 14.5],
    ],
  },
  "5b000000-0000-4000-8000-000000000002": {
    shipper: "Taihu Solar Works, Wuxi",
    route: ["Shanghai, China", "Nairobi, Kenya", "MV Pwani Star, voyage 044W"],
    packages: "52 pallets in two 40 ft containers",
    kilograms: 41600,
    goods: [["8541.43", "Solar panels, 550 W", 1560, 68]],
    missing: ["Bill of Lading"],
  },
  "5c000000-0000-4000-8000-000000000003": {
    shipper: "Rheinland Labor, Cologne",
    route: ["Frankfurt, Germany", "Entebbe, Uganda", "Flight SX 3415"],
    packages: "9 cartons, cooled",
    kilograms: 184,
    goods: [
      ["3822.19", "Reagents for blood tests", 300, 42],
      ["3926.90", "Pipette tips, boxes of 1,000", 80, 19.9],
    ],
  },
  "6a000000-0000-4000-8000-000000000005": {
    shipper: "Indus Valley Rice Mills, Karachi",
    route: ["Karachi, Pakistan", "Mombasa, Kenya", "MV Tana River, voyage 207E"],
    packages: "520 bags in one 20 ft container",
    kilograms: 25400,
    goods: [
      ["1006.30", "Basmati rice, bags of 50 kg", 480, 41.5],
      ["1006.40", "Broken rice, bags of 25 kg", 40, 9.8],
    ],
    scanned: ["Packing List", "Bill of Lading"],
    rejected: "Bill of Lading",
    missing: ["Insurance Certificate"],
  },
  "6b000000-0000-4000-8000-000000000006": {
    shipper: "Konkan Tyres, Mumbai",
    route: ["Nhava Sheva, India", "Nairobi ICD, Kenya", "MV Kipepeo, voyage 121S"],
    packages: "260 tyres in one 40 ft container",
    kilograms: 15900,
    goods: [["4011.20", "Tyres for lorries, 315/80 R22.5", 260, 138]],
  },
  "6c000000-0000-4000-8000-000000000007": {
    shipper: "Gulf Crescent Polymers, Dubai",
    route: ["Jebel Ali, United Arab Emirates", "Mombasa, Kenya", "MV Pwani Star, voyage 051W"],
    packages: "640 bags in one 20 ft container",
    kilograms: 16300,
    goods: [["3902.10", "Polypropylene, bags of 25 kg", 640, 29.5]],
  },
  "6d000000-0000-4000-8000-000000000008": {
    shipper: "Huangpu Medical Furniture, Shanghai",
    route: ["Shanghai, China", "Kampala, Uganda", "MV Tana River, voyage 198E"],
    packages: "120 cartons in one 40 ft container",
    kilograms: 9850,
    goods: [
      ["9402.90", "Hospital beds, three cranks", 96, 312],
      ["9404.29", "Mattresses, washable", 96, 47.5],
    ],
  },
  "7a000000-0000-4000-8000-000000000009": {
    shipper: "Fenland Textile Sorting, Ipswich",
    route: ["Felixstowe, United Kingdom", "Mombasa, Kenya", "MV Savanna Wind, voyage 630N"],
    packages: "550 bales in one 40 ft container",
    kilograms: 24750,
    goods: [["6309.00", "Used clothing, bales of 45 kg", 550, 52]],
  },
  "7b000000-0000-4000-8000-00000000000a": {
    shipper: "Red Sea Nutrients, Jeddah",
    route: ["Jeddah, Saudi Arabia", "Nakuru, Kenya", "MV Savanna Wind, voyage 634N"],
    packages: "1,040 bags in two 20 ft containers",
    kilograms: 52300,
    goods: [["3102.10", "Urea, 46 per cent nitrogen, bags of 50 kg", 1040, 22.8]],
    scanned: ["Insurance Certificate", "Bill of Lading"],
  },
  "7c000000-0000-4000-8000-00000000000b": {
    shipper: "Oresund Cold Chain, Copenhagen",
    route: ["Copenhagen, Denmark", "Entebbe, Uganda", "Flight QD 8160"],
    packages: "18 crates",
    kilograms: 1740,
    goods: [
      ["8418.50", "Vaccine refrigerators, solar", 18, 2480],
      ["9025.19", "Temperature loggers", 36, 61],
    ],
  },
  "7d000000-0000-4000-8000-00000000000c": {
    shipper: "Alster Anlagenbau, Hamburg",
    route: ["Hamburg, Germany", "Kigali, Rwanda", "MV Savanna Wind, voyage 628N"],
    packages: "31 crates in one 40 ft container",
    kilograms: 18200,
    goods: [
      ["8422.30", "Bottling line for juice", 1, 184000],
      ["8422.90", "Spare parts for the bottling line", 1, 12600],
    ],
    scanned: ["Bill of Lading"],
    missing: ["Insurance Certificate"],
  },
};

/**
 * Stores the files of the demo data and creates its team member with the role lead, unless an earlier start has done
 * so. Returns the lead, or null if the database has no demo data or the lead was removed from the team.
 */
export async function fillDemo(serviceRole: AppSupabaseClient, dataDir: string): Promise<DemoLead | null> {
  const lead = readDemoLead(dataDir);
  if (lead) {
    const members = getDataOrThrow(
      await serviceRole.from("staff_members").select("removed_at").eq("account_id", lead.account),
    );
    // If the lead is not in the database, the stored file about the lead comes from another database. The demo data of
    // this database are then incomplete.
    if (members[0]) return members[0].removed_at ? null : lead;
  }
  if (!getDataOrThrow(await serviceRole.rpc("find_account_id", { email: demoClient.email }))) return null;
  await storeDemoDocuments(serviceRole);
  return createDemoLead(serviceRole, dataDir);
}

type DemoShipment = Awaited<ReturnType<typeof fetchDemoShipments>>[number];

async function fetchDemoShipments(serviceRole: AppSupabaseClient) {
  const columns = "id, user_id, awb, stage, created_at" as const;
  const related = "documents (id, name, uploaded, rejected_at), tracking_events (stage, created_at)" as const;
  return getDataOrThrow(
    await serviceRole.from("shipments").select(`${columns}, ${related}`).in("id", Object.keys(demoDocuments)),
  );
}

/**
 * Stores the demo files. One statement records all files in the database, so that an interrupted start records either
 * all files or none. The next start can then repeat all steps.
 */
async function storeDemoDocuments(serviceRole: AppSupabaseClient): Promise<void> {
  const shipments = await fetchDemoShipments(serviceRole);
  const auditQuery = serviceRole.from("audit_log").select("document_id").eq("action", "document verify");
  const log = getDataOrThrow(await auditQuery.in("shipment_id", Object.keys(demoDocuments)));
  const verified = new Set(log.map(({ document_id }) => document_id));
  const stored = await Promise.all(shipments.flatMap((shipment) => storeDemoFiles(serviceRole, shipment)));
  const rows = stored.map((row) => ({ ...row, verified: verified.has(row.id) }));

  type Change = Partial<Record<"staff_action_at" | "changed_at" | "waiting_since", string>> & { stage?: number };
  const change = async (id: string, changes: Change) =>
    getDataOrThrow(await serviceRole.from("shipments").update(changes).eq("id", id));
  const closed = shipments.filter(
    ({ stage, tracking_events }) =>
      stage >= lastStage - 1 && tracking_events.some((event) => event.stage === lastStage),
  );
  // Reopens closed shipments, which accept no files, until their documents are stored.
  for (const { id } of closed)
    if (rows.some((row) => row.shipment_id === id)) await change(id, { stage: lastStage - 1 });
  if (rows.length > 0) getDataOrThrow(await serviceRole.from("documents").upsert(rows));
  for (const { id } of closed) await change(id, { stage: lastStage });

  for (const { id, documents, tracking_events: events } of shipments) {
    const { rejected: rejectedName, missing = [] } = demoDocuments[id] as DemoDocuments;
    const rejectedDocument = documents.find(({ name, rejected_at }) => name === rejectedName && !rejected_at);
    const reason = "The second page is missing. The container number is unreadable.";
    const rejection = rejectedDocument && { document_id: rejectedDocument.id, reason, actor_name: "Wanjiru Demo" };
    if (rejection) resultOrThrow(await runStaffAction(serviceRole, "reject_document", rejection));
    // If no document of a shipment waits for verification, all times of the shipment are set to the last event's time.
    const isOld = documents.every((document) => verified.has(document.id) || missing.includes(document.name));
    const [last] = events.map(({ created_at }) => created_at).sort((first, second) => second.localeCompare(first));
    if (isOld && last) await change(id, { staff_action_at: last, changed_at: last, waiting_since: last });
  }
}

function storeDemoFiles(serviceRole: AppSupabaseClient, shipment: DemoShipment) {
  const { scanned = [], missing = [], ...cargoParts } = demoDocuments[shipment.id] as DemoDocuments;
  const { user_id } = shipment;
  const day = new Date(shipment.created_at).toLocaleDateString("en-GB", { dateStyle: "long" });
  const cargo = { ...cargoParts, consignee: clientNames[user_id] ?? "", awb: shipment.awb ?? "", day };
  const missingFiles = shipment.documents.filter(
    (document) => !document.uploaded && !document.rejected_at && !missing.includes(document.name),
  );
  return missingFiles.map(async ({ id, name }) => {
    const page = createDemoPage(name, cargo);
    const [content, media_type, file_name] = scanned.includes(name)
      ? [renderScan(page), "image/png", `Scan of the ${name}.png`]
      : [renderPdf(page), "application/pdf", `${name}.pdf`];
    const document = { id, shipment_id: shipment.id, user_id, name, file_name, media_type, file_size: content.length };
    const storage_path = objectPath(document, file_name);
    const options = { contentType: media_type };
    getDataOrThrow(await serviceRole.storage.from("documents").upload(storage_path, content, options));
    return { ...document, uploaded: true, storage_path, sha256: createHash("sha256").update(content).digest("hex") };
  });
}

export function createSamplePdf(line: string): string {
  return Buffer.from(renderPdf({ title: line, rows: [] })).toString("latin1");
}
