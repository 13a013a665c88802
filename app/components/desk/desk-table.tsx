import type { ReactNode } from "react";
import { Link, useLocation } from "react-router";
import type { ShownTime } from "~/lib/dates";

/** `sort` is the column's value of the query parameter `sort`. A list cannot be sorted by a column without it. */
export type Column = { label: ReactNode; sort?: string; className?: string };

/** Returns the address of the list with an open row. */
export function useOpenRowAddress() {
  const { pathname, search } = useLocation();
  return (id: string) => {
    const parameters = new URLSearchParams(search);
    parameters.set("open", id);
    return `${pathname}?${parameters}`;
  };
}

/** A list of the desk. `defaultSort` is the list's order without the query parameter `sort`. */
export function DeskTable(props: { columns: Column[]; defaultSort: string; label: string; children: ReactNode }) {
  const { columns, defaultSort, label, children } = props;
  const { pathname, search } = useLocation();
  const current = new URLSearchParams(search).get("sort") ?? defaultSort;
  const createAddress = (sort: string) => {
    const parameters = new URLSearchParams(search);
    parameters.set("sort", current === sort ? `-${sort}` : sort);
    for (const name of ["page", "open"]) parameters.delete(name);
    return `${pathname}?${parameters}`;
  };
  return (
    <table className="desk-table" aria-label={label}>
      <thead>
        <tr>
          {columns.map(({ label, sort, className }, index) => (
            <th
              key={sort ?? index}
              scope="col"
              className={className}
              aria-sort={current === sort ? "ascending" : current === `-${sort}` ? "descending" : undefined}
            >
              {sort ? <Link to={createAddress(sort)}>{label}</Link> : label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

export function RelativeTime({ time: { text, full } }: { time: ShownTime }) {
  return <time title={full}>{text}</time>;
}
