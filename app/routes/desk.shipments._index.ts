import { noForm } from "~/lib/desk.server";

export const action = noForm;

/** The list is the page: desk.shipments.tsx. */
export default function NoShipment() {
  return null;
}
