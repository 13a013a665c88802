import { useEffect, useRef } from "react";
import { Link } from "react-router";
import type { ShipmentReview } from "~/actions/open-shipments.server";
import { SubmitButton } from "~/components/forms/form";
import { FormDisclosure, IntentForm } from "~/components/forms/intent-form";
import { focusInView } from "~/components/ui/page-navigation";
import { LinesForm } from "./lines-form";

/** The text of the lines travels through the form, so that the server reads the same lines again. */
export function Review({ review, typed, maxLines }: { review: ShipmentReview; typed: string; maxLines: number }) {
  const { lines, headingLine, separator } = review;
  const wrongCount = lines.filter(({ problems }) => problems.length > 0).length;
  const summary = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    // Wrong lines have an error summary, which takes the focus.
    if (review && wrongCount === 0 && summary.current) focusInView(summary.current);
  }, [review, wrongCount]);
  return (
    <>
      <p ref={summary} tabIndex={-1} className="mb-3">
        {wrongCount === 0
          ? "Nothing is saved yet. Compare the table with your list, then open the shipments."
          : `Nothing is saved. ${formatCount(wrongCount, "line is", "lines are")} wrong. Change the lines, then check the lines again.`}{" "}
        {separator && `The cells are separated by ${separator}.`}{" "}
        {headingLine && `We skipped the headings in line ${headingLine}.`}
      </p>
      <ReviewTable review={review} />
      {wrongCount === 0 && (
        <IntentForm
          intent="open-several"
          values={{ confirmed: "yes", warningCount: String(review.warnings.length), lines: typed }}
          idempotent
          className="my-4"
        >
          <p className="mb-3 text-sm text-quiet">The client gets one email, unless the client has unsubscribed.</p>
          <SubmitButton pending="Opening…">Open {formatCount(lines.length, "shipment", "shipments")}</SubmitButton>
        </IntentForm>
      )}
      <div className="-mx-4">
        <FormDisclosure title="Change the lines" open={wrongCount > 0}>
          <LinesForm typed={typed} maxLines={maxLines} />
        </FormDisclosure>
      </div>
    </>
  );
}

const formatCount = (count: number, one: string, several: string) => `${count} ${count === 1 ? one : several}`;

function ReviewTable({ review }: { review: ShipmentReview }) {
  return (
    <table className="w-full rounded-label border border-line bg-raised text-left text-sm">
      <caption className="sr-only">Shipments in your lines</caption>
      <thead className="max-md:sr-only">
        <tr className="*:px-3 *:py-2">
          <th scope="col">Line</th>
          <th scope="col">Name</th>
          <th scope="col">AWB/BL</th>
          <th scope="col">Containers</th>
          <th scope="col">Check</th>
        </tr>
      </thead>
      <tbody>
        {review.lines.map(({ line, name, awb, containers, problems }) => (
          <tr
            key={line}
            className="flex flex-wrap gap-x-3 border-t border-line px-3 py-2 align-top md:table-row md:*:px-3 md:*:py-2"
          >
            <td className="text-quiet tabular-nums">{line} </td>
            <th scope="row" className="wrap-anywhere">
              {name}{" "}
            </th>
            <td className="font-mono wrap-anywhere md:min-w-[16ch]">{awb} </td>
            <td className="font-mono wrap-anywhere md:min-w-[14ch]">{containers} </td>
            <td className="max-md:w-full">
              {problems.length > 0 && <span className="font-semibold text-failure">{problems.join(" ")} </span>}
              {review.warnings
                .filter((warning) => warning.line === line)
                .map(({ text, shipment }) => (
                  <span key={text} className="block text-attention">
                    {shipment ? (
                      <Link to={`/desk/shipments/${shipment}`} className="underline">
                        {text}
                      </Link>
                    ) : (
                      text
                    )}{" "}
                  </span>
                ))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
