/** Staff actions on documents. */
import { z } from "zod";
import { verifyDocument } from "../models/document.server.ts";
import { runStaffAction } from "../models/staff.server.ts";
import { defineStaffAction, reasonField, reasonHelp } from "./staff-action.server.ts";

const getAnchor = (document: string) => `#document-${document}`;

export const verify = defineStaffAction({
  name: "document verify",
  label: "Verified",
  target: "document",
  schema: z.object({}),
  run: async ({ supabase, serviceRole, options }, document) =>
    (await verifyDocument(supabase, serviceRole(), document, options)) ?? {},
  toast: () => "Verified",
  getAnchor,
  command: { description: "mark an uploaded document as verified" },
});

export const unverify = defineStaffAction({
  name: "document unverify",
  label: "Verification taken back",
  target: "document",
  schema: z.object({ reason: reasonField }),
  run: ({ supabase, options }, document_id, { reason }) =>
    runStaffAction(supabase, "unverify_document", { document_id, reason, ...options }),
  toast: () => "Verification taken back",
  getAnchor,
  command: { description: "undo the verification of a document", options: { reason: reasonHelp } },
});

export const reject = defineStaffAction({
  name: "document reject",
  label: "Sent back",
  target: "document",
  schema: z.object({ reason: reasonField }),
  run: ({ supabase, options }, document_id, { reason }) =>
    runStaffAction(supabase, "reject_document", { document_id, reason, ...options }),
  toast: () => "Sent back",
  getAnchor,
  command: { description: "request a new file from the client", options: { reason: "for the client" } },
});
