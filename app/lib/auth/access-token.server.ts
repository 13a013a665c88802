/** Access tokens, verified here by the keys that auth publishes. */
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

/** What a verified access token says: whose it is, and whether its session gave the code of a second factor (AAL2). */
export type Claims = { sub: string; aal: string };

/** Asymmetric algorithms of Supabase's signing keys. */
const algorithms = ["ES256", "RS256", "EdDSA"];

/** How often the published keys are asked for again, in milliseconds: one that was revoked is believed no longer then. */
const keysMaxAge = 10 * 60 * 1000;

const KeySetSchema = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });

/** How many tokens are known again without a look at their signature. */
const maxVerifiedTokens = 1000;

/**
 * The published keys of the backend at `url`, which were asked for at `asked` (milliseconds since 1970), and what the tokens
 * say that they have verified since.
 */
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
    const set = createRemoteJWKSet(new URL("/auth/v1/.well-known/jwks.json", url), {
      headers: { apikey: publishableKey },
      [customFetch]: fetchPublishedKeys,
      // Renewed below, beside the request: while auth does not answer, the keys that are known go on being good.
      cacheMaxAge: Number.POSITIVE_INFINITY,
    });
    cachedKeys = { url, keySet: set, fetchedAt: Date.now(), verifiedTokens: new LRUCache({ max: maxVerifiedTokens }) };
  } else if (Date.now() - cachedKeys.fetchedAt > keysMaxAge) {
    const renewed = cachedKeys;
    renewed.fetchedAt = Date.now();
    // Where auth does not answer, again in a minute: none of the requests waits for it.
    renewed.keySet.reload().then(
      () => {
        // Not emptied: a verification that is under way with the keys of before has it in hand.
        renewed.verifiedTokens = new LRUCache({ max: maxVerifiedTokens });
      },
      () => {
        renewed.fetchedAt -= keysMaxAge - 60_000;
      },
    );
  }
  return cachedKeys;
}

/** Throws unless the answer is a set of keys: a proxy in between may answer in auth's place. */
async function fetchPublishedKeys(url: string, { headers }: { headers: Headers }): Promise<Response> {
  // An error named TimeoutError would reach verifiedClaims as one of jose's own.
  const response = await createSupabaseFetch(null)(url, { headers }).catch(() => null);
  const answer: unknown = response?.ok ? await response.json().catch(() => null) : null;
  const keys = KeySetSchema.safeParse(answer);
  if (!keys.success) throw new Error("Auth does not publish its keys at the moment.");
  return Response.json(keys.data);
}

/** The claims of a token without a look at its signature. */
export function decodeClaims(token: string): Claims {
  return toClaims(decodeJwt(token));
}

/**
 * The claims of a signed-in person's token; null when it is forged, expired or made for something else; "unknown" when
 * only auth can say: it is signed with a secret, or by a key that is not published (yet). Rejects when no keys are known
 * and auth does not publish them at the moment.
 */
export async function verifyAccessToken(token: string): Promise<Claims | null | "unknown"> {
  const { alg = "", kid } = decodeProtectedHeader(token);
  if (alg.startsWith("HS") || typeof kid !== "string") return "unknown";
  const { keySet: set, verifiedTokens: known } = getPublishedKeys();
  const seen = known.get(token);
  if (seen) return (seen.exp ?? 0) > Date.now() / 1000 ? toClaims(seen) : null;
  try {
    const { payload } = await jwtVerify(token, set, {
      algorithms,
      audience: "authenticated",
      requiredClaims: ["exp", "sub"],
    });
    known.set(token, payload);
    return toClaims(payload);
  } catch (error) {
    // The set is asked for again after half a minute at the earliest: a key may have been published since.
    if (error instanceof errors.JWKSNoMatchingKey) return "unknown";
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

function toClaims({ sub, aal }: JWTPayload): Claims {
  return { sub: sub ?? "", aal: typeof aal === "string" ? aal : "aal1" };
}
