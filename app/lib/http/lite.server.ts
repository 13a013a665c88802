import { readCookie, serializeCookie } from "./cookies.server.ts";

const liteCookieName = "lite";
const slowConnections = new Set(["2g", "slow-2g"]);

export function isLite(request: Request): boolean {
  const { headers } = request;
  return isLiteByHeaders(readCookie(request, liteCookieName), headers.get("Save-Data"), headers.get("ECT"));
}

export function isLiteByHeaders(chosen: string | undefined, saveData?: string | null, ect?: string | null): boolean {
  if (chosen === "0" || chosen === "1") return chosen === "1";
  return saveData?.toLowerCase() === "on" || slowConnections.has(ect?.toLowerCase() ?? "");
}

export function liteCookie(lite: boolean): string {
  return serializeCookie(liteCookieName, lite ? "1" : "0", 365 * 24 * 60 * 60);
}
