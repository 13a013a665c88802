import { Certificates } from "~/components/site/certificates";
import type { Route } from "./+types/route";
import { Stop } from "./stop";

type HomeCertificationsProps = Pick<Route.ComponentProps["loaderData"], "certifications" | "notes">;

export function Certifications({ certifications, notes }: HomeCertificationsProps) {
  return (
    <Stop id="certifications" title="Certifications and accreditations" intro={notes.certifications}>
      <Certificates of={certifications} className="lg:grid-cols-3" />
    </Stop>
  );
}
