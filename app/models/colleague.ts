/** Colleagues: what the forms about them ask for. */
import { z } from "zod";
import { emailAddress, personName } from "./contact.ts";
import { severalLines } from "./text.ts";

/** What somebody may do at the desk: a lead also invites, changes and removes colleagues. */
export const ROLES = ["clerk", "lead"] as const;

/** The least characters of a colleague's password. */
export const colleaguePassword = 12;

/** Why something is undone or taken away; it stays in the log. */
export const Reason = severalLines("Say why, in a few words.")
  .min(1, "Say why, in a few words.")
  .max(500, "Use at most 500 characters.");

export const InviteColleague = z.object({
  name: personName,
  email: emailAddress,
  role: z.enum(ROLES, "Choose what they may do."),
});
