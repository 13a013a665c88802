import {
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  jwtVerify,
} from "jose";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { env } from "../http/env.server.ts";
import { createSupabaseFetch } from "../supabase/fetch.server.ts";

export type Claims = { sub: string; aal: string };

const algorithms = ["ES256", "RS256", "EdDSA"];

/** Tokens may stay valid for 10 minutes after Supabase Auth has revoked their signing key. */
const keysMaxAgeMs = 10 * 60 * 1000;

const KeySetSchema = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });

const maxVerifiedTokens = 1000;

type PublishedKeys = {
  url: string;
  keySet: ReturnType<typeof createRemoteJWKSet>;
  fetchedAt: number;
  verifiedTokens: LRUCache<string, JWTPayload>;
};
let cachedKeys: PublishedKeys | undefined;

function getPublishedKeys(): PublishedKeys {
  const { url, publishableKey } = env().backend;
  if (cachedKeys?.url !== url) {
    const keySet = createRemoteJWKSet(new URL("/auth/v1/.well-known/jwks.json", url), {
      headers: { apikey: publishableKey },
      [customFetch]: fetchPublishedKeys,
      // Cached keys must stay usable while Supabase Auth is unavailable. Only `reload` replaces the cached keys.
      cacheMaxAge: Number.POSITIVE_INFINITY,
    });
    cachedKeys = { url, keySet, fetchedAt: Date.now(), verifiedTokens: new LRUCache({ max: maxVerifiedTokens }) };
  } else if (Date.now() - cachedKeys.fetchedAt > keysMaxAgeMs) {
    const keys = cachedKeys;
    keys.fetchedAt = Date.now();
    keys.keySet.reload().then(
      () => {
        // A new cache is necessary, because running verifications with old keys may still write to the old cache.
        keys.verifiedTokens = new LRUCache({ max: maxVerifiedTokens });
      },
      () => {
        keys.fetchedAt -= keysMaxAgeMs - 60_000;
      },
    );
  }
  return cachedKeys;
}

async function fetchPublishedKeys(url: string, { headers }: { headers: Headers }): Promise<Response> {
  // jose would convert a TimeoutError to a JOSEError, which verifyAccessToken treats as a forged token.
  const response = await createSupabaseFetch(null)(url, { headers }).catch(() => null);
  const body: unknown = response?.ok ? await response.json().catch(() => null) : null;
  const keys = KeySetSchema.safeParse(body);
  if (!keys.success) throw new Error("Supabase Auth returned no signing keys.");
  return Response.json(keys.data);
}

/** Returns the claims without a check of the token's signature. */
export function decodeClaims(token: string): Claims {
  return toClaims(decodeJwt(token));
}

/**
 * Returns null for an invalid token, or "unknown" if only Supabase Auth can check the token. Throws if the signing keys
 * cannot be loaded.
 */
export async function verifyAccessToken(token: string): Promise<Claims | null | "unknown"> {
  const { alg = "", kid } = decodeProtectedHeader(token);
  if (alg.startsWith("HS") || typeof kid !== "string") return "unknown";
  const { keySet, verifiedTokens } = getPublishedKeys();
  const cachedPayload = verifiedTokens.get(token);
  if (cachedPayload) return (cachedPayload.exp ?? 0) > Date.now() / 1000 ? toClaims(cachedPayload) : null;
  try {
    const requirements = { algorithms, audience: "authenticated", requiredClaims: ["exp", "sub"] };
    const { payload } = await jwtVerify(token, keySet, requirements);
    verifiedTokens.set(token, payload);
    return toClaims(payload);
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return "unknown";
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

function toClaims({ sub, aal }: JWTPayload): Claims {
  return { sub: sub ?? "", aal: typeof aal === "string" ? aal : "aal1" };
}
