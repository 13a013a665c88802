import type { ReactNode } from "react";
import { Form } from "react-router";
import { PageHeading } from "~/components/site/title";
import { Button } from "~/components/ui/button";

const controlClass =
  "min-h-9 min-w-0 grow basis-32 lg:grow-0 lg:basis-auto rounded-label border border-edge bg-sunken px-2 text-sm max-sm:min-h-11";

/**
 * The heading of a list, and the fields of its filter in the same line. `search` is the query string of the list. The
 * filter does not change the list's order.
 */
export function FilterBar({ title, search, children }: { title: string; search: string; children: ReactNode }) {
  const sort = new URLSearchParams(search).get("sort");
  return (
    <div className="mb-2 flex flex-wrap items-center gap-x-4 gap-y-2">
      <PageHeading title={title} className="text-lg" />
      <Form
        key={search}
        role="search"
        aria-label={title}
        className="flex grow flex-wrap items-center gap-2 print:hidden lg:justify-end"
      >
        {sort && <input type="hidden" name="sort" value={sort} />}
        {children}
        <Button className="lg:min-h-9 lg:py-1">Find</Button>
      </Form>
    </div>
  );
}

export function FilterSearch({ name = "q", label, value }: { name?: string; label: string; value: string }) {
  return (
    <input
      name={name}
      type="search"
      defaultValue={value}
      aria-label={label}
      placeholder={label}
      title={label}
      autoComplete="off"
      spellCheck={false}
      className={`max-lg:basis-full lg:w-64 ${controlClass}`}
    />
  );
}

export function FilterDay({ name, label, value }: { name: string; label: string; value: string }) {
  return (
    <input type="date" name={name} defaultValue={value} aria-label={label} title={label} className={controlClass} />
  );
}

type FilterSelectProps = {
  name: string;
  label: string;
  value: string | number | null;
  options: [value: string, label: string][];
  prompt: string;
};

export function FilterSelect({ name, label, value, options, prompt }: FilterSelectProps) {
  return (
    <select name={name} defaultValue={value ?? ""} aria-label={label} className={controlClass}>
      <option value="">{prompt}</option>
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {text}
        </option>
      ))}
    </select>
  );
}

export function FilterCheckbox(props: { name: string; value?: string; label: string; isChecked: boolean }) {
  const { name, value = "1", label, isChecked } = props;
  return (
    <label className="flex min-h-9 items-center gap-2 text-sm max-sm:min-h-11">
      <input type="checkbox" name={name} value={value} defaultChecked={isChecked} className="size-5" />
      {label}
    </label>
  );
}
