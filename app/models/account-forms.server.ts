/** The forms of /portal/account: what each takes, does, and says then. */
import { z } from "zod";
import { type Acted, type Failed, type FormOfPage, formOf } from "../lib/act-form.server.ts";
import { theLetterhead } from "../lib/content.server.ts";
import type { Limits } from "../lib/limits.server.ts";
import { pagesCookie } from "../lib/offline.server.ts";
import type { Client } from "../lib/session.server.ts";
import { companyBackend } from "../lib/supabase.server.ts";
import { clientPassword, Login, newPassword } from "./account.ts";
import { emailAddress, personName } from "./contact.ts";
import { wantNotices } from "./notice.server.ts";
import { askEmailChange, askErasure, changePassword, saveName, signOutElsewhere } from "./own-account.server.ts";
import { Code, chosenFactor } from "./second-factor.server.ts";

/** The forms for one client; those that change how the account is opened ask for the code where it has a second factor. */
export function accountForms(client: Client, limits: Limits): Readonly<Record<string, FormOfPage<Client>>> {
  const proof = {
    present: Login.shape.password,
    factor: z.string().optional(),
    code: client.factors.length > 0 ? Code : z.string().optional(),
  };
  const proven = ({ present, factor, code }: { present: string; factor?: string; code?: string }) => {
    return { present, code, factorId: chosenFactor(client.factors, factor)?.id };
  };
  // What these change is changed by handles of their own, which the limit of a client's changes does not see.
  const counted =
    <Value>(run: (who: Client, value: Value) => Promise<Acted | Failed>) =>
    async (who: Client, value: Value) => {
      const attempt = await limits.write(who.id);
      return "reason" in attempt ? attempt : run(who, value);
    };
  return {
    name: formOf(z.object({ fullName: personName }), async (who: Client, { fullName }) => {
      const refused = await saveName(who, fullName);
      return refused ?? { toast: "Name saved" };
    }),
    password: formOf(
      z.object({ ...proof, password: newPassword(clientPassword) }),
      counted(async (who, { password, ...given }) => {
        const refused = await changePassword(who, limits, theLetterhead(), proven(given), password);
        return refused ?? { toast: "Password changed: every other device is signed out" };
      }),
    ),
    email: formOf(
      z.object({ ...proof, email: emailAddress }),
      counted(async (who, { email, ...given }) => {
        const refused = await askEmailChange(who, limits, theLetterhead(), proven(given), email);
        return refused ?? { toast: "We wrote to the new address: open the link in that mail" };
      }),
    ),
    notices: formOf(
      z.object({ wanted: z.literal("yes").optional() }),
      counted(async (who, { wanted }) => {
        const refused = await wantNotices(companyBackend(), who.id, wanted === "yes");
        return refused ?? { toast: wanted ? "You get these mails" : "You get no more of these mails" };
      }),
    ),
    // A choice of this browser alone: nothing of the account changes.
    pages: formOf(z.object({ kept: z.literal("yes").optional() }), async (_who: Client, { kept }) => ({
      toast: kept ? "Pages are kept on this device" : "No pages are kept on this device",
      cookie: pagesCookie(kept === "yes"),
    })),
    elsewhere: formOf(z.object({}), async (who: Client) => {
      const refused = await signOutElsewhere(who);
      return refused ?? { toast: "Every other device is signed out" };
    }),
    erase: formOf(z.object({ keep: z.literal("yes").optional() }), async (who: Client, { keep }) => {
      const refused = await askErasure(who, keep !== "yes");
      return refused ?? { toast: keep ? "Your account stays" : "We have your request, and answer by mail" };
    }),
  };
}
