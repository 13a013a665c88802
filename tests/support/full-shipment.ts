import type { TestShipment } from "./desk-fixtures.ts";
import { type LoggedInClient, newShipment, uploadDocument } from "./route-fixtures.ts";
import { setAwb } from "./service-role.ts";
import { moveShipment, resultOrThrow, sendNote, setCharge, setChargePaid } from "./staff-actions.ts";
import { createPdf, type TestApp } from "./test-app.ts";

/** Creates a shipment at stage 2 with a file, a paid and an unpaid charge, a note and an AWB/BL. */
export async function newFullShipment(app: TestApp, client: LoggedInClient, name: string): Promise<TestShipment> {
  const shipment = await newShipment(app, client, name);
  const [company, { id, portal }] = [app.company, shipment];
  await uploadDocument(client.browser, portal, "Commercial Invoice", createPdf("secret-invoice.pdf", 5000));
  const charge = { item: "duties", amount: 12500.5, currency: "KES", due_on: "2030-05-04", note: "At the bank" };
  const unpaid = { ...charge, item: "idf-fee", amount: 700, note: undefined };
  resultOrThrow(await setCharge(company, id, charge, {}));
  resultOrThrow(await setChargePaid(company, id, { item: "duties", paid: true }, {}));
  resultOrThrow(await setCharge(company, id, unpaid, {}));
  const move = { location: "Mombasa port", note: "Ask for Otieno", despiteMissing: true };
  resultOrThrow(await moveShipment(company, id, move, {}));
  resultOrThrow(await sendNote(company, id, "Bring your passport", {}));
  await setAwb(company, id, "MSKU-9001");
  return shipment;
}
