/** Colleagues: what the forms about them ask for. */
import { z } from "zod";
import { severalLines } from "../lib/forms/text-fields.ts";
import { emailAddress, personName } from "../models/contact.ts";

/** What somebody may do at the desk: a lead also invites, changes and removes colleagues. */
export const STAFF_ROLES = ["clerk", "lead"] as const;

/** The least characters of a colleague's password. */
export const minStaffPasswordLength = 12;

/** Why something is undone or taken away; it stays in the log. */
export const reasonField = severalLines("Say why, in a few words.")
  .min(1, "Say why, in a few words.")
  .max(500, "Use at most 500 characters.");

export const StaffInvitationFields = z.object({
  name: personName,
  email: emailAddress,
  role: z.enum(STAFF_ROLES, "Choose what they may do."),
});
