const kinds = [
  "we open shipments for you",
  "your shipment reaches a new stage",
  "your cargo arrives",
  "we have verified all your documents",
  "we need a new file",
  "a payment is due, or we confirm a payment",
  "free storage ends in two days",
  "we send you a note",
  "we withdraw or restore your shipment",
];

export function ShipmentEmailKinds() {
  return (
    <>
      <p>We email you when:</p>
      <ul className="mb-3 list-disc pl-6">
        {kinds.map((kind) => (
          <li key={kind}>{kind}</li>
        ))}
      </ul>
    </>
  );
}
