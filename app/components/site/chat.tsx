import { MessageCircle } from "lucide";
import { Icon } from "~/components/ui/icon";

/** The messaging application's address for a chat with a phone number, digits only. */
export function chatHref(phone: string): string {
  return `https://wa.me/${phone}`;
}

/** The link that floats above every page. */
export function Chat({ phone }: { phone: string }) {
  return (
    <a
      href={chatHref(phone)}
      target="_blank"
      rel="noreferrer"
      className="fixed right-4 bottom-4 z-10 inline-flex min-h-11 items-center gap-2 rounded-label border border-done bg-raised px-4 text-sm font-semibold no-underline shadow-float"
    >
      <Icon of={MessageCircle} className="size-5 text-done" />
      Chat with us
    </a>
  );
}
