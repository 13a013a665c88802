import { Moon, Sun } from "lucide";
import { type ReactNode, useEffect } from "react";
import { useFetcher, useFetchers, useLocation } from "react-router";
import { Icon } from "~/components/ui/icon";
import { Button } from "../ui/button";
import { useSiteData } from "./site-data";

const fetcherKey = "theme";

/** Returns the theme that the visitor has just chosen, so that the page changes before the server responds. */
export function useChosenTheme(): string | null {
  const choice = useFetchers()
    .find(({ key }) => key === fetcherKey)
    ?.formData?.get("theme");
  return typeof choice === "string" ? choice : null;
}

/** Returns the theme of the page. */
export function useShownTheme(): string {
  const site = useSiteData();
  return useChosenTheme() ?? site?.theme ?? "dark";
}

const getOtherTheme = (theme: string) => (theme === "dark" ? "light" : "dark");

export function ThemeToggle({ theme }: { theme: string }) {
  return (
    <ThemeForm theme={theme}>
      <Button look="icon">
        <Icon of={theme === "dark" ? Sun : Moon} className="size-5" />
        <span className="sr-only">Use the {getOtherTheme(theme)} theme</span>
      </Button>
    </ThemeForm>
  );
}

/** `children` contains the submit button. */
export function ThemeForm({ theme, children }: { theme: string; children: ReactNode }) {
  const { pathname, search } = useLocation();
  const fetcher = useFetcher({ key: fetcherKey });
  useEffect(() => copyToLocalStorage("theme", theme), [theme]);
  return (
    <fetcher.Form method="post" action="/actions/theme" preventScrollReset>
      <input type="hidden" name="theme" value={getOtherTheme(theme)} />
      <input type="hidden" name="to" value={pathname + search} />
      {children}
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
