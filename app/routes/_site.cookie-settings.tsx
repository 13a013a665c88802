import { useEffect, useRef, useState } from "react";
import { Form, useActionData } from "react-router";
import { useActionForm } from "~/components/forms/form";
import { copyToLocalStorage } from "~/components/site/theme-toggle";
import { PageHeading } from "~/components/site/title";
import { Button } from "~/components/ui/button";
import type { ConnectionLostData } from "~/lib/browser/connection";
import { readForm } from "~/lib/forms/form-data.server";
import { type CookieSettings, readCookieSettings, serializeCookieSettings } from "~/lib/http/cookie-settings.server";
import { createPageMeta } from "~/lib/http/page-meta";
import { redirectWithToast } from "~/lib/http/toast.server";
import type { Route } from "./+types/_site.cookie-settings";

export { revalidateExceptForQuote as shouldRevalidate } from "~/lib/browser/revalidate";

export async function loader({ request }: Route.LoaderArgs) {
  return readCookieSettings(request);
}

export async function action({ request, context }: Route.ActionArgs) {
  const form = await readForm(request);
  const all = form.get("accept") === "all";
  const settings: CookieSettings = {
    performance: all || form.has("performance"),
    functional: all || form.has("functional"),
    marketing: all || form.has("marketing"),
  };
  const response = redirectWithToast(
    context,
    "/cookie-settings",
    all
      ? {
          title: "All Cookies Accepted!",
          description: "You've enabled all optional cookies.",
          variant: "default",
        }
      : { title: "Preferences Saved!", description: "Your cookie settings have been updated.", variant: "default" },
  );
  response.headers.append("Set-Cookie", await serializeCookieSettings(settings));
  return response;
}

export const meta: Route.MetaFunction = ({ matches }) =>
  createPageMeta(matches, {
    title: "Cookie Settings",
    description:
      "Choose which optional cookies this site may set. Necessary cookies keep you logged in and remember your settings.",
    path: "/cookie-settings",
  });

const categories = [
  {
    name: "necessary",
    label: "Strictly Necessary",
    text: 'These cookies keep you logged in, remember your theme and show messages such as "Login Successful". These cookies are always on.',
  },
  {
    name: "performance",
    label: "Performance & Analytics",
    text: "These cookies count visits to each page. At present, we use no such cookies.",
  },
  {
    name: "functional",
    label: "Functional",
    text: "These cookies remember choices that make this site more convenient. At present, we use no such cookies.",
  },
  {
    name: "marketing",
    label: "Marketing & Targeting",
    text: "These cookies measure our advertising. At present, we use no such cookies.",
  },
] as const;

/** Section 14 of the privacy policy repeats this list. */
const storageEntries = [
  { name: "session", time: "30 days after your last visit", text: "Lets you use the portal until you sign out." },
  {
    name: "account",
    time: "30 days after your last visit",
    text: "Prevents other people who use this browser from seeing your pages after you sign out.",
  },
  { name: "flash", time: "Until the next page", text: "Shows one message on the next page." },
  { name: "theme", time: "Until the browser closes", text: "Remembers whether you chose the light or dark theme." },
  { name: "lite", time: "A year", text: "Remembers whether you chose the text-only version." },
  { name: "shared", time: "Until the browser closes", text: "Remembers that you logged in on a shared device." },
  { name: "reminded", time: "Until the browser closes", text: "Remembers that we reminded you to set up 2FA." },
  {
    name: "desk",
    time: "Until the browser closes",
    text: "Shows our team members a link to their own pages, the desk.",
  },
  {
    name: "known",
    time: "A year",
    text: "Remembers this browser, so that you can log in even if someone else enters too many wrong passwords for your account.",
  },
  { name: "test", time: "A minute", text: "After you log in, shows whether your browser stores cookies." },
  { name: "offline", time: "A year", text: "Remembers that you switched off offline copies." },
  { name: "cookieSettings", time: "A year", text: "Remembers which optional cookies you chose." },
] as const;

