import type { about } from "~/models/content.server";

export function Direction({ steps }: { steps: (typeof about)["vision"][] }) {
  return (
    <div className="mt-20 grid gap-y-10 border-l-2 border-action md:grid-cols-2 md:border-t-2 md:border-l-0">
      {steps.map((step) => (
        <section
          key={step.title}
          className="relative pl-6 before:absolute before:top-0 before:-left-[9px] before:size-4 before:rounded-full before:border-2 before:border-action before:bg-surface md:pt-8 md:pr-12 md:pl-0 md:before:-top-[9px] md:before:left-0"
        >
          <h2 className="text-sm text-quiet">{step.title}</h2>
          <p className="mt-2 max-w-prose text-xl text-balance">{step.text}</p>
        </section>
      ))}
    </div>
  );
}
