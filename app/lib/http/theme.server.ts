import { createCookieSessionStorage } from "react-router";
import { createThemeSessionResolver, isTheme, Theme } from "remix-themes";
import { cookieAttributes, cookieName } from "./cookies.server.ts";
import { env } from "./env.server.ts";

function getThemeSession(request: Request) {
  const cookie = { ...cookieAttributes(), name: cookieName("theme"), secrets: [env().sessionSecret] };
  return createThemeSessionResolver(createCookieSessionStorage({ cookie }))(request);
}

export async function readTheme(request: Request): Promise<Theme> {
  return (await getThemeSession(request)).getTheme() ?? Theme.DARK;
}

export async function themeCookie(request: Request, choice: unknown): Promise<string> {
  const session = await getThemeSession(request);
  session.setTheme(isTheme(choice) ? choice : Theme.DARK);
  return session.commit();
}
