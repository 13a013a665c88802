import { z } from "zod";
import type { StaffViewer } from "../lib/auth/staff.server.ts";
import { defineIntent, type IntentDefinition } from "../lib/forms/intent-form.server.ts";
import { serviceRoleClient } from "../lib/supabase/client.server.ts";
import { UnusedClientId } from "../models/client-id.server.ts";
import { getEmailSender } from "../models/content.server.ts";
import type { StaffAction, StaffActionTarget } from "./staff-action.server.ts";

const targetMissingText = "We received only part of the form. Reload the page, then try again.";

/** The schema of each form field with a record's ID. Only pages whose URL does not contain the ID have the field. */
const targetIds: Record<StaffActionTarget, z.ZodType<string>> = {
  shipment: z.uuid(targetMissingText),
  document: z.uuid(targetMissingText),
  account: z.uuid(targetMissingText),
  clientId: UnusedClientId,
  failedEmail: z.uuid(targetMissingText),
};

/**
 * Returns a desk page's intents. `pageTargets` has the record IDs in the page's URL. Form fields have all other IDs.
 */
export function createDeskIntents(
  actions: Readonly<Record<string, StaffAction>>,
  pageTargets: { [Target in StaffActionTarget]?: string } = {},
): Readonly<Record<string, IntentDefinition>> {
  const intents = Object.entries(actions).map(([intent, action]) => [intent, createDeskIntent(action, pageTargets)]);
  return Object.fromEntries(intents);
}

function createDeskIntent(action: StaffAction, pageTargets: { [Target in StaffActionTarget]?: string }) {
  const { target } = action;
  const isField = target !== null && pageTargets[target] === undefined;
  const schema: z.ZodType<Record<string, unknown>> = isField
    ? action.schema.extend({ [target]: targetIds[target] })
    : action.schema;
  return defineIntent(schema, async ({ supabase }: StaffViewer, { ...fields }, options) => {
    const id = target ? (pageTargets[target] ?? String(fields[target])) : "";
    if (isField) delete fields[target];
    const call = {
      supabase,
      serviceRole: serviceRoleClient,
      emailSender: getEmailSender,
      options,
    };
    const outcome = await action.run(call, id, fields);
    if ("reason" in outcome) return outcome;
    return {
      toast:
        outcome.sent === false
          ? 'The change is saved. The email was not sent. See "Emails that failed" on the Today page.'
          : action.toast(outcome.result, fields),
      anchor: action.getAnchor?.(id),
      redirectTo: action.redirectTo?.(outcome.result),
    };
  });
}
