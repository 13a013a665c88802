import { useEffect, useRef } from "react";
import { useBlocker } from "react-router";
import { Button } from "~/components/ui/button";
import { useModal } from "~/components/ui/dialog";
import { useFileDrop } from "./file-drop";

type LeaveWarningProps = { sending: boolean; isSending: () => boolean; cancelAll: () => void };

/** Receives functions as props, because an import would make the bundler put upload-queue.ts into a separate file. */
export default function LeaveWarning({ sending, isSending, cancelAll }: LeaveWarningProps) {
  useFileDrop();
  const blocker = useBlocker(({ currentLocation, nextLocation }) => {
    // The page's own forms and the theme form redirect back to the page, so these forms do not interrupt an upload.
    const comesBack =
      nextLocation.pathname.startsWith(currentLocation.pathname) || nextLocation.pathname === "/actions/theme";
    return isSending() && !comesBack;
  });
  useEffect(() => {
    if (!sending) return;
    const warn = (event: BeforeUnloadEvent) => {
      if (isSending() && !document.body.hidden) event.preventDefault();
    };
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [sending, isSending]);
  const isUploadDone = blocker.state === "blocked" && !sending;
  useEffect(() => {
    // Closes the dialog when the upload has finished, so that the page shows the result.
    if (isUploadDone) blocker.reset?.();
  }, [isUploadDone, blocker]);
  if (blocker.state !== "blocked") return null;
  const leave = () => {
    cancelAll();
    blocker.proceed();
  };
  return <LeaveDialog onStay={blocker.reset} onLeave={leave} />;
}

function LeaveDialog({ onStay, onLeave }: { onStay: () => void; onLeave: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useModal(dialog);
  return (
    <dialog
      ref={dialog}
      aria-labelledby="leaving"
      onCancel={(event) => {
        event.preventDefault();
        onStay();
      }}
      className="m-auto w-[min(28rem,calc(100vw-2rem))] rounded-label border border-line bg-raised p-4 text-ink shadow-float backdrop:bg-sunken/90 sm:p-6"
    >
      <h2 id="leaving" className="text-lg">
        Stop the upload and leave this page?
      </h2>
      <p className="mt-2 mb-6">A file is still uploading. If you leave this page, the upload stops.</p>
      <div className="flex flex-wrap gap-3">
        <Button type="button" look="action" onClick={onStay}>
          Stay here
        </Button>
        <Button type="button" onClick={onLeave}>
          Stop and leave
        </Button>
      </div>
    </dialog>
  );
}
