import type { ComponentProps } from "react";
import { Link, type LinkProps } from "react-router";

type ButtonVariant = "action" | "plain" | "quiet" | "icon";

const variantClasses: Record<ButtonVariant, string> = {
  action: "px-4 bg-action text-on-action border-action hover:[filter:brightness(1.1)]",
  plain: "px-4 border-edge text-ink hover:border-ink",
  quiet: "border-transparent text-ink underline hover:text-action",
  icon: "w-11 border-transparent text-ink hover:border-edge",
};

const baseClasses =
  "inline-flex min-h-11 shrink-0 items-center justify-center gap-2 rounded-label border py-2 text-center text-sm font-semibold " +
  "transition-[filter,border-color,color] duration-150 ease-out aria-disabled:opacity-60";

export function buttonClass(look: ButtonVariant = "plain", className = ""): string {
  return `${baseClasses} no-underline ${variantClasses[look]} ${className}`;
}

/** `look="action"` marks the page's main action. A button with `look="icon"` needs a hidden text for screen readers. */
export function Button({
  look = "plain",
  className = "",
  ...props
}: ComponentProps<"button"> & { look?: ButtonVariant }) {
  return <button type="submit" {...props} className={`${baseClasses} ${variantClasses[look]} ${className}`} />;
}

export function ButtonLink({
  look = "plain",
  className = "",
  ...props
}: ComponentProps<typeof Link> & { look?: ButtonVariant }) {
  return <Link viewTransition={!props.preventScrollReset} {...props} className={buttonClass(look, className)} />;
}

export function TextLink({ className = "", ...props }: LinkProps) {
  return <Link {...props} className={`inline-flex min-h-11 items-center underline ${className}`} />;
}
