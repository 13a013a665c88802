import { BadgeCheck, CircleAlert, FileCheck, type IconNode } from "lucide";
import { useRef } from "react";
import { Link } from "react-router";
import { buttonClass } from "~/components/ui/button";
import { Card } from "~/components/ui/card";
import { dialogLinkProps } from "~/components/ui/dialog";
import { Icon } from "~/components/ui/icon";
import { useIdleImport } from "~/components/ui/idle-import";
import type { DocumentState } from "~/models/document";
import { lastStage } from "~/models/shipment";
import type { Route } from "./+types/route";
import { type RejectedUpload, UploadForm, useRestoreFocus } from "./upload-form";
import { cancelAllUploads, isSending, useIsSending } from "./upload-queue";

const stateIcons: Record<DocumentState, [icon: IconNode, colour: string]> = {
  missing: [CircleAlert, "text-attention"],
  uploaded: [FileCheck, "text-with-us"],
  verified: [BadgeCheck, "text-done"],
};

export function Documents({ loaderData, actionData: rejected }: Route.ComponentProps) {
  const { search, hints, email, shipment } = loaderData;
  const { documents } = shipment;
  const isClosed = shipment.stage === lastStage;
  const sending = useIsSending();
  const LeaveWarning = useIdleImport(() => import("./leave-warning"));
  return (
    <Card id="documents" title="Documents">
      {LeaveWarning && <LeaveWarning sending={sending} isSending={isSending} cancelAll={cancelAllUploads} />}
      <ul className="ruled">
        {documents.map((document) => (
          <DocumentRow
            key={document.id}
            document={document}
            search={search}
            isClosed={isClosed}
            accept={hints.accept}
            rejected={rejected?.document === document.id ? rejected : undefined}
          />
        ))}
      </ul>
      {!isClosed && documents.some(({ state }) => state === "missing") && (
        <p className="border-t border-line px-4 py-3 text-sm text-quiet print:hidden">
          {hints.limits}{" "}
          <a className="underline" href={`mailto:${email}`}>
            {email}
          </a>
          .{LeaveWarning && <span className="hidden pointer-fine:inline"> {hints.drop}</span>}
        </p>
      )}
    </Card>
  );
}

function DocumentRow(props: {
  document: Route.ComponentProps["loaderData"]["shipment"]["documents"][number];
  search: string;
  isClosed: boolean;
  accept: string;
  rejected: RejectedUpload | undefined;
}) {
  const { document, search, isClosed, accept, rejected } = props;
  const { id, name, state, words, about, file, address } = document;
  const [icon, colour] = stateIcons[state];
  const field = useRef<HTMLInputElement>(null);
  const title = useRef<HTMLParagraphElement>(null);
  useRestoreFocus(state, title);
  return (
    <li className="px-4 py-3 -outline-offset-4 data-drop:outline-2 data-drop:outline-dashed data-drop:outline-action">
      <div className="flex flex-wrap items-center gap-3">
        <Icon of={icon} className={`size-5 shrink-0 ${colour}`} />
        <div className="flex-1 basis-40">
          <p ref={title} tabIndex={-1} className="font-semibold">
            {name}
          </p>
          <p className={`text-sm wrap-anywhere ${colour}`}>{words}</p>
          {about && <p className="text-sm wrap-anywhere text-quiet">{about}</p>}
          {file && <p className="text-sm wrap-anywhere text-quiet">{file}</p>}
        </div>
        {file && (
          <div className="flex flex-wrap gap-2 md:flex-col md:items-end print:hidden">
            <a href={address} className={buttonClass()}>
              Open<span className="sr-only">: {name}</span>
            </a>
            {state === "uploaded" && !isClosed && (
              <Link to={`remove-file/${id}${search}`} {...dialogLinkProps} className={buttonClass("quiet")}>
                Remove file<span className="sr-only">: {name}</span>
              </Link>
            )}
          </div>
        )}
      </div>
      {state === "missing" && !isClosed && (
        <UploadForm document={document} accept={accept} rejected={rejected} field={field} />
      )}
    </li>
  );
}
