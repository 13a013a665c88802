import { z } from "zod";
import { verifyDocument } from "../models/document.server.ts";
import { runStaffAction } from "../models/staff.server.ts";
import { defineStaffAction, reasonField } from "./staff-action.server.ts";

const getAnchor = (document: string) => `#document-${document}`;

export const verify = defineStaffAction({
  name: "document verify",
  label: "Document verified",
  target: "document",
  schema: z.object({}),
  run: ({ supabase, serviceRole, options }, document) => verifyDocument(supabase, serviceRole(), document, options),
  toast: (name) => `${name} verified`,
  getAnchor,
  command: { description: "verify an uploaded document" },
});

export const unverify = defineStaffAction({
  name: "document unverify",
  label: "Verification undone",
  target: "document",
  schema: z.object({ reason: reasonField }),
  run: ({ supabase, options }, document_id, { reason }) =>
    runStaffAction(supabase, "unverify_document", { document_id, reason, ...options }),
  toast: (name) => `${name}: verification undone`,
  getAnchor,
  command: { description: "undo the verification of a document" },
});

export const requestNewFile = defineStaffAction({
  name: "document request-new-file",
  label: "New file requested",
  target: "document",
  schema: z.object({ reason: reasonField }),
  run: ({ supabase, options }, document_id, { reason }) =>
    runStaffAction(supabase, "reject_document", { document_id, reason, ...options }),
  toast: (name) => `${name}: new file requested`,
  getAnchor,
  command: {
    description: "request a new file from the client",
    options: { reason: "the reason that the client sees" },
  },
});
