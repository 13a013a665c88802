/** The visitor's choice of optional cookies, kept in a cookie of its own for a year. */
import { type Cookie, createCookie } from "react-router";
import { z } from "zod";
import { cookieAttributes, cookieName } from "./cookies.server.ts";

const Settings = z.object({ performance: z.boolean(), functional: z.boolean(), marketing: z.boolean() });
export type CookieSettings = z.infer<typeof Settings>;

const defaults: CookieSettings = { performance: true, functional: true, marketing: false };

let cookie: Cookie | undefined;

function settingsCookie(): Cookie {
  cookie ??= createCookie(cookieName("cookieSettings"), {
    ...cookieAttributes(),
    maxAge: 365 * 24 * 60 * 60,
  });
  return cookie;
}

/** The stored choice, or the defaults; a damaged cookie counts as none. */
export async function cookieSettingsOf(request: Request): Promise<{ settings: CookieSettings; isStored: boolean }> {
  const stored: unknown = await settingsCookie().parse(request.headers.get("Cookie"));
  const { data } = Settings.safeParse(stored);
  return { settings: data ?? defaults, isStored: data !== undefined };
}

/** A Set-Cookie that keeps the choice. */
export function keepCookieSettings(settings: CookieSettings): Promise<string> {
  return settingsCookie().serialize(settings);
}
