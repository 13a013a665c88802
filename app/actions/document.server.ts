import { z } from "zod";
import { maxFileBytes } from "../lib/forms/file-size.ts";
import { severalLines } from "../lib/forms/text-fields.ts";
import { addFile, removeAddedFile } from "../models/added-file.server.ts";
import { FILE_SOURCES, type FileSource } from "../models/desk-labels.ts";
import { verifyDocument } from "../models/document.server.ts";
import { maxLength } from "../models/limits.ts";
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

export const addClientFile = defineStaffAction({
  name: "document add-file",
  label: "File added for the client",
  target: "document",
  schema: z.object({
    from: z.enum(Object.keys(FILE_SOURCES) as FileSource[], "Choose how the file reached us."),
    note: severalLines("")
      .max(...maxLength("fileNote"))
      .optional(),
    file: z
      .instanceof(File, { error: "Choose a file." })
      .refine(({ size }) => size <= maxFileBytes, "This file is over 10 MB. Choose a smaller file."),
  }),
  run: ({ supabase, serviceRole, options }, document, fields) =>
    addFile(supabase, serviceRole(), document, fields, options),
  toast: (name) => `${name}: file added`,
  getAnchor,
  command: {
    description: "add a file that the client sent by WhatsApp, by email or on paper",
    arguments: { file: "the path of the file" },
    options: { from: "how the file reached us", note: "a note that the client sees" },
    labels: { from: FILE_SOURCES },
    fileField: "file",
  },
});

export const removeClientFile = defineStaffAction({
  name: "document remove-file",
  label: "Added file removed",
  target: "document",
  schema: z.object({ reason: reasonField }),
  run: ({ supabase, serviceRole, options }, document, { reason }) =>
    removeAddedFile(supabase, serviceRole(), document, reason, options),
  toast: (name) => `${name}: file removed`,
  getAnchor,
  command: { description: "remove a file that was added for the client by mistake" },
});
