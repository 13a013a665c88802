import { randomUUID } from "node:crypto";
import { useEffect, useRef } from "react";
import { data } from "react-router";
import { z } from "zod";
import { ActForm, ActProblems, requestOf, useAct } from "~/components/act-form";
import { CloseLink, Dialog } from "~/components/dialog";
import { inputLook } from "~/components/field";
import { SubmitButton } from "~/components/form";
import { Title } from "~/components/title";
import { Button, buttonLook } from "~/components/ui/button";
import { answerFormOf, formOf } from "~/lib/act-form.server";
import { keepTyped } from "~/lib/connection";
import { noPageOf, thrown } from "~/lib/refusal.server";
import { type Client, requireClient } from "~/lib/session.server";
import { endShare, makeShare, shownShares } from "~/models/share.server";
import { getShipment, isUuid, shipmentPath } from "~/models/shipment.server";
import type { Route } from "./+types/portal.$shipmentId_.share";

export { afterConflict as shouldRevalidate } from "~/lib/revalidate";

export async function loader({ context, params, url }: Route.LoaderArgs) {
  const shipment = await getShipment(requireClient(context), params.shipmentId, url);
  if (!shipment) throw noPageOf("portal");
  if ("reason" in shipment) throw thrown(shipment);
  const page = shipmentPath(shipment.id, url);
  return { page, name: shipment.name, links: shownShares(shipment), request: randomUUID() };
}

export async function action({ request, context, params, url }: Route.ActionArgs) {
  const id = params.shipmentId;
  if (!isUuid(id)) throw data("Not found", { status: 404 });
  return answerFormOf(requireClient(context), request, context, `/portal/${id}/share${url.search}`, {
    make: formOf(z.object({}), async (client: Client, _, { request = randomUUID() }) => {
      const refused = await makeShare(client, id, request);
      return refused ?? { toast: "The link is made" };
    }),
    end: formOf(z.object({ link: z.uuid("Open this page again.") }), async (client: Client, { link }) => {
      const refused = await endShare(client, link);
      return refused ?? { toast: "Link ended" };
    }),
  });
}

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return keepTyped(serverAction);
}

export default function SharePage({ loaderData, actionData }: Route.ComponentProps) {
  const { page, name, links, request } = loaderData;
  const make = useAct("make", actionData, []);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    // The form that had the focus is gone, or a new one: on to the newest link.
    const isLost = document.activeElement === document.body || document.activeElement?.matches("dialog");
    if (isLost && links.length > 0) list.current?.querySelector<HTMLElement>("li:last-child input")?.focus();
  }, [links]);
  return (
    <Dialog className="static w-full max-w-xl bg-transparent p-0" label="Share" back={page}>
      <Title refused={actionData !== undefined}>{`Share ${name}`}</Title>
      <ActProblems answer={actionData} />
      <h1 className="mb-2 text-xl wrap-anywhere">Share {name}</h1>
      <p className="mb-4 text-quiet">
        Whoever has the link sees the name, the stage and its history: no document, no charge, no person. It ends after
        30 days, or when you end it.
      </p>
      <ul ref={list} className="mb-4 ruled rounded-label border border-line empty:hidden">
        {links.map((link, index) => (
          <li key={link.id} className="px-4 py-3">
            {link.address ? (
              <input
                readOnly
                // For browsers without CSS.
                size={link.address.length}
                aria-label={`Link until ${link.until}`}
                defaultValue={link.address}
                onFocus={(event) => event.currentTarget.select()}
                className={`${inputLook} font-mono text-sm`}
              />
            ) : (
              <p className="text-sm">An older link that we cannot show again. End it and make a new one.</p>
            )}
            <div className="mt-2 flex flex-wrap items-center gap-2">
              {link.address && (
                <a href={link.chat} target="_blank" rel="noreferrer" className={buttonLook("action")}>
                  Send by WhatsApp{nth(index)}
                </a>
              )}{" "}
              {link.address && (
                <a href={link.address} target="_blank" rel="noreferrer" className={buttonLook()}>
                  See what they see{nth(index)}
                </a>
              )}{" "}
              <ActForm id={`end-${link.id}`} act="end">
                <input type="hidden" name="link" value={link.id} />
                <Button look="quiet">End this link{nth(index)}</Button>
              </ActForm>
              <span className="text-sm text-quiet">
                Made {link.made}, until {link.until}
              </span>
            </div>
          </li>
        ))}
      </ul>
      <div className="flex flex-wrap gap-3">
        {links.length < 5 ? (
          <ActForm id={make.id} act="make" request={requestOf(make.refused, request)}>
            <SubmitButton look={links.length > 0 ? "plain" : "action"} pending="Making…">
              Make a link
            </SubmitButton>
          </ActForm>
        ) : (
          <p className="text-sm text-quiet">Five links, as many as there can be. End one to make another.</p>
        )}
        <CloseLink to={page} className={buttonLook()}>
          Close
        </CloseLink>
      </div>
    </Dialog>
  );
}

/** Tells the controls of several links apart to who cannot see them. */
const nth = (index: number) => index > 0 && <span className="sr-only">, link {index + 1}</span>;
