/** Colleagues: what the forms about them ask for. */
import { z } from "zod";
import { severalLines } from "../lib/forms/text-fields.ts";
import { emailAddress, personName } from "../models/contact.ts";
import { STAFF_ROLES } from "../models/labels.ts";
import { maxLength } from "../models/limits.ts";

/** The least characters of a colleague's password. */
export const minStaffPasswordLength = 12;

/** Why something is undone or taken away; it stays in the log. */
export const reasonField = severalLines("Say why, in a few words.")
  .min(1, "Say why, in a few words.")
  .max(...maxLength("reason"));

export const StaffInvitationFields = z.object({
  name: personName,
  email: emailAddress,
  role: z.enum(STAFF_ROLES, "Choose what they may do."),
});
