/** Staff commands on people: client IDs, accounts, colleagues, and the notice that all clients read. */
import type { Command } from "commander";
import { Option } from "commander";
import { closeAccount, openAccount } from "../../models/client-account.server.ts";
import { issueClientIds, listClientIds, sendClientId, withdrawClientId } from "../../models/client-id.server.ts";
import {
  changeRole,
  findAccount,
  inviteColleague,
  listColleagues,
  removeColleague,
  type Told,
} from "../../models/colleague.server.ts";
import { ROLES } from "../../models/colleague.ts";
import {
  announce,
  dismissUndelivered,
  endAnnouncement,
  listUndelivered,
  orThrow,
} from "../../models/desk-act.server.ts";
import { sendPasswordLink } from "../../models/password.server.ts";
import { eraseAccount, refuseErasure } from "../../models/retention.server.ts";
import { removeSecondFactors } from "../../models/second-factor.server.ts";
import { email, upTo, wholeNumber } from "./arguments.ts";
import { letterhead } from "./content.ts";
import { type By, company } from "./context.ts";
import { clientIdLine, colleagueLine, mailLine, note, print } from "./printed.ts";

type Output = { json?: boolean };
const why = ["--reason <why>", "why, for the log"] as const;
const mailed = (told: Told, to: string) => {
  if ("reason" in told) throw new Error(told.reason);
  if (!told.sent) throw new Error(`This was done, but the mail to ${to} could not be sent: the desk lists it.`);
};

