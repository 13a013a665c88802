import { useSiteData } from "~/components/site-data";

/** The number of the head office, to press or to read. */
export function OfficePhone() {
  const phone = useSiteData()?.company.offices[0]?.phone;
  if (!phone) return null;
  return (
    <a className="inline-flex min-h-11 items-center underline" href={`tel:${phone.replaceAll(" ", "")}`}>
      {phone}
    </a>
  );
}
