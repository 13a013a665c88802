import type { CitedRates } from "~/models/cost.server";

export function Documents({ documents, what }: { documents: CitedRates["documents"]; what: string | undefined }) {
  return (
    <>
      <h2 className="mt-12 text-xl">Documents and when you need them</h2>
      <ol className="mt-4 ml-2 border-l-2 border-line text-sm">
        {documents.map(({ by, items }) => (
          <li
            key={by}
            className="relative pb-5 pl-6 before:absolute before:top-1 before:-left-[7px] before:size-3 before:rounded-full before:border-2 before:border-action before:bg-surface last:pb-0"
          >
            <h3>{by}</h3>
            <ul className="mt-1 grid max-w-prose gap-1 text-quiet">
              {items
                .filter((item) => !item.for || item.for.some((kind) => kind === what))
                .map(({ text }) => (
                  <li key={text}>{text}</li>
                ))}
            </ul>
          </li>
        ))}
      </ol>
    </>
  );
}
