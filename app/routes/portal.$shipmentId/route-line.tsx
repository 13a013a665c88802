import { useRef } from "react";
import { useMotion } from "~/components/motion";
import { Stations, WaitingOnLabel } from "~/components/portal/route-line";
import { Art } from "~/components/site/art";
import { buttonClass } from "~/components/ui/button";
import { STAGES } from "~/models/shipment";
import type { Route } from "./+types/route";

export function RouteLine({ shipment, nextAction, button, stageTexts }: Route.ComponentProps["loaderData"]) {
  const { id, stage, status } = shipment;
  const line = useRef<HTMLDivElement>(null);
  const motion = useMotion();
  const listStages = (texts: readonly string[]) =>
    texts.map((text, index) => (
      <li
        key={text}
        aria-current={index === stage - 1 ? "step" : undefined}
        className={index === stage - 1 ? "font-semibold" : index < stage - 1 ? "text-done" : "text-quiet"}
      >
        {text}
      </li>
    ));
  return (
    <section aria-label="Progress" className="rounded-label border border-line bg-raised px-4 py-4">
      <div className="flex items-center gap-3">
        <Art name={`stage-${String(stage).padStart(2, "0")}`} className="size-12 shrink-0" />
        <p className="flex flex-wrap items-baseline gap-x-3">
          <span className="text-lg font-semibold">{status} </span>
          <span className="text-sm text-quiet tabular-nums">
            Stage {stage}/{STAGES.length}
          </span>
        </p>
      </div>
      <progress className="sr-only" max={STAGES.length} value={stage} aria-label="Stages reached" />
      <div ref={line}>
        <Stations stage={stage} />
        {motion && <motion.StageAnimation line={line} shipment={id} stage={stage} />}
      </div>
      {/* Hidden from screen readers, because the title and the list below contain the same stage names. */}
      <p aria-hidden className="mb-3 grid grid-cols-[1fr_min-content_1fr] gap-2 text-xs text-quiet lg:hidden">
        <span>{STAGES[stage - 2]}</span>{" "}
        <b
          className={`text-ink ${stage === 1 ? "order-first" : stage === STAGES.length ? "order-last text-right" : "text-center"}`}
        >
          {status}
        </b>{" "}
        <span className="text-right">{STAGES[stage]}</span>
      </p>
      <ol className="mb-3 hidden grid-cols-10 text-center text-[0.6875rem] leading-tight wrap-normal *:-mx-3 lg:grid lg:[&>li:nth-child(even)]:mt-8">
        {listStages(STAGES)}
      </ol>
      <p className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 text-sm">
        <span>
          <WaitingOnLabel waitingOn={nextAction.waitingOn} />. {nextAction.text}
        </span>{" "}
        {button && (
          <a href={button.at} className={buttonClass("action", "print:hidden")}>
            {button.words}
          </a>
        )}
      </p>
      <details className="mt-2 text-sm print:hidden">
        <summary className="inline-flex min-h-11 items-center underline">All ten stages</summary>
        <ol className="mt-1 list-decimal pl-6 wrap-anywhere">{listStages(stageTexts)}</ol>
      </details>
    </section>
  );
}
