import { useRef } from "react";
import { type NextAction, STAGES, type WaitingOn, waitingOnLabels } from "~/models/shipment";
import { useMotion } from "../motion";
import { Art } from "../site/art";
import { buttonClass } from "../ui/button";
import { waitingOnColours } from "../ui/waiting-on-colours";

export function WaitingOnLabel({ waitingOn }: { waitingOn: WaitingOn }) {
  return <span className={`font-semibold ${waitingOnColours[waitingOn]}`}>{waitingOnLabels[waitingOn]}</span>;
}

export function RouteLine(props: {
  shipment: { id: string; stage: number; status: string };
  nextAction: NextAction | null;
  button?: { words: string; at: string } | null;
  stageTexts: string[];
}) {
  const { shipment, nextAction, button, stageTexts } = props;
  const { id, stage, status } = shipment;
  const line = useRef<HTMLDivElement>(null);
  const motion = useMotion();
  const listStages = (texts?: string[]) =>
    STAGES.map((name, index) => (
      <li
        key={name}
        aria-current={index === stage - 1 ? "step" : undefined}
        className={index === stage - 1 ? "font-semibold" : index < stage - 1 ? "text-done" : "text-quiet"}
      >
        {name}
        {texts && `: ${texts[index]}`}
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
      {/* Hidden from screen readers, because the heading and the list below contain the same stage names. */}
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
        {listStages()}
      </ol>
      {nextAction && (
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
      )}
      <details className="mt-2 text-sm print:hidden">
        <summary className="inline-flex min-h-11 items-center underline">All ten stages</summary>
        <ol className="mt-1 list-decimal pl-6">{listStages(stageTexts)}</ol>
      </details>
    </section>
  );
}

export function Stations({ stage }: { stage: number }) {
  const x = (index: number) => 10 + index * 20;
  return (
    <svg viewBox="0 0 200 14" width="200" height="14" aria-hidden="true" className="my-3 w-full">
      <path d={`M${x(0)} 7H${x(9)}`} className="stroke-line" strokeWidth="1.4" />
      <path d={`M${x(0)} 7H${x(stage - 1)}`} className="stroke-done" strokeWidth="1.4" />
      {STAGES.map((name, index) => (
        <circle
          key={name}
          cx={x(index)}
          cy="7"
          r={index === stage - 1 ? 4.4 : 2.8}
          strokeWidth="1.4"
          className={
            index < stage - 1 || stage === STAGES.length
              ? "fill-done stroke-done"
              : index === stage - 1
                ? "fill-action stroke-action"
                : "fill-raised stroke-edge"
          }
        />
      ))}
    </svg>
  );
}
