import { Link, useOutletContext } from "react-router";
import { Title } from "~/components/title";
import type { Overview } from "./portal";

/** Shown while no shipment is selected. */
export default function Welcome() {
  const { who, isEmpty, work } = useOutletContext<Overview>();
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
      {!isEmpty && work && <WorkList work={work} />}
    </>
  );
}

/** What waits for the client over all shipments, each one press from where it is done. */
function WorkList({ work: { moves, yours, ours, closed } }: { work: NonNullable<Overview["work"]> }) {
  return (
    <section aria-label="Your move" className="mt-6">
      {/* No heading: the page's own one comes after it, with the list. */}
      <p className="text-lg font-semibold">Your move</p>
      {moves.length === 0 && <p className="mt-2 text-quiet">Nothing waits for you.</p>}
      <ul className="ruled mt-2 rounded-label border border-line bg-raised empty:hidden">
        {moves.map(({ id, name, text }) => (
          <li key={id}>
            <Link to={`/portal/${id}`} className="block px-4 py-3 no-underline hover:text-action">
              <span className="block font-semibold wrap-anywhere">{name} </span>
              <span className="text-sm text-quiet">{text}</span>
            </Link>
          </li>
        ))}
      </ul>
      <p className="mt-3 text-sm text-quiet">
        {yours > moves.length && `${upTo(yours - moves.length)} more are your move. `}
        {upTo(ours)} with us, {upTo(closed)} closed.
      </p>
    </section>
  );
}

/** A count that stops at 100. */
const upTo = (count: number) => (count >= 100 ? "99+" : count);
