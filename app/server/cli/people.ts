/** Staff commands on people: client IDs, accounts, colleagues, and the notice that all clients read. */
import type { Command } from "commander";
import { Option } from "commander";
import { closeAccount, reopenAccount } from "../../models/account.server.ts";
import { issueClientIds, listClientIds, sendClientId, withdrawClientId } from "../../models/client-id.server.ts";
import type { EmailResult } from "../../models/email.server.ts";
import { STAFF_ROLES } from "../../models/labels.ts";
import { textLimits } from "../../models/limits.ts";
import { sendPasswordLink } from "../../models/password-link.server.ts";
import { eraseAccount, rejectErasure } from "../../models/retention.server.ts";
import { removeSecondFactors } from "../../models/second-factor.server.ts";
import {
  changeStaffRole,
  findAccountId,
  inviteStaffMember,
  listStaffMembers,
  removeStaffMember,
} from "../../models/staff.server.ts";
import {
  listFailedEmails,
  removeAnnouncement,
  resolveFailedEmail,
  resultOrThrow,
  setAnnouncement,
} from "../../models/staff-action.server.ts";
import { createTextParser, parseCount, parseEmail } from "./arguments.ts";
import { readEmailSender } from "./content.ts";
import { type GetActorName, getServiceRole } from "./context.ts";
import { clientIdLine, failedEmailLine, print, printAction, staffMemberLine } from "./output.ts";

type OutputOptions = { json?: boolean };
const reasonOption = ["--reason <why>", "why, for the log"] as const;
const assertEmailSent = (told: EmailResult, to: string) => {
  if ("reason" in told) throw new Error(told.reason);
  if (!told.sent) throw new Error(`This was done, but the mail to ${to} could not be sent: the desk lists it.`);
};

export function addPeopleCommands(staff: Command, by: GetActorName): void {
  const clientId = staff.command("client-id").description("invitations of clients");
  clientId
    .command("new")
    .description("issue client IDs")
    .option("--count <number>", "how many, 1 to 1000", parseCount, 1)
    .option("--for <name>", "for whom, as the company calls them", createTextParser(textLimits.issuedFor))
    .option("--email <e-mail>", "where to send the one that is issued", parseEmail)
    .option("--json", 'an array of {"client_id"}')
    .action(async ({ json, ...issue }: OutputOptions & { count: number; for?: string; email?: string }) => {
      if (issue.email && issue.count > 1) throw new Error("Send one client ID at a time.");
      const backend = getServiceRole();
      const issued = resultOrThrow(await issueClientIds(backend, issue, { actor_name: by() }));
      printAction(by(), { action: "client-id issue", after: { count: issued.length } });
      print(
        json,
        issued.map((client_id) => ({ client_id })),
        issued,
      );
      const [first = ""] = issued;
      if (issue.email) {
        assertEmailSent(
          await sendClientId(backend, backend, readEmailSender(), first, { actor_name: by() }),
          issue.email,
        );
        printAction(by(), { action: "client-id send" });
      }
    });
  clientId
    .command("send")
    .description("mail an unused client ID again, to the address it was issued for")
    .argument("<id>", "such as 7K3Q-X9MD-2HTV-W5BC")
    .action(async (id: string) => {
      assertEmailSent(
        await sendClientId(getServiceRole(), getServiceRole(), readEmailSender(), id, { actor_name: by() }),
        "its address",
      );
      printAction(by(), { action: "client-id send" });
      print(false, null, [`${id} is on its way`]);
    });
  clientId
    .command("list")
    .description("all client IDs, newest first")
    .option("--json", "an array")
    .action(async ({ json }: OutputOptions) => {
      const all = await listClientIds(getServiceRole());
      print(json, all, all.map(clientIdLine));
    });
  clientId
    .command("withdraw")
    .description("make an unused client ID worthless")
    .argument("<id>", "such as 7K3Q-X9MD-2HTV-W5BC")
    .requiredOption(...reasonOption, createTextParser(textLimits.reason))
    .action(async (id: string, { reason }: { reason: string }) => {
      resultOrThrow(await withdrawClientId(getServiceRole(), id, reason, by()));
      printAction(by(), { action: "client-id withdraw" });
      print(false, null, [`${id} opens no account any more`]);
    });

  const account = staff.command("account").description("accounts of clients");
  /** A command on the account of an e-mail address, with a reason where one is asked. */
  const onAccount = (
    name: string,
    description: string,
    job: (account: string, email: string, reason: string) => Promise<string>,
    asks: "reason" | "no reason" = "reason",
  ) => {
    const command = account.command(name).description(description).argument("<e-mail>", "the account's e-mail address");
    if (asks === "reason") command.requiredOption(...reasonOption, createTextParser(textLimits.reason));
    else command.option(...reasonOption, createTextParser(textLimits.reason));
    command.action(async (email: string, { reason = "" }: { reason?: string }) => {
      const found = await findAccountId(getServiceRole(), email);
      const line = await job(found, email, reason);
      printAction(by(), { action: `account ${name}`, account_id: found });
      print(false, null, [line]);
    });
  };
  onAccount(
    "reset-2fa",
    "take a lost second factor off an account, once you know who asks",
    async (found, email, reason) => {
      const removed = resultOrThrow(
        await removeSecondFactors(getServiceRole(), getServiceRole(), readEmailSender(), found, reason || null, by()),
      );
      return `${email} has no second factor any more (${removed} removed)`;
    },
    "no reason",
  );
  onAccount(
    "send-password-link",
    "mail the link to a new password, once you know who asks",
    async (found, email) => {
      assertEmailSent(
        await sendPasswordLink(getServiceRole(), getServiceRole(), readEmailSender(), found, by()),
        email,
      );
      return `${email} has an hour to set a new password`;
    },
    "no reason",
  );
  onAccount(
    "close",
    "close a client's account: signed out at once, and nobody gets in",
    async (found, email, reason) => {
      resultOrThrow(await closeAccount(getServiceRole(), found, reason, by()));
      return `${email} is closed`;
    },
  );
  onAccount("open", "open a closed account again", async (found, email, reason) => {
    resultOrThrow(await reopenAccount(getServiceRole(), found, reason, by()));
    return `${email} is open`;
  });
  onAccount(
    "erase",
    "delete the account of a client who asks for it, unless shipments of theirs have to be kept",
    async (found, email, reason) => {
      const refused = await eraseAccount(
        getServiceRole(),
        getServiceRole(),
        found,
        reason || "The client asked for it",
        by(),
        readEmailSender(),
      );
      if (refused) throw new Error(`${email}: ${refused.reason}`);
      return `${email} has no account any more`;
    },
    "no reason",
  );

  onAccount(
    "keep",
    "answer a client who asked to be erased that it cannot be yet; the reason goes to them by mail",
    async (found, email, reason) => {
      assertEmailSent(
        await rejectErasure(getServiceRole(), getServiceRole(), readEmailSender(), found, reason, by()),
        email,
      );
      return `${email} has the answer`;
    },
  );
  addTeamCommands(staff, by);
  const mail = staff.command("mail").description("mails that could not be handed over");
  mail
    .command("list")
    .description("those that nobody has dealt with, the oldest first")
    .option("--json", "an array")
    .action(async ({ json }: OutputOptions) => {
      const all = await listFailedEmails(getServiceRole());
      print(json, all, all.map(failedEmailLine));
    });
  mail
    .command("dealt-with")
    .description("take one off the list")
    .argument("<id>", "as `mail list` has it")
    .action(async (id: string) => {
      resultOrThrow(await resolveFailedEmail(getServiceRole(), id, by()));
      printAction(by(), { action: "failed-email resolve" });
      print(false, null, ["Taken off the list"]);
    });
  const notice = staff.command("notice").description("what all clients read above their shipments");
  notice
    .command("set")
    .description("say something to all clients, instead of what was said before")
    .argument("<text>", "up to 200 characters", createTextParser(textLimits.announcement))
    .action(async (text: string) => {
      resultOrThrow(await setAnnouncement(getServiceRole(), text, { actor_name: by() }));
      printAction(by(), { action: "announcement set" });
      print(false, null, ["All clients read it now"]);
    });
  notice
    .command("end")
    .description("end what is said to all clients")
    .action(async () => {
      resultOrThrow(await removeAnnouncement(getServiceRole(), by()));
      printAction(by(), { action: "announcement end" });
      print(false, null, ["Nothing is said to all clients any more"]);
    });
}

