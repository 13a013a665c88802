import { useEffect, useRef } from "react";
import { Button } from "~/components/ui/button";
import { formatFileSize, maxFileBytes } from "~/lib/forms/file-size";
import type { Upload } from "./upload-queue";

// An import of upload-queue.ts would make the bundler put upload-queue.ts into a separate file.

function UploadProgress(props: { name: string; upload: Upload; file: File; onCancel: () => void }) {
  const { name, upload, file, onCancel } = props;
  const { isShrinking, isConnectionLost } = upload;
  const sent = upload.sentBytes ?? 0;
  const { size } = file;
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  return (
    <div className="mt-3">
      <p className="truncate text-sm">{file.name}</p>
      <progress className="sr-only" max={size} value={sent} aria-label={`Upload of the ${name}`} />
      <ProgressLine share={sent / size} />
      <div className="flex items-center justify-between gap-4">
        <div className="text-sm tabular-nums">
          <p role="status">
            {isConnectionLost &&
              `No connection. ${formatFileSize(sent)} of ${formatFileSize(size)} sent. The upload continues when you are back online.`}
          </p>
          {!isConnectionLost && (
            <p className="text-quiet">{isShrinking ? "Making the photo smaller…" : describeProgress(sent, size)}</p>
          )}
        </div>
        <Button ref={button} type="button" onClick={onCancel}>
          Cancel<span className="sr-only">: {name}</span>
        </Button>
      </div>
    </div>
  );
}

function describeProgress(sent: number, size: number): string {
  return sent < size ? `${formatFileSize(sent)} of ${formatFileSize(size)}` : `${formatFileSize(size)} sent. Saving…`;
}

/** `share` is the sent part of the file, from 0 to 1. */
function ProgressLine({ share }: { share: number }) {
  const isComplete = share >= 1;
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
        className={isComplete ? "fill-action stroke-action" : "fill-raised stroke-edge"}
        strokeWidth="1.4"
      />
    </svg>
  );
}

function PhotoChoice({ upload, onChoose }: { upload: Upload; onChoose: (asChosen: boolean) => void }) {
  const { original, shrunkPhoto, isShrinking, sendsOriginal } = upload;
  if (isShrinking)
    return <p className="mt-2 text-sm text-quiet">Making your photo smaller ({formatFileSize(original.size)})…</p>;
  if (!shrunkPhoto) return null;
  return (
    <div className="mt-2 flex flex-wrap items-center gap-x-6 text-sm text-quiet">
      <p role="status">
        Photo made smaller: {formatFileSize(shrunkPhoto.size)} instead of {formatFileSize(original.size)}
      </p>
      {original.size <= maxFileBytes && (
        <label className="flex min-h-11 cursor-pointer items-center gap-3">
          <input
            type="checkbox"
            checked={sendsOriginal}
            onChange={(event) => onChoose(event.currentTarget.checked)}
            className="size-6 shrink-0"
          />
          Upload the original photo
        </label>
      )}
    </div>
  );
}

export default { Sending: UploadProgress, Photo: PhotoChoice };
