import { useEffect, useRef } from "react";
import { useBlocker } from "react-router";
import { Button } from "~/components/ui/button";
import { useModal } from "~/components/ui/dialog";
import { useFileDrop } from "./file-drop";

type LeaveWarningProps = { sending: boolean; isSending: () => boolean; cancelAll: () => void };

/**
 * Asks before leaving a page whose upload would stop: by our dialog on navigation, by the browser's on closing; and
 * takes files that are dropped. Loaded when the browser is idle, so it takes props and imports no module of the page.
 */
export default function LeaveWarning({ sending, isSending, cancelAll }: LeaveWarningProps) {
  useFileDrop();
  const blocker = useBlocker(({ currentLocation: here, nextLocation: next }) => {
    // Forms that redirect straight back stop nothing.
    const comesBack = next.pathname.startsWith(here.pathname) || next.pathname === "/actions/theme";
    return isSending() && !comesBack;
  });
  useEffect(() => {
    if (!sending) return;
    const ask = (event: BeforeUnloadEvent) => {
      if (isSending()) event.preventDefault();
    };
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [sending, isSending]);
  const isOver = blocker.state === "blocked" && !sending;
  useEffect(() => {
    // The upload has ended meanwhile: stays to show its result.
    if (isOver) blocker.reset?.();
  }, [isOver, blocker]);
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
        Stop the upload and leave?
      </h2>
      <p className="mt-2 mb-6">A file is still on its way. It is not stored if you leave this page now.</p>
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
