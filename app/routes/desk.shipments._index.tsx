import { useEffect, useState } from "react";
import { Form, Link, useOutletContext } from "react-router";
import { createSearchField, DeskWaitingOnLabel, FilterPager } from "~/components/desk/audit-entry-list";
import { stageOptions } from "~/components/desk/stage-options";
import { Field, inputClass, SelectField } from "~/components/forms/field";
import { PageAccountField } from "~/components/forms/form";
import { PageHeading } from "~/components/site/title";
import { Button } from "~/components/ui/button";
import { useIsHydrated } from "~/components/ui/hydration";
import { deskWaitingOnLabels } from "~/models/desk-labels";
import { textLimits } from "~/models/limits";
import { lastStage } from "~/models/shipment";
import { createShipmentSearch, type ShipmentFilter } from "~/models/shipment-filter";
import type { DeskShipmentListItem, loader } from "./desk.shipments";

export { noFormAction as action } from "~/lib/http/file-route.server";

/** The parent route loads the list, because the parent route also shows the list next to an open shipment. */
export default function ShipmentList() {
  const { shipments, hasMore, filter, request } = useOutletContext<Awaited<ReturnType<typeof loader>>>();
  return (
    <>
      <PageHeading title="Shipments" className="mb-4 text-xl" />
      <ShipmentSearch filter={filter} />
      <BulkMove shipments={shipments} filter={filter} request={request} />
      <FilterPager path="/desk/shipments" filter={filter} hasMore={hasMore} />
      <p className="mt-4">
        <a
          href={`/desk/shipments.csv${createShipmentSearch({ ...filter, page: 1 })}`}
          className="inline-flex min-h-11 items-center underline"
        >
          Download as CSV
        </a>
      </p>
    </>
  );
}

function ShipmentSearch({ filter }: { filter: ShipmentFilter }) {
  return (
    <Form
      key={createShipmentSearch(filter)}
      role="search"
      className="print:hidden grid items-end gap-x-4 sm:grid-cols-[2fr_1fr_1fr_auto_auto]"
    >
      <Field
        field={createSearchField("q", filter.q)}
        label="Find a shipment"
        hint="Name, AWB/BL, container, shipment number or client"
        type="search"
        optional
        autoComplete="off"
        spellCheck={false}
      />
      <SelectField
        field={createSearchField("stage", String(filter.stage ?? ""))}
        label="Stage"
        options={stageOptions}
        prompt="All stages"
      />
      <SelectField
        field={createSearchField("waiting", filter.waiting ?? "")}
        label="Who acts next"
        options={Object.entries(deskWaitingOnLabels)}
        prompt="Anyone"
      />
      <label className="mb-5 flex min-h-11 items-center gap-2 text-sm">
        <input type="checkbox" name="check" value="1" defaultChecked={filter.needsCheck} className="size-5" />
        Only shipments with documents to check
      </label>
      <Button className="mb-5">Find</Button>
    </Form>
  );
}

const bulkFormId = "selected-shipments";

function BulkMove(props: { shipments: DeskShipmentListItem[]; filter: ShipmentFilter; request: string }) {
  const { shipments, filter, request } = props;
  if (shipments.length === 0) return <p className="my-4 text-quiet">No shipments found.</p>;
  return (
    <Form method="post" action="/desk/shipments/bulk-move" id={bulkFormId} className="group">
      <PageAccountField />
      <input type="hidden" name="idempotencyKey" value={request} />
      <input type="hidden" name="list" value={createShipmentSearch(filter)} />
      <ul className="ruled rounded-label border border-line bg-raised">
        {shipments.map((shipment) => (
          <li key={shipment.id} className="flex items-center gap-1 has-checked:bg-sunken">
            <label className="flex size-11 shrink-0 items-center justify-center">
              <span className="sr-only">{shipment.name}</span>
              <input
                type="checkbox"
                name="shipment"
                value={shipment.id}
                disabled={shipment.stage === lastStage}
                className="size-5"
              />
            </label>
            <input type="hidden" name={`expectedVersion-${shipment.id}`} value={shipment.version} />
            <Link
              data-row
              to={`/desk/shipments/${shipment.id}${createShipmentSearch(filter)}`}
              className="grid min-w-0 flex-1 gap-x-4 py-2 pr-4 no-underline hover:text-action md:grid-cols-[2fr_1fr_1fr_auto]"
            >
              <span className="min-w-0">
                <span className="block font-semibold wrap-anywhere">{shipment.name} </span>
                <span className="text-sm wrap-anywhere text-quiet">{shipment.client} </span>
              </span>
              <span className="text-sm">
                {shipment.stage}/{lastStage} {shipment.status}{" "}
              </span>
              <span className="text-sm">
                <DeskWaitingOnLabel waitingOn={shipment.waitingOn} />
                {shipment.numbers && (
                  <span className="block font-mono text-quiet wrap-anywhere"> {shipment.numbers}</span>
                )}{" "}
              </span>
              <span className="text-sm text-quiet tabular-nums">{shipment.changed}</span>
            </Link>
          </li>
        ))}
      </ul>
      <div className="sticky bottom-0 z-10 md:static flex flex-wrap items-end gap-2 border-t border-line bg-surface py-2 print:hidden">
        {/* On phones, the bar covers part of the list, so this field appears only when a shipment is selected. */}
        <label className="flex grow items-center gap-3 text-sm font-semibold group-not-has-checked:hidden sm:max-w-xs md:block md:group-not-has-checked:block">
          Location
          <input
            name="location"
            maxLength={textLimits.location}
            autoComplete="off"
            className={`font-normal md:mt-1 ${inputClass}`}
          />
        </label>
        <Button look="action">
          Move to the next stage
          <SelectionCount />
        </Button>
        <SelectAllButton />
      </div>
    </Form>
  );
}

function SelectAllButton() {
  const isHydrated = useIsHydrated();
  if (!isHydrated) return null;
  const toggleAll = () => {
    const element = document.getElementById(bulkFormId);
    const boxes = [...(element?.querySelectorAll<HTMLInputElement>("input[type=checkbox]:not(:disabled)") ?? [])];
    const shouldSelect = !boxes.every(({ checked }) => checked);
    for (const box of boxes) box.checked = shouldSelect;
    element?.dispatchEvent(new Event("change"));
  };
  return (
    <Button type="button" onClick={toggleAll}>
      Select all
    </Button>
  );
}

function SelectionCount() {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const element = document.getElementById(bulkFormId);
    const updateCount = () => setCount(element?.querySelectorAll("input[type=checkbox]:checked").length ?? 0);
    updateCount();
    element?.addEventListener("change", updateCount);
    return () => element?.removeEventListener("change", updateCount);
  });
  return count > 0 ? ` (${count})` : null;
}
