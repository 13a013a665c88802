import { createHmac, hash } from "node:crypto";
import { z } from "zod";
import type { Viewer } from "../lib/auth/viewer.server.ts";
import { shortDay, shortTime } from "../lib/dates.ts";
import { env } from "../lib/http/env.server.ts";
import type { UserError } from "../lib/http/user-error.server.ts";
import { serviceRoleClient } from "../lib/supabase/client.server.ts";
import { getResultError, parseResult } from "../lib/supabase/result.server.ts";
import { shortId } from "./shipment.ts";
import { TrackingEventRecord } from "./shipment-fields.server.ts";

type ShareLink = { id: string; token_hash: string; created_at: string; expires_at: string };

/** Derives the token from SESSION_SECRET, because the database stores only a hash of the token. */
function createShareToken(id: string): string {
  return createHmac("sha256", env().sessionSecret).update(`share ${id}`).digest().subarray(0, 20).toString("base64url");
}

/** `address` is null if SESSION_SECRET has changed since the link was created. */
export function describeShareLinks(shipment: { id: string; name: string; share_links: ShareLink[] }) {
  return shipment.share_links.map(({ id, token_hash, created_at, expires_at }) => {
    const token = createShareToken(id);
    const address = hash("sha256", token) === token_hash ? `${env().origin}/s/${token}` : null;
    const words = `Follow the shipment ${shipment.name} (${shortId(shipment.id)}) here: ${address}`;
    return {
      id,
      address,
      made: shortTime(created_at),
      until: shortDay(expires_at),
      chat: `https://wa.me/?text=${encodeURIComponent(words)}`,
    };
  });
}

/** `id` comes from the form, so that a form that is sent twice creates one link. */
export async function createShareLink(client: Viewer, shipment_id: string, id: string): Promise<UserError | null> {
  const token_hash = hash("sha256", createShareToken(id));
  return getResultError(await client.supabase.rpc("create_share_link", { id, shipment_id, token_hash }));
}

export async function revokeShareLink(client: Viewer, id: string): Promise<UserError | null> {
  return getResultError(await client.supabase.rpc("revoke_share_link", { id }));
}

const ShareLinkContent = z.object({
  name: z.string(),
  stage: z.number(),
  status: z.string(),
  changed_at: z.string(),
  tracking_events: z.array(TrackingEventRecord.omit({ note: true })),
});

export async function openShareLink(token: string): Promise<z.infer<typeof ShareLinkContent> | UserError | null> {
  if (!/^[\w-]{27}$/.test(token)) return null;
  // A GET request would write the token into the backend's logs, so this call is a POST.
  return parseResult(ShareLinkContent.nullable(), await serviceRoleClient().rpc("shared_shipment", { token }));
}
