import { BadgeCheck, FileCheck } from "lucide";
import type { ReactNode } from "react";
import { TextLink } from "~/components/ui/button";
import { DEFAULT_DOCUMENTS } from "~/models/document";
import { STAGES } from "~/models/shipment";
import { Stations, WaitingOnLabel } from "../portal/route-line";
import { Icon } from "../ui/icon";
import { useSiteData } from "./site-data";

export function AuthPage({ licence, children }: { licence: string; children: ReactNode }) {
  return (
    <div className="mx-auto grid max-w-md gap-12 md:max-w-none md:grid-cols-2 lg:grid-cols-[minmax(0,26rem)_minmax(0,36rem)] lg:justify-between">
      <div>{children}</div>
      <aside className="border-t border-line pt-8 md:border-0 md:pt-0">
        <h2 className="text-lg">What you get in the portal</h2>
        <ExampleShipment />
        <ul className="mt-5 grid gap-2 text-quiet">
          <li>Follow each shipment through ten stages. See who must act next.</li>
          <li>Upload documents from your phone or computer. See which documents we have verified.</li>
          <li>We email you when we need something from you.</li>
        </ul>
        <LicenceCheck licence={licence} />
      </aside>
    </div>
  );
}

const exampleStage = 5;

function ExampleShipment() {
  return (
    <figure className="mt-1">
      <figcaption className="mb-2 text-sm text-quiet">Example of a shipment:</figcaption>
      <div
        role="img"
        aria-label={`A shipment at stage ${exampleStage} of ${STAGES.length}, ${STAGES[exampleStage - 1]}. Waiting for the client to pay the duties and taxes. Three of four documents are verified.`}
        className="rounded-label border border-line bg-raised text-sm"
      >
        <div className="px-4 py-3">
          <p className="font-semibold">Solar panels for Nairobi</p>
          <p className="flex flex-wrap justify-between gap-x-3 text-quiet">
            <span>{STAGES[exampleStage - 1]}</span>{" "}
            <span className="tabular-nums">
              Stage {exampleStage}/{STAGES.length}
            </span>
          </p>
          <Stations stage={exampleStage} />
          <p>
            <WaitingOnLabel waitingOn="client" />. Pay the Duties & Taxes.
          </p>
        </div>
        <p className="flex flex-wrap justify-between gap-x-3 border-t border-line px-4 pt-3 font-semibold">
          Documents <span className="font-normal text-quiet tabular-nums">3/{DEFAULT_DOCUMENTS.length} verified</span>
        </p>
        <ul className="grid gap-x-3 gap-y-1 px-4 pt-1 pb-3 sm:grid-cols-2">
          {DEFAULT_DOCUMENTS.map((name, index) => (
            <li key={name} className="flex items-center gap-2">
              {index < 3 ? (
                <Icon of={BadgeCheck} className="size-5 shrink-0 text-done" />
              ) : (
                <Icon of={FileCheck} className="size-5 shrink-0 text-with-us" />
              )}
              {name}
              <span className="sr-only">: {index < 3 ? "verified" : "uploaded"}</span>
            </li>
          ))}
        </ul>
      </div>
    </figure>
  );
}

function LicenceCheck({ licence }: { licence: string }) {
  const company = useSiteData()?.company;
  return (
    <section className="mt-8 border-l-2 border-action pl-4">
      <h2 className="font-semibold">
        <TextLink to="/additional-info#identity-check">How to recognise us</TextLink>
      </h2>
      <p className="text-sm text-quiet">
        Our customs agent licence number is <span className="inline-block font-semibold text-ink">{licence}</span>. The
        Kenya Revenue Authority's list of licensed agents (<span className="font-mono text-ink">kra.go.ke</span>) shows
        this number next to the name {company?.name}. We never ask for your password by email or phone.
      </p>
    </section>
  );
}
