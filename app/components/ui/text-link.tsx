import { Link, type LinkProps } from "react-router";

export function TextLink({ className = "", ...props }: LinkProps) {
  return <Link {...props} className={`inline-flex min-h-11 items-center underline ${className}`} />;
}
