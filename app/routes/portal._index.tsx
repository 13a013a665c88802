import { useOutletContext } from "react-router";
import { Title } from "~/components/title";
import type { Overview } from "./portal";

/** Shown while no shipment is selected. */
export default function Welcome() {
  const { who, isEmpty } = useOutletContext<Overview>();
  return (
    <>
      <Title>My Shipments</Title>
      {who && (
        <p className="text-lg">
          Welcome, <span className="font-semibold">{who}</span>.
        </p>
      )}
      <p className="mt-1 text-quiet">
        {isEmpty
          ? 'You have no shipments yet. Click "Create Shipment" to get started!'
          : "Choose a shipment to see its stage, documents, payments and history."}
      </p>
    </>
  );
}