export default function CookieSettingsPage({ loaderData }: Route.ComponentProps) {
  const rejected = useActionData<ConnectionLostData>();
  const settings = useLocalStorageCopy(loaderData);
  const form = useFormReset(loaderData, settings, rejected);
  const [errors] = useActionForm("cookie-settings", rejected, []);
  return (
    <>
      <PageHeading title="Cookie Settings" className="mb-2 text-2xl" form={errors} />
      <p className="mb-8 max-w-prose text-lg text-quiet">
        Choose which optional cookies this site may set. Your browser stores your choice for a year.
      </p>
      <div className="grid gap-12 lg:grid-cols-2 lg:gap-16">
        <Form method="post" id={errors.id} {...form}>
          <ul className="mb-6 ruled rounded-label border border-line bg-raised">
            {categories.map(({ name, label, text }) => (
              <li key={name} className="px-4 py-3">
                <label
                  htmlFor={name}
                  className="flex min-h-11 items-center justify-between gap-6 font-semibold wrap-anywhere"
                >
                  {label}
                  <input
                    type="checkbox"
                    id={name}
                    name={name}
                    disabled={name === "necessary"}
                    defaultChecked={name === "necessary" || settings[name]}
                    aria-describedby={`${name}-text`}
                    className="size-6 shrink-0"
                  />
                </label>
                <p id={`${name}-text`} className="max-w-prose text-sm text-quiet">
                  {text}
                </p>
              </li>
            ))}
          </ul>
          <div className="flex flex-wrap gap-3">
            <Button look="action" name="accept" value="chosen">
              Save My Preferences
            </Button>{" "}
            <Button name="accept" value="all">
              Accept All Cookies
            </Button>
          </div>
        </Form>
        <BrowserStorage />
      </div>
    </>
  );
}

function BrowserStorage() {
  return (
    <section aria-labelledby="browser-storage">
      <h2 id="browser-storage" className="text-lg">
        What we store in your browser
      </h2>
      <p className="mt-1 mb-3 text-quiet">
        All these cookies are strictly necessary. Only our site sets these cookies, and only when they are needed.
      </p>
      <ul className="ruled border-y border-line text-sm">
        {storageEntries.map(({ name, time, text }) => (
          <li key={name} className="py-2">
            <p className="flex flex-wrap justify-between gap-x-4">
              <span className="font-mono font-semibold">{name}</span> <span className="text-quiet">{time}</span>
            </p>
            <p>{text}</p>
          </li>
        ))}
      </ul>
      <h3 className="mt-6 font-semibold">Offline copies of pages</h3>
      <p className="mt-1 text-sm">
        If JavaScript is on, your browser stores copies of the public pages that you visit. Your browser also stores the
        last 20 portal pages that you opened, until you sign out. Copies stay on this device for 30 days at most. The
        browser stores no copies on a shared device or in the text-only version. You can switch off offline copies on
        your account page in the portal.
      </p>
    </section>
  );
}

/** Resets the checkboxes when the settings change or are saved. Remounting the form would lose the focus. */
function useFormReset(loaded: object, settings: CookieSettings, rejected: object | undefined) {
  const form = useRef<HTMLFormElement>(null);
  const isSaved = useRef(false);
  const stored = JSON.stringify(settings);
  const lastShown = useRef(stored);
  useEffect(() => {
    if (rejected) isSaved.current = false;
  }, [rejected]);
  useEffect(() => {
    if (isSaved.current || lastShown.current !== stored) form.current?.reset();
    isSaved.current = false;
    lastShown.current = stored;
  }, [loaded, stored]);
  return { ref: form, onSubmit: () => (isSaved.current = true) };
}

/** Returns the settings of the cookie. If the browser lost the cookie, returns the copy in localStorage. */
function useLocalStorageCopy({ settings, isStored }: { settings: CookieSettings; isStored: boolean }): CookieSettings {
  const [copy, setCopy] = useState<CookieSettings | null>(null);
  useEffect(() => {
    if (isStored) copyToLocalStorage(storageKey, JSON.stringify(settings));
    else setCopy(readLocalStorageCopy(settings));
  }, [settings, isStored]);
  return (!isStored && copy) || settings;
}

const storageKey = "cookieSettings";

function readLocalStorageCopy(defaults: CookieSettings): CookieSettings | null {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageKey) ?? "null");
    if (typeof stored !== "object" || stored === null) return null;
    const validEntries = Object.entries(stored).filter(
      ([name, value]) => name in defaults && typeof value === "boolean",
    );
    return { ...defaults, ...Object.fromEntries(validEntries) };
  } catch {
    return null;
  }
}
