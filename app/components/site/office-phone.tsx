import { useSiteData } from "~/components/site/site-data";

export function OfficePhone() {
  const phone = useSiteData()?.company.offices[0]?.phone;
  if (!phone) return null;
  return (
    <a className="py-3.5 underline" href={`tel:${phone.replaceAll(" ", "")}`}>
      {phone}
    </a>
  );
}
