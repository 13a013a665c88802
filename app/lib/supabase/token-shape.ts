import { decodeJwt, decodeProtectedHeader } from "jose";

/** Whether a text can be read as a token at all; it proves nothing. */
export function looksLikeToken(text: string): boolean {
  try {
    return typeof decodeProtectedHeader(text).alg === "string" && Boolean(decodeJwt(text));
  } catch {
    return false;
  }
}
