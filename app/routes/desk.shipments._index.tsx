import { useEffect, useState } from "react";
import { Form, Link, useOutletContext } from "react-router";
import { DeskWaitingOnLabel, ListPager } from "~/components/desk/audit-log-card";
import { type Column, DeskTable, RelativeTime } from "~/components/desk/desk-table";
import { FilterBar, FilterCheckbox, FilterSearch, FilterSelect } from "~/components/desk/filter-bar";
import { stageOptions } from "~/components/desk/stage-options";
import { inputClass } from "~/components/forms/field";
import { PageAccountField } from "~/components/forms/form";
import { Button, TextLink } from "~/components/ui/button";
import { useIsHydrated } from "~/components/ui/hydration";
import { deskWaitingOnLabels, handlerLabels } from "~/models/desk-labels";
import { textLimits } from "~/models/limits";
import { lastStage } from "~/models/shipment";
import type { DeskShipmentListItem, loader } from "./desk.shipments";

export { noFormAction as action } from "~/lib/http/file-route.server";

type ListProps = Awaited<ReturnType<typeof loader>>;

/** The parent route loads the list, because the parent route also shows the list next to an open shipment. */
export default function ShipmentList() {
  const list = useOutletContext<ListProps>();
  const { shipments, hasMore, similar, filter, search } = list;
  return (
    <>
      <FilterBar title="Shipments" search={search}>
        <FilterSearch label="Name, AWB/BL, container, shipment number, client, telephone or note" value={filter.q} />
        <FilterSelect name="stage" label="Stage" value={filter.stage} options={stageOptions} prompt="All stages" />
        <FilterSelect
          name="waiting"
          label="Who acts next"
          value={filter.waiting}
          options={Object.entries(deskWaitingOnLabels)}
          prompt="Waiting on anyone"
        />
        <FilterSelect
          name="handler"
          label="Handled by"
          value={filter.handler}
          options={Object.entries(handlerLabels)}
          prompt="Handled by anyone"
        />
        <FilterCheckbox name="check" label="Documents to check" isChecked={filter.needsCheck} />
      </FilterBar>
      {similar && <p className="my-4">No exact match for “{filter.q}”. Similar shipments:</p>}
      {shipments.length === 0 ? <NoShipments q={filter.q} /> : <ShipmentTable {...list} />}
      <ListPager path="/desk/shipments" page={filter.page} hasMore={hasMore} />
      {/* The CSV contains only exact matches. */}
      {!similar && (
        <p>
          <a
            href={`/desk/shipments.csv${search.replace(/[?&]page=\d+/, "")}`}
            className="inline-flex min-h-11 items-center text-sm underline"
          >
            Download as CSV
          </a>
        </p>
      )}
    </>
  );
}

function NoShipments({ q }: { q: string }) {
  return (
    <p className="my-4 text-quiet">
      No shipments found.{" "}
      {q && <TextLink to={`/desk/clients?${new URLSearchParams({ q })}`}>Search the clients for “{q}”</TextLink>}
    </p>
  );
}

const columns: Column[] = [
  { label: <span className="sr-only">Select</span>, className: "w-11 wide" },
  { label: "Shipment", sort: "name" },
  { label: "Client", sort: "client", className: "w-[13%]" },
  { label: "AWB/BL", sort: "awb", className: "wide w-[11%]" },
  { label: "Stage", sort: "stage", className: "w-[14%]" },
  { label: "Waiting on", sort: "waiting", className: "w-[9%]" },
  { label: "Documents", sort: "documents", className: "wide w-[7%]" },
  { label: "Due", sort: "due", className: "wide w-[10%]" },
  { label: "Free until", sort: "free", className: "wide w-[7%]" },
  { label: "Changed", sort: "changed", className: "wide w-[7%]" },
];

const bulkFormId = "selected-shipments";

function ShipmentTable({ shipments, search, request }: ListProps) {
  return (
    <Form method="post" action="/desk/shipments/bulk-move" id={bulkFormId} className="group">
      <PageAccountField />
      <input type="hidden" name="idempotencyKey" value={request} />
      <input type="hidden" name="list" value={search} />
      <DeskTable columns={columns} defaultSort="-changed" label="Shipments">
        {shipments.map((shipment) => (
          <ShipmentRow key={shipment.id} shipment={shipment} search={search} />
        ))}
      </DeskTable>
      <BulkBar />
    </Form>
  );
}

function ShipmentRow({ shipment, search }: { shipment: DeskShipmentListItem; search: string }) {
  const { id, name, client, numbers, stage, status, waitingOn, documents, due, isLate, free, isFreeOver } = shipment;
  return (
    <tr>
      <td>
        <label className="-my-1 flex size-9 items-center justify-center">
          <span className="sr-only">{name}</span>
          <input type="checkbox" name="shipment" value={id} disabled={stage === lastStage} className="size-5" />
        </label>
        <input type="hidden" name={`expectedVersion-${id}`} value={shipment.version} />
      </td>
      <th scope="row">
        <Link data-row to={`/desk/shipments/${id}${search}`}>
          {name}
        </Link>
      </th>
      <td>{client}</td>
      <td className="wide">{numbers}</td>
      <td>
        {stage}/{lastStage} <span className="wide">{status}</span>
      </td>
      <td className="end">
        <DeskWaitingOnLabel waitingOn={waitingOn} />
      </td>
      <td className="wide">{documents}</td>
      <td className={`wide ${isLate ? "text-failure" : ""}`}>{due}</td>
      <td className={`wide ${isFreeOver ? "text-failure" : ""}`}>{free}</td>
      <td className="wide">
        <RelativeTime time={shipment.changed} />
      </td>
    </tr>
  );
}

/** The bar stays in view while a shipment is selected. Otherwise it is below the table. */
function BulkBar() {
  return (
    <div className="z-10 mt-2 flex flex-wrap items-center gap-2 border-t border-line bg-surface py-2 group-has-checked:sticky group-has-checked:bottom-0 print:hidden">
      <label className="flex grow items-center gap-3 text-sm font-semibold sm:max-w-xs">
        Location
        <input
          name="location"
          maxLength={textLimits.location}
          autoComplete="off"
          className={`font-normal ${inputClass}`}
        />
      </label>
      <Button look="action">
        Move to the next stage
        <SelectionCount />
      </Button>
      <SelectAllButton />
    </div>
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
