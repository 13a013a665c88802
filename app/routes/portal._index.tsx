import { Form, Link, useOutletContext } from "react-router";
import { inputClass } from "~/components/forms/field";
import { Title } from "~/components/site/title";
import { Button, buttonClass } from "~/components/ui/button";
import { STAGES, WAITING_ON, waitingOnLabels } from "~/models/shipment";
import type { PortalOutletContext } from "./portal";

export default function PortalIndexPage() {
  const { displayName, isEmpty, nextActions, listState } = useOutletContext<PortalOutletContext>();
  return (
    <>
      <Title>My Shipments</Title>
      {/* After a search, the page omits this summary, so that phones show the results without scrolling. */}
      {listState.all === "" && (
        <>
          {displayName && (
            <p className="text-lg">
              Welcome, <span className="font-semibold">{displayName}</span>.
            </p>
          )}
          <p className="mt-1 text-quiet">
            {isEmpty
              ? 'You have no shipments yet. Click "Create Shipment" to get started!'
              : "Choose a shipment to see its stage, documents, payments and history."}
          </p>
          {!isEmpty && nextActions && <NextActionList {...nextActions} />}
        </>
      )}
      {!isEmpty && <ShipmentSearch key={listState.all} {...listState} />}
    </>
  );
}

type NextActionListProps = NonNullable<PortalOutletContext["nextActions"]>;

function NextActionList({ items, client, company, nobody }: NextActionListProps) {
  return (
    <section aria-label="Waiting for you" className="mt-6">
      <h2 className="text-lg font-semibold">Waiting for you</h2>
      {items.length === 0 && <p className="mt-2 text-quiet">You have nothing to do now.</p>}
      <ul className="ruled mt-2 rounded-label border border-line bg-raised empty:hidden">
        {items.map(({ id, name, text, to }) => (
          <li key={id}>
            <Link to={to} className="block px-4 py-3 no-underline hover:text-action">
              <span className="block font-semibold wrap-anywhere">{name} </span>
              <span className="text-sm text-quiet">{text}</span>
            </Link>
          </li>
        ))}
      </ul>
      <p className="mt-3 text-sm text-quiet">
        {client > items.length && (
          <>
            <Link to="/portal?waiting=client" className="underline">
              Show all {formatCount(client)} shipments waiting for you
            </Link>
            {". "}
          </>
        )}
        {company > 0 && `With us: ${formatCount(company)}. `}
        {nobody > 0 && `Closed: ${formatCount(nobody)}.`}
      </p>
    </section>
  );
}

const formatCount = (count: number) => (count >= 100 ? "99+" : count);

function ShipmentSearch({ q, stage, waiting, all }: PortalOutletContext["listState"]) {
  return (
    <Form role="search" action="/portal" className="mt-6 grid max-w-xl grid-cols-2 gap-2 print:hidden">
      <label htmlFor="search" className="col-span-2 -mb-1 text-sm font-semibold">
        Find a shipment
      </label>{" "}
      <input
        id="search"
        type="search"
        name="q"
        defaultValue={q}
        placeholder="Name, AWB/BL, container or shipment number"
        autoComplete="off"
        className={`col-span-2 ${inputClass}`}
      />
      <select name="waiting" aria-label="Who acts next" defaultValue={waiting ?? ""} className={inputClass}>
        <option value="">All shipments</option>
        {WAITING_ON.map((value) => (
          <option key={value} value={value}>
            {waitingOnLabels[value]}
          </option>
        ))}
      </select>
      <select name="stage" aria-label="Stage" defaultValue={stage ?? ""} className={inputClass}>
        <option value="">All stages</option>
        {STAGES.map((name, index) => (
          <option key={name} value={index + 1}>
            {name}
          </option>
        ))}
      </select>
      <Button>Find</Button>{" "}
      <a href={`/portal/shipments.csv${all}`} className={buttonClass("quiet")}>
        Download as CSV
      </a>
    </Form>
  );
}
