/** The list is the page: desk.shipments.tsx. */
export default function NoShipment() {
  return null;
}
