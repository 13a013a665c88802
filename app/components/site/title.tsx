import { useSiteData } from "~/components/site/site-data";
import { ErrorSummary, type FormErrors } from "../forms/form";

export function Title({ rejected = false, children }: { rejected?: boolean; children: string }) {
  const company = useSiteData()?.company.name;
  return <title>{`${rejected ? "Error: " : ""}${children}${company ? ` · ${company}` : ""}`}</title>;
}

/** Renders `title` as the page's title element and as h1. Between the two, renders the errors of a rejected form. */
export function PageHeading({ title, className, form }: { title: string; className: string; form?: FormErrors }) {
  return (
    <>
      <Title rejected={form?.actionData !== undefined}>{title}</Title>
      {form && <ErrorSummary {...form} />}
      <h1 className={className}>{title}</h1>
    </>
  );
}
