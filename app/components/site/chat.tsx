import { MessageCircle } from "lucide";
import { Icon } from "~/components/ui/icon";

/** Returns the URL of a WhatsApp chat. `phone` must contain only digits. WhatsApp fills in `text` as a new message. */
export function chatHref(phone: string, text?: string): string {
  return `https://wa.me/${phone}${text ? `?text=${encodeURIComponent(text)}` : ""}`;
}

export function Chat({ phone, inBar }: { phone: string; inBar?: boolean }) {
  return (
    <a
      href={chatHref(phone)}
      target="_blank"
      rel="noreferrer"
      className={`rounded-label print:hidden ${inBar ? inBarClass : floatingClass}`}
    >
      <Icon of={MessageCircle} className="size-5 text-done" />
      <span className={inBar ? "sr-only" : undefined}>Chat with us</span>
    </a>
  );
}

const inBarClass = "flex size-11 items-center justify-center border border-transparent hover:border-edge xl:hidden";

const floatingClass =
  "fixed right-2 bottom-4 z-10 hidden w-16 flex-col items-center gap-1 border border-done bg-raised px-1 py-2 text-center " +
  "text-xs leading-tight font-semibold no-underline shadow-float xl:flex";
