import { randomUUID } from "node:crypto";
import { useEffect, useRef } from "react";
import { data } from "react-router";
import { z } from "zod";
import { inputClass } from "~/components/forms/field";
import { ErrorSummary, SubmitButton } from "~/components/forms/form";
import { getIntentErrors, IntentForm } from "~/components/forms/intent-form";
import { Title } from "~/components/site/title";
import { Button, buttonClass } from "~/components/ui/button";
import { CloseLink, Dialog } from "~/components/ui/dialog";
import { requireViewer, type Viewer } from "~/lib/auth/viewer.server";
import { defineIntent, handleIntentFor } from "~/lib/forms/intent-form.server";
import { shipmentPath } from "~/models/portal.server";
import { createShareLink, describeShareLinks, revokeShareLink } from "~/models/share-link.server";
import { isUuid } from "~/models/shipment.server";
import type { Route } from "./+types/portal.$shipmentId_.share";
import { requireShipment } from "./portal.$shipmentId/require-shipment.server";

export { revalidateAfterConflict as shouldRevalidate } from "~/lib/browser/revalidate";

export async function loader({ context, params, url }: Route.LoaderArgs) {
  const shipment = await requireShipment(context, params.shipmentId, url);
  const page = shipmentPath(shipment.id, url);
  return { page, name: shipment.name, links: describeShareLinks(shipment), idempotencyKey: randomUUID() };
}

export async function action({ request, context, params, url }: Route.ActionArgs) {
  const id = params.shipmentId;
  if (!isUuid(id)) throw data("Not found", { status: 404 });
  return handleIntentFor(requireViewer(context), request, context, `/portal/${id}/share${url.search}`, {
    "create-link": defineIntent(
      z.object({}),
      async (client: Viewer, _, { idempotency_key: idempotencyKey = randomUUID() }) => {
        const rejection = await createShareLink(client, id, idempotencyKey);
        return rejection ?? { toast: "Share link created" };
      },
    ),
    "revoke-link": defineIntent(
      z.object({ link: z.uuid("Reload this page, then try again.") }),
      async (client: Viewer, { link }) => {
        const rejection = await revokeShareLink(client, link);
        return rejection ?? { toast: "Share link ended" };
      },
    ),
  });
}

export default function ShareLinksPage({ loaderData, actionData }: Route.ComponentProps) {
  const { page, name, links } = loaderData;
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    // Moves the focus to the newest link if the focused form has disappeared.
    const isFocusLost = document.activeElement === document.body || document.activeElement?.matches("dialog");
    if (isFocusLost && links.length > 0) list.current?.querySelector<HTMLElement>("li:last-child input")?.focus();
  }, [links]);
  return (
    <Dialog className="static w-full max-w-xl bg-transparent p-0" label="Share" back={page}>
      <Title rejected={actionData !== undefined}>{`Share ${name}`}</Title>
      <ErrorSummary {...getIntentErrors(actionData)} />
      <h1 className="mb-2 text-xl wrap-anywhere">Share {name}</h1>
      <p className="mb-4 text-quiet">
        Anyone with a share link can see the shipment's name, stage and history. Documents, charges and your details
        stay private. A share link works for 30 days. You can end the link earlier.
      </p>
      <ul ref={list} className="mb-4 ruled rounded-label border border-line empty:hidden">
        {links.map((link, index) => (
          <li key={link.id} className="px-4 py-3">
            {link.address ? (
              <input
                readOnly
                // Without CSS, the input needs a size to show the whole link.
                size={link.address.length}
                aria-label={`Share link, valid until ${link.until}`}
                defaultValue={link.address}
                onFocus={(event) => event.currentTarget.select()}
                className={`${inputClass} font-mono text-sm`}
              />
            ) : (
              <p className="text-sm">
                This share link still works, but we can no longer show it. To get a link that you can copy, end this
                share link and create a new share link.
              </p>
            )}
            <div className="mt-2 flex flex-wrap items-center gap-2">
              {link.address && (
                <a href={link.chat} target="_blank" rel="noreferrer" className={buttonClass("action")}>
                  Send on WhatsApp{renderLinkNumber(index)}
                </a>
              )}{" "}
              {link.address && (
                <a href={link.address} target="_blank" rel="noreferrer" className={buttonClass()}>
                  Preview{renderLinkNumber(index)}
                </a>
              )}{" "}
              <IntentForm intent="revoke-link" values={{ link: link.id }}>
                <Button look="quiet">End share link{renderLinkNumber(index)}</Button>
              </IntentForm>
              <span className="text-sm text-quiet">
                Created {link.made}, valid until {link.until}
              </span>
            </div>
          </li>
        ))}
      </ul>
      <div className="flex flex-wrap gap-3">
        {links.length < 5 ? (
          <IntentForm intent="create-link" idempotent>
            <SubmitButton look={links.length > 0 ? "plain" : "action"} pending="Creating…">
              Create share link
            </SubmitButton>
          </IntentForm>
        ) : (
          <p className="text-sm text-quiet">
            A shipment can have up to five share links. To create a new link, first end one of these links.
          </p>
        )}
        <CloseLink to={page} className={buttonClass()}>
          Close
        </CloseLink>
      </div>
    </Dialog>
  );
}

const renderLinkNumber = (index: number) => index > 0 && <span className="sr-only">, link {index + 1}</span>;
