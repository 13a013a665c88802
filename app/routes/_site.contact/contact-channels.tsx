import { type IconNode, Mail, MessageCircle, Phone } from "lucide";
import { useEffect, useState } from "react";
import { chatHref } from "~/components/site/chat";
import { useSiteData } from "~/components/site/site-data";
import { Icon } from "~/components/ui/icon";
import type { Route } from "./+types/route";

type OpeningStatusProps = Route.ComponentProps["loaderData"]["opening"];

export function ContactChannels({ opening }: { opening: OpeningStatusProps }) {
  const company = useSiteData()?.company;
  const [office] = company?.offices ?? [];
  if (!company || !office) return null;
  return (
    <>
      <OpeningStatus {...opening} />
      <ul className="mt-5 grid gap-3 md:grid-cols-[4fr_3fr_5fr]">
        <ContactChannel
          of={Phone}
          verb="Call"
          text={office.phone}
          href={`tel:${office.phone.replaceAll(" ", "")}`}
          isFirst
        />
        <ContactChannel of={MessageCircle} verb="Chat on" text="WhatsApp" href={chatHref(company.chat_phone)} />
        <ContactChannel of={Mail} verb="Email" text={office.email} href={`mailto:${office.email}`} />
      </ul>
    </>
  );
}

/** A phone's clock may be wrong, so the browser may change "open" to "closed", but not "closed" to "open". */
function OpeningStatus({ isOpen, words, until, later, holidays }: OpeningStatusProps) {
  const [isPastClosing, setPastClosing] = useState(false);
  useEffect(() => {
    if (!isOpen || !until) return;
    const update = () => setPastClosing(Date.now() >= until);
    update();
    const timer = setInterval(update, 20_000);
    return () => clearInterval(timer);
  }, [isOpen, until]);
  const isOpenNow = isOpen && !isPastClosing;
  return (
    <p data-now="" className="mt-4 flex flex-wrap items-baseline gap-x-4 wrap-anywhere">
      <span className={`flex items-baseline gap-2 text-lg font-semibold ${isOpenNow ? "text-done" : ""}`}>
        <span
          aria-hidden
          className={`size-3 shrink-0 rounded-full border-2 ${isOpenNow ? "border-done bg-done" : "border-edge"}`}
        />
        {isPastClosing ? later : words}
      </span>{" "}
      <span className="text-sm text-quiet">{holidays}</span>
    </p>
  );
}

function ContactChannel(props: { of: IconNode; verb: string; text: string; href: string; isFirst?: boolean }) {
  const { of, verb, text, href, isFirst } = props;
  const isChat = href.startsWith("https:");
  return (
    <li>
      <a
        href={href}
        target={isChat ? "_blank" : undefined}
        rel={isChat ? "noreferrer" : undefined}
        className={`flex h-full min-h-16 items-center gap-4 rounded-label border px-4 py-3 no-underline md:gap-3 md:px-3 lg:gap-4 lg:px-4 ${
          isFirst
            ? "border-action bg-action text-on-action hover:[filter:brightness(1.1)]"
            : "border-edge bg-raised hover:border-ink"
        }`}
      >
        <Icon of={of} className="size-6 shrink-0" />
        <span>
          <span className="block text-sm">{verb} </span>
          <span className="block font-semibold wrap-anywhere tabular-nums md:text-sm lg:text-base">{text}</span>
        </span>
      </a>
    </li>
  );
}
