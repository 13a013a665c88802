/** The demo's documents: uploaded through the API as the demo client, so that the files are really there. */
import type { Client } from "../../lib/session.server.ts";
import { anonymousBackend, companyBackend } from "../../lib/supabase.server.ts";
import { uploadDocument, verifyDocument } from "../../models/document.server.ts";
import { getShipment, listShipments } from "../../models/shipment.server.ts";
import { lastStage } from "../../models/shipment.ts";

/** The client of supabase/seed.sql. */
export const demo = { email: "demo@mizigo.example", password: "karibu-mombasa" };

/** Uploads the documents of the demo's advanced shipments once. Does nothing when there is no demo client. */
export async function stockDemo(): Promise<void> {
  const company = companyBackend();
  const { data: id } = await company.rpc("find_account", { email: demo.email });
  if (!id) return;
  const stocked = await company.from("documents").select("id").eq("user_id", id).eq("uploaded", true).limit(1);
  if (stocked.data?.length !== 0) return;
  const backend = anonymousBackend();
  const { data } = await backend.auth.signInWithPassword(demo);
  // A second factor was set up in the demo account: the password alone does not open it.
  if (!data.user || data.user.factors?.some(({ status }) => status === "verified")) return;
  const client: Client = {
    id: data.user.id,
    email: demo.email,
    fullName: "",
    backend,
    factors: [],
    hasGivenCode: false,
  };
  const page = await listShipments(client, 1);
  if ("shipments" in page) {
    for (const { id: shipmentId, stage } of page.shipments.filter(({ stage }) => stage > 1)) {
      // At stage 3 one document is still awaited and one is not checked yet, so that every state can be seen.
      const early = stage === 3;
      const move = (to: number) => company.from("shipments").update({ stage: to }).eq("id", shipmentId);
      // A closed shipment takes no file.
      if (stage === lastStage) await move(lastStage - 1);
      const shipment = await getShipment(client, shipmentId);
      const documents = shipment && "documents" in shipment ? shipment.documents : [];
      for (const { id, name } of documents.slice(0, early ? 3 : 4)) {
        const file = new File([samplePdf(`Sample: ${name}`)], `${name}.pdf`);
        const failed = await uploadDocument(client, { id, name, shipmentId }, file);
        if (failed) throw new Error(`The demo could not be stocked: ${failed.reason}`);
        if (!early || name !== "Insurance Certificate") await verifyDocument(company, shipmentId, name);
      }
      if (stage === lastStage) await move(lastStage);
    }
  }
  // Only this session: visitors may have signed in as the demo meanwhile.
  await backend.auth.signOut({ scope: "local" });
}

/** A PDF of one page with one line of text. */
export function samplePdf(line: string): string {
  const text = `BT /F1 24 Tf 72 720 Td (${line.replace(/[()\\]/g, "")}) Tj ET`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    `<< /Length ${text.length} >>\nstream\n${text}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  ];
  let pdf = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const offset = pdf.length;
    pdf += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const start = pdf.length;
  pdf += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join("")}`;
  return `${pdf}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
}