function addTeamCommands(staff: Command, by: GetActorName): void {
  const colleague = staff.command("colleague").description("the people who work at the desk");
  const role = () => new Option("--role <role>", "a lead also invites and removes").choices([...STAFF_ROLES]);
  colleague
    .command("invite")
    .description("mail somebody the way to the desk, good for seven days")
    .argument("<e-mail>", "an address that no client's account has", parseEmail)
    .requiredOption("--name <name>", "as it stands in the log", createTextParser(textLimits.personName))
    .addOption(role().default("clerk"))
    .action(async (email: string, who: { name: string; role: string }) => {
      const backend = getServiceRole();
      assertEmailSent(
        await inviteStaffMember(backend, backend, readEmailSender(), { ...who, email }, { actor_name: by() }),
        email,
      );
      printAction(by(), { action: "team invite" });
      print(false, null, [`${email} has seven days to choose a password`]);
    });
  colleague
    .command("list")
    .description("who works at the desk")
    .option("--json", "an array")
    .action(async ({ json }: OutputOptions) => {
      const all = await listStaffMembers(getServiceRole());
      print(json, all, all.map(staffMemberLine));
    });
  colleague
    .command("role")
    .description("make a clerk a lead, or a lead a clerk")
    .argument("<e-mail>", "the colleague's e-mail address")
    .addOption(role().makeOptionMandatory())
    .action(async (email: string, { role }: { role: string }) => {
      const found = await findAccountId(getServiceRole(), email);
      resultOrThrow(await changeStaffRole(getServiceRole(), found, role, by()));
      printAction(by(), { action: "team role", account_id: found, after: { role } });
      print(false, null, [`${email} is a ${role}`]);
    });
  colleague
    .command("remove")
    .description("sign a colleague out everywhere at once, and let them in no more")
    .argument("<e-mail>", "the colleague's e-mail address")
    .option(...reasonOption, createTextParser(textLimits.reason))
    .action(async (email: string, { reason = "They left" }: { reason?: string }) => {
      const found = await findAccountId(getServiceRole(), email);
      resultOrThrow(await removeStaffMember(getServiceRole(), found, reason, by()));
      printAction(by(), { action: "team remove", account_id: found });
      print(false, null, [`${email} is no colleague any more`]);
    });
}
