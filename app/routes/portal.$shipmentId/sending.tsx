import { useEffect, useRef } from "react";
import { Button } from "~/components/ui/button";
import { inWords } from "~/lib/file-size";

/**
 * Upload progress for the document `name`: the route line fills with the `sent` bytes. Loaded when the browser is idle,
 * so it takes props and imports no module of the page.
 */
export default function Sending(props: {
  name: string;
  file: File;
  isShrinking: boolean;
  sent: number;
  onCancel: () => void;
}) {
  const { name, file, isShrinking, sent, onCancel } = props;
  const { size } = file;
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  return (
    <div className="mt-3">
      <p className="truncate text-sm">{file.name}</p>
      <progress className="sr-only" max={size} value={sent} aria-label={`${name}: sent`} />
      <Line share={sent / size} />
      <div className="flex items-center justify-between gap-4">
        <p className="text-sm text-quiet tabular-nums">
          {isShrinking ? "Making the photo smaller…" : state(sent, size)}
        </p>
        <Button ref={button} type="button" onClick={onCancel}>
          Cancel<span className="sr-only"> the upload of the {name}</span>
        </Button>
      </div>
    </div>
  );
}

function state(sent: number, size: number): string {
  return sent < size ? `${inWords(sent)} of ${inWords(size)}` : `${inWords(size)} sent, waiting for our answer…`;
}

/** From the first station to the last. `share` runs from 0 to 1. */
function Line({ share }: { share: number }) {
  const isThere = share >= 1;
  return (
    <svg viewBox="0 0 200 10" width="200" height="10" aria-hidden="true" className="my-2 w-full">
      <path d="M5 5H195" className="stroke-line" strokeWidth="1.4" />
      <path
        d="M5 5H195"
        pathLength="100"
        strokeDasharray={`${share * 100} 100`}
        className="stroke-action transition-[stroke-dasharray] duration-200 ease-out"
        strokeWidth="1.8"
      />
      <circle cx="5" cy="5" r="3" className="fill-action stroke-action" strokeWidth="1.4" />
      <circle
        cx="195"
        cy="5"
        r="3"
        className={isThere ? "fill-action stroke-action" : "fill-raised stroke-edge"}
        strokeWidth="1.4"
      />
    </svg>
  );
}
