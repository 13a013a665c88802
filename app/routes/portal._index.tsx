import { Form, Link, useOutletContext } from "react-router";
import { inputLook } from "~/components/field";
import { Title } from "~/components/title";
import { Button, buttonLook } from "~/components/ui/button";
import { STAGES } from "~/models/shipment";
import type { Overview } from "./portal";

/** Shown while no shipment is selected. */
export default function Welcome() {
  const { who, isEmpty, work, pages } = useOutletContext<Overview>();
  return (
    <>
      <Title>My Shipments</Title>
      {/* Who looks for something wants to see what was found, on a phone without scrolling. */}
      {pages.all === "" && (
        <>
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
      )}
      {!isEmpty && <Find key={pages.all} {...pages} />}
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
        {moves.map(({ id, name, text, to }) => (
          <li key={id}>
            <Link to={to} className="block px-4 py-3 no-underline hover:text-action">
              <span className="block font-semibold wrap-anywhere">{name} </span>
              <span className="text-sm text-quiet">{text}</span>
            </Link>
          </li>
        ))}
      </ul>
      <p className="mt-3 text-sm text-quiet">
        {yours > moves.length && (
          <>
            <Link to="/portal?turn=client" className="underline">
              All {upTo(yours)} that are your move
            </Link>
            {". "}
          </>
        )}
        {upTo(ours)} with us, {upTo(closed)} closed.
      </p>
    </section>
  );
}

/** A count that stops at 100. */
const upTo = (count: number) => (count >= 100 ? "99+" : count);

/** Search over all shipments, by a GET: what is found has an address. */
function Find({ q, stage, turn, all }: Overview["pages"]) {
  return (
    <Form role="search" action="/portal" className="mt-6 grid max-w-xl grid-cols-2 gap-2 print:hidden">
      <label htmlFor="find" className="col-span-2 -mb-1 text-sm font-semibold">
        Find a shipment
      </label>{" "}
      <input
        id="find"
        type="search"
        name="q"
        defaultValue={q}
        placeholder="Name, AWB/BL or number"
        autoComplete="off"
        className={`col-span-2 ${inputLook}`}
      />
      <select name="turn" aria-label="Whose move" defaultValue={turn ?? ""} className={inputLook}>
        <option value="">All moves</option>
        <option value="client">Your move</option>
        <option value="company">With us</option>
        <option value="closed">Closed</option>
      </select>
      <select name="stage" aria-label="Stage" defaultValue={stage ?? ""} className={inputLook}>
        <option value="">Any stage</option>
        {STAGES.map((name, index) => (
          <option key={name} value={index + 1}>
            {name}
          </option>
        ))}
      </select>
      <Button>Find</Button>{" "}
      <a href={`/portal/shipments.csv${all}`} className={buttonLook("quiet")}>
        Download as CSV
      </a>
    </Form>
  );
}
