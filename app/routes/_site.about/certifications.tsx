import { Certificates } from "~/components/site/certificates";
import type { certifications } from "~/models/content.server";

type AboutCertificationsProps = { note: string | undefined; certifications: (typeof certifications)["about"] };

export function Certifications({ note, certifications }: AboutCertificationsProps) {
  return (
    <section aria-labelledby="certifications" className="mt-20 mb-8">
      <h2 id="certifications" className="text-xl">
        Certifications & Memberships
      </h2>
      {note && <p className="mt-2 text-quiet">{note}</p>}
      <div className="mt-6">
        <Certificates of={certifications} />
      </div>
    </section>
  );
}
