import { Moon, Sun } from "lucide";
import { useEffect } from "react";
import { useFetcher, useFetchers, useLocation } from "react-router";
import { Icon } from "~/components/ui/icon";
import { Button } from "../ui/button";

const fetcherKey = "theme";

/** The theme being submitted, or null: applied before the answer. */
export function useChosenTheme(): string | null {
  const choice = useFetchers()
    .find(({ key }) => key === fetcherKey)
    ?.formData?.get("theme");
  return typeof choice === "string" ? choice : null;
}

/** A form that keeps the other theme in a cookie; with script it applies at once and is copied to localStorage. */
export function ThemeToggle({ theme }: { theme: string }) {
  const { pathname, search } = useLocation();
  const fetcher = useFetcher({ key: fetcherKey });
  const other = theme === "dark" ? "light" : "dark";
  const mark = theme === "dark" ? Sun : Moon;
  useEffect(() => copyToLocalStorage("theme", theme), [theme]);
  return (
    <fetcher.Form method="post" action="/actions/theme" preventScrollReset>
      <input type="hidden" name="theme" value={other} />
      <input type="hidden" name="to" value={pathname + search} />
      <Button look="icon">
        <Icon of={mark} className="size-5" />
        <span className="sr-only">Use the {other} theme</span>
      </Button>
    </fetcher.Form>
  );
}

/** Keeps a copy in local storage, where the browser allows it. */
export function copyToLocalStorage(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Storage may be switched off or full; the cookie is what counts.
  }
}
