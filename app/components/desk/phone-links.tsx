import { chatHref } from "~/components/site/chat";
import { shortId } from "~/models/shipment";

type NamedShipment = { id: string; name: string };

/** `phone` is in the form +254 722 123456. With `shipment`, the WhatsApp message begins with its name and number. */
export function PhoneLinks({ phone, shipment }: { phone: string; shipment?: NamedShipment }) {
  return (
    <>
      <a href={`tel:${phone.replace(/ /g, "")}`} className={`-my-3 ${linkClass}`}>
        {phone}
      </a>{" "}
      <WhatsAppLink phone={phone} shipment={shipment} className="-my-3" />
    </>
  );
}

type WhatsAppLinkProps = { phone: string; shipment?: NamedShipment; className: string };

export function WhatsAppLink({ phone, shipment, className }: WhatsAppLinkProps) {
  const text = shipment && `About your shipment ${shipment.name} (${shortId(shipment.id)}): `;
  const href = chatHref(phone.replace(/\D/g, ""), text);
  return (
    <a href={href} target="_blank" rel="noreferrer" className={`${className} ${linkClass}`}>
      WhatsApp
    </a>
  );
}

const linkClass = "inline-flex min-h-11 items-center underline";
