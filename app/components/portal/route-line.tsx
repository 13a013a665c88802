import { STAGES, type WaitingOn, waitingOnLabels } from "~/models/shipment";
import { waitingOnColours } from "../ui/waiting-on-colours";

export function WaitingOnLabel({ waitingOn }: { waitingOn: WaitingOn }) {
  return <span className={`font-semibold ${waitingOnColours[waitingOn]}`}>{waitingOnLabels[waitingOn]}</span>;
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
