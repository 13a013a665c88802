import { getDocument, type LoggedInClient, type newShipment, type newStaffMember } from "./route-fixtures.ts";
import type { TestApp, TestBrowser } from "./test-app.ts";

export type StaffMember = Awaited<ReturnType<typeof newStaffMember>>;
export type TestShipment = Awaited<ReturnType<typeof newShipment>>;

/** The fields of the form for a note. Tests send these fields to pages that do not contain the form. */
export const noteForm = { intent: "note", note: "Sent by hand", reason: "By hand", email: "x@client.example" };

/**
 * Returns the URL path of every page of the desk, with existing records. The shipment has a file for its packing list.
 */
export async function listDeskAddresses(
  app: TestApp,
  viewer: TestBrowser,
  client: LoggedInClient,
  shipment: TestShipment,
): Promise<string[]> {
  const { id: document } = await getDocument(app.company, shipment.id, "Packing List");
  const [factor] = (await viewer.open("/desk/2fa")).all("main li a");
  return [
    ...["/desk", "/desk/shipments", "/desk/shipments?q=secret&stage=1&waiting=client&page=1", shipment.desk],
    ...[`${shipment.desk}/arrival`, `${shipment.desk}/move`, `${shipment.desk}/withdraw`],
    ...[`/desk/shipments/bulk-move?moved=${shipment.id}`, "/desk/clients", `/desk/clients/${client.id}`],
    ...[`/desk/clients/${client.id}/shipments`, "/desk/invitations", "/desk/team", "/desk/log"],
    ...["/desk/log?what=document+open&opened=hide", "/desk/2fa", "/desk/report", "/desk/report.csv"],
    ...[factor?.getAttribute("href") ?? "", "/desk/session", "/desk/shipments.csv?q=secret", "/desk/log.csv"],
    ...["", "/file", "/view"].map((part) => `${shipment.desk}/documents/${document}${part}`),
    ...["add-file", "remove-file"].map((page) => `${shipment.desk}/${page}/${document}`),
  ];
}
