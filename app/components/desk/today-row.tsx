import type { ReactNode } from "react";
import { Link } from "react-router";
import type { ShownTime } from "~/lib/dates";
import { RelativeTime } from "./desk-table";

type TodayRowProps = {
  item: { shipment_id: string; name: string; client: string; detail: string };
  to: string;
  when: ReactNode;
  isLate?: boolean;
};

export function TodayRow({ item, to, when, isLate = false }: TodayRowProps) {
  return (
    <li>
      <Link
        data-row
        to={`/desk/shipments/${item.shipment_id}${to}`}
        reloadDocument={to.startsWith("/")}
        className="block px-4 py-1.5 text-sm no-underline hover:text-action"
      >
        <span className="flex justify-between gap-x-4">
          <span className="font-semibold wrap-anywhere">{item.name} </span>
          <span className={`text-right ${isLate ? "font-semibold text-failure" : "text-quiet"}`}>{when} </span>
        </span>
        <span className="flex justify-between gap-x-4 text-quiet">
          <span className="wrap-anywhere">{item.client} </span>
          <span className="text-right">{item.detail}</span>
        </span>
      </Link>
    </li>
  );
}

export function SinceTime({ label, time }: { label: string; time: ShownTime }) {
  return (
    <>
      {label} <RelativeTime time={time} />
    </>
  );
}
