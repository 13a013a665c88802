import { Moon, Sun } from "lucide";
import { useEffect } from "react";
import { useFetcher, useFetchers, useLocation } from "react-router";
import { Icon } from "~/components/ui/icon";
import { Button } from "../ui/button";

const fetcherKey = "theme";

/** Returns the theme that the visitor has just chosen, so that the page changes before the server responds. */
export function useChosenTheme(): string | null {
  const choice = useFetchers()
    .find(({ key }) => key === fetcherKey)
    ?.formData?.get("theme");
  return typeof choice === "string" ? choice : null;
}

export function ThemeToggle({ theme }: { theme: string }) {
  const { pathname, search } = useLocation();
  const fetcher = useFetcher({ key: fetcherKey });
  const isDark = theme === "dark";
  const nextTheme = isDark ? "light" : "dark";
  useEffect(() => copyToLocalStorage("theme", theme), [theme]);
  return (
    <fetcher.Form method="post" action="/actions/theme" preventScrollReset>
      <input type="hidden" name="theme" value={nextTheme} />
      <input type="hidden" name="to" value={pathname + search} />
      <Button look="icon">
        <Icon of={isDark ? Sun : Moon} className="size-5" />
        <span className="sr-only">Use the {nextTheme} theme</span>
      </Button>
    </fetcher.Form>
  );
}

export function copyToLocalStorage(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // If localStorage is blocked or full, the cookie still stores the value.
  }
}
