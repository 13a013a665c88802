import { MessageCircle } from "lucide";
import type { ReactNode } from "react";
import { Icon } from "~/components/ui/icon";

/** The messaging application's address for a chat with a phone number, digits only. */
export function chatHref(phone: string): string {
  return `https://wa.me/${phone}`;
}

type ChatProps = { phone: string; className: string; children: ReactNode };

function Chat({ phone, className, children }: ChatProps) {
  return (
    <a href={chatHref(phone)} target="_blank" rel="noreferrer" className={`rounded-label print:hidden ${className}`}>
      <Icon of={MessageCircle} className="size-5 text-done" />
      {children}
    </a>
  );
}

/** The chat in the bar, which stays in view: on screens without a gutter beside the content. */
export function ChatInBar({ phone }: { phone: string }) {
  return (
    <Chat
      phone={phone}
      className="inline-flex size-11 items-center justify-center border border-transparent hover:border-edge xl:hidden"
    >
      <span className="sr-only">Chat with us</span>
    </Chat>
  );
}

/** The chat that floats in the gutter beside the content, over nothing. */
export function FloatingChat({ phone }: { phone: string }) {
  return (
    <Chat
      phone={phone}
      className="fixed right-2 bottom-4 z-10 hidden w-16 flex-col items-center gap-1 border border-done bg-raised px-1 py-2 text-center text-xs leading-tight font-semibold no-underline shadow-float xl:flex"
    >
      Chat with us
    </Chat>
  );
}
