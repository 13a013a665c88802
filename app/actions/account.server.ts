import { z } from "zod";
import type { Viewer } from "../lib/auth/viewer.server.ts";
import {
  defineIntent,
  type IntentDefinition,
  type IntentError,
  type IntentResult,
} from "../lib/forms/intent-form.server.ts";
import { offlineCookie } from "../lib/http/offline.server.ts";
import type { RateLimiter } from "../lib/http/rate-limiter.server.ts";
import { serviceRoleClient } from "../lib/supabase/client.server.ts";
import {
  changePassword,
  requestEmailChange,
  saveName,
  savePhone,
  setErasureRequest,
  signOutOtherDevices,
} from "../models/account.server.ts";
import { emailAddress, personName } from "../models/contact.ts";
import { getEmailSender } from "../models/content.server.ts";
import { setShipmentEmailsEnabled } from "../models/email-delivery.server.ts";
import { PhoneFields, parsePhone } from "../models/phone.server.ts";
import { selectFactor, TotpCode } from "../models/second-factor.server.ts";
import { LoginFields, minClientPasswordLength, newPasswordSchema } from "./authentication.ts";

export function createAccountIntents(
  client: Viewer,
  limits: RateLimiter,
): Readonly<Record<string, IntentDefinition<Viewer>>> {
  const credentialFields = {
    currentPassword: LoginFields.shape.password,
    factor: z.string().optional(),
    code: client.factors.length > 0 ? TotpCode : z.string().optional(),
  };
  const toCredentials = (typed: { currentPassword: string; factor?: string; code?: string }) => ({
    password: typed.currentPassword,
    code: typed.code,
    factorId: selectFactor(client.factors, typed.factor)?.id,
  });
  // guardWrites limits only the writes of the viewer's own Supabase client. Intents that write with another Supabase
  // client must call limitWrites.
  const limitWrites =
    <Value>(run: (viewer: Viewer, value: Value) => Promise<IntentResult | IntentError>) =>
    async (viewer: Viewer, value: Value) => {
      const attempt = await limits.consumeWrite(viewer.id);
      return "reason" in attempt ? attempt : run(viewer, value);
    };
  return {
    name: defineIntent(z.object({ fullName: personName }), async (viewer: Viewer, { fullName }) => {
      const rejected = await saveName(viewer, fullName);
      return rejected ?? { toast: "Name saved" };
    }),
    phone: defineIntent(PhoneFields, async (viewer: Viewer, fields) => {
      const parsed = parsePhone(fields);
      if ("reason" in parsed) return parsed;
      const rejected = await savePhone(viewer, parsed.phone);
      return rejected ?? { toast: parsed.phone ? "Telephone number saved" : "Telephone number removed" };
    }),
    password: defineIntent(
      z.object({ ...credentialFields, password: newPasswordSchema(minClientPasswordLength) }),
      limitWrites(async (viewer, { password, ...typed }) => {
        const rejected = await changePassword(viewer, limits, getEmailSender(), toCredentials(typed), password);
        return rejected ?? { toast: "Password changed", description: "All other devices have been signed out." };
      }),
    ),
    email: defineIntent(
      z.object({ ...credentialFields, email: emailAddress }),
      limitWrites(async (viewer, { email, ...typed }) => {
        const rejected = await requestEmailChange(viewer, limits, getEmailSender(), toCredentials(typed), email);
        return (
          rejected ?? {
            toast: "Email change requested",
            description: "To change your email, open the link in the email that we sent to your new address.",
          }
        );
      }),
    ),
    "shipment-emails": defineIntent(
      z.object({ enabled: z.literal("yes").optional() }),
      limitWrites(async (viewer, { enabled }) => {
        const rejected = await setShipmentEmailsEnabled(serviceRoleClient(), viewer.id, enabled === "yes");
        return rejected ?? { toast: "Email settings saved" };
      }),
    ),
    "offline-pages": defineIntent(
      z.object({ enabled: z.literal("yes").optional() }),
      async (_viewer: Viewer, { enabled }) => ({
        toast: "Offline settings saved",
        cookie: offlineCookie(enabled === "yes"),
      }),
    ),
    "sign-out-others": defineIntent(z.object({}), async (viewer: Viewer) => {
      const rejected = await signOutOtherDevices(viewer);
      return rejected ?? { toast: "All other devices logged out" };
    }),
    erase: defineIntent(z.object({ withdraw: z.literal("yes").optional() }), async (viewer: Viewer, { withdraw }) => {
      const rejected = await setErasureRequest(viewer, withdraw !== "yes");
      return (
        rejected ??
        (withdraw
          ? { toast: "Erasure request withdrawn" }
          : { toast: "Erasure request sent", description: "We will reply by email." })
      );
    }),
  };
}
