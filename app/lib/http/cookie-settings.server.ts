import { createCookie } from "react-router";
import { z } from "zod";
import { cookieAttributes, cookieName } from "./cookies.server.ts";

const CookieSettingsSchema = z.object({ performance: z.boolean(), functional: z.boolean(), marketing: z.boolean() });
export type CookieSettings = z.infer<typeof CookieSettingsSchema>;

const defaultSettings: CookieSettings = { performance: true, functional: true, marketing: false };

const getSettingsCookie = () =>
  createCookie(cookieName("cookieSettings"), { ...cookieAttributes(), maxAge: 365 * 24 * 60 * 60 });

export async function readCookieSettings(request: Request): Promise<{ settings: CookieSettings; isStored: boolean }> {
  const stored: unknown = await getSettingsCookie().parse(request.headers.get("Cookie"));
  const { data } = CookieSettingsSchema.safeParse(stored);
  return { settings: data ?? defaultSettings, isStored: data !== undefined };
}

export function serializeCookieSettings(settings: CookieSettings): Promise<string> {
  return getSettingsCookie().serialize(settings);
}