export function addPeopleCommands(staff: Command, by: By): void {
  const clientId = staff.command("client-id").description("invitations of clients");
  clientId
    .command("new")
    .description("issue client IDs")
    .option("--count <number>", "how many, 1 to 1000", wholeNumber, 1)
    .option("--for <name>", "for whom, as the company calls them", upTo(120))
    .option("--email <e-mail>", "where to send the one that is issued", email)
    .option("--json", 'an array of {"client_id"}')
    .action(async ({ json, ...issue }: Output & { count: number; for?: string; email?: string }) => {
      if (issue.email && issue.count > 1) throw new Error("Send one client ID at a time.");
      const backend = company();
      const issued = orThrow(await issueClientIds(backend, issue, { by_name: by() }));
      note(by(), { act: "client-id new", after: { count: issued.length } });
      print(
        json,
        issued.map((client_id) => ({ client_id })),
        issued,
      );
      const [first = ""] = issued;
      if (issue.email) {
        mailed(await sendClientId(backend, backend, letterhead(), first, { by_name: by() }), issue.email);
        note(by(), { act: "client-id send" });
      }
    });
  clientId
    .command("send")
    .description("mail an unused client ID again, to the address it was issued for")
    .argument("<id>", "such as 7K3Q-X9MD-2HTV-W5BC")
    .action(async (id: string) => {
      mailed(await sendClientId(company(), company(), letterhead(), id, { by_name: by() }), "its address");
      note(by(), { act: "client-id send" });
      print(false, null, [`${id} is on its way`]);
    });
  clientId
    .command("list")
    .description("all client IDs, newest first")
    .option("--json", "an array")
    .action(async ({ json }: Output) => {
      const all = await listClientIds(company());
      print(json, all, all.map(clientIdLine));
    });
  clientId
    .command("withdraw")
    .description("make an unused client ID worthless")
    .argument("<id>", "such as 7K3Q-X9MD-2HTV-W5BC")
    .requiredOption(...why, upTo(500))
    .action(async (id: string, { reason }: { reason: string }) => {
      orThrow(await withdrawClientId(company(), id, reason, by()));
      note(by(), { act: "client-id withdraw" });
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
    if (asks === "reason") command.requiredOption(...why, upTo(500));
    else command.option(...why, upTo(500));
    command.action(async (email: string, { reason = "" }: { reason?: string }) => {
      const found = await findAccount(company(), email);
      const line = await job(found, email, reason);
      note(by(), { act: `account ${name}`, account: found });
      print(false, null, [line]);
    });
  };
  onAccount(
    "reset-2fa",
    "take a lost second factor off an account, once you know who asks",
    async (found, email, reason) => {
      const removed = orThrow(
        await removeSecondFactors(company(), company(), letterhead(), found, reason || null, by()),
      );
      return `${email} has no second factor any more (${removed} removed)`;
    },
    "no reason",
  );
  onAccount(
    "send-password-link",
    "mail the link to a new password, once you know who asks",
    async (found, email) => {
      mailed(await sendPasswordLink(company(), company(), letterhead(), found, by()), email);
      return `${email} has an hour to set a new password`;
    },
    "no reason",
  );
  onAccount(
    "close",
    "close a client's account: signed out at once, and nobody gets in",
    async (found, email, reason) => {
      orThrow(await closeAccount(company(), found, reason, by()));
      return `${email} is closed`;
    },
  );
  onAccount("open", "open a closed account again", async (found, email, reason) => {
    orThrow(await openAccount(company(), found, reason, by()));
    return `${email} is open`;
  });
  onAccount(
    "erase",
    "delete the account of a client who asks for it, unless shipments of theirs have to be kept",
    async (found, email, reason) => {
      const refused = await eraseAccount(
        company(),
        company(),
        found,
        reason || "The client asked for it",
        by(),
        letterhead(),
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
      mailed(await refuseErasure(company(), company(), letterhead(), found, reason, by()), email);
      return `${email} has the answer`;
    },
  );
  addColleagueCommands(staff, by);
  const mail = staff.command("mail").description("mails that could not be handed over");
  mail
    .command("list")
    .description("those that nobody has dealt with, the oldest first")
    .option("--json", "an array")
    .action(async ({ json }: Output) => {
      const all = await listUndelivered(company());
      print(json, all, all.map(mailLine));
    });
  mail
    .command("dealt-with")
    .description("take one off the list")
    .argument("<id>", "as `mail list` has it")
    .action(async (id: string) => {
      orThrow(await dismissUndelivered(company(), id, by()));
      note(by(), { act: "mail dealt with" });
      print(false, null, ["Taken off the list"]);
    });
  const notice = staff.command("notice").description("what all clients read above their shipments");
  notice
    .command("set")
    .description("say something to all clients, instead of what was said before")
    .argument("<text>", "up to 200 characters", upTo(200))
    .action(async (text: string) => {
      orThrow(await announce(company(), text, { by_name: by() }));
      note(by(), { act: "notice set" });
      print(false, null, ["All clients read it now"]);
    });
  notice
    .command("end")
    .description("end what is said to all clients")
    .action(async () => {
      orThrow(await endAnnouncement(company(), by()));
      note(by(), { act: "notice end" });
      print(false, null, ["Nothing is said to all clients any more"]);
    });
}

function addColleagueCommands(staff: Command, by: By): void {
  const colleague = staff.command("colleague").description("the people who work at the desk");
  const role = () => new Option("--role <role>", "a lead also invites and removes").choices([...ROLES]);
  colleague
    .command("invite")
    .description("mail somebody the way to the desk, good for seven days")
    .argument("<e-mail>", "an address that no client's account has", email)
    .requiredOption("--name <name>", "as it stands in the log", upTo(100))
    .addOption(role().default("clerk"))
    .action(async (email: string, who: { name: string; role: string }) => {
      const backend = company();
      mailed(await inviteColleague(backend, backend, letterhead(), { ...who, email }, { by_name: by() }), email);
      note(by(), { act: "colleague invite" });
      print(false, null, [`${email} has seven days to choose a password`]);
    });
  colleague
    .command("list")
    .description("who works at the desk")
    .option("--json", "an array")
    .action(async ({ json }: Output) => {
      const all = await listColleagues(company());
      print(json, all, all.map(colleagueLine));
    });
  colleague
    .command("role")
    .description("make a clerk a lead, or a lead a clerk")
    .argument("<e-mail>", "the colleague's e-mail address")
    .addOption(role().makeOptionMandatory())
    .action(async (email: string, { role }: { role: string }) => {
      const found = await findAccount(company(), email);
      orThrow(await changeRole(company(), found, role, by()));
      note(by(), { act: "colleague role", account: found, after: { role } });
      print(false, null, [`${email} is a ${role}`]);
    });
  colleague
    .command("remove")
    .description("sign a colleague out everywhere at once, and let them in no more")
    .argument("<e-mail>", "the colleague's e-mail address")
    .option(...why, upTo(500))
    .action(async (email: string, { reason = "They left" }: { reason?: string }) => {
      const found = await findAccount(company(), email);
      orThrow(await removeColleague(company(), found, reason, by()));
      note(by(), { act: "colleague remove", account: found });
      print(false, null, [`${email} is no colleague any more`]);
    });
}
