import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { Command } from "commander";
import { expect, test } from "vitest";
import { AUDIT_LABELS, allStaffActions } from "../../actions/all-staff-actions.server.ts";
import { addActionCommands } from "./commands.ts";

const schemas = path.resolve(import.meta.dirname, "../../../supabase/schemas");

function listAuditNamesInSql(): string[] {
  const sql = readdirSync(schemas).map((file) => readFileSync(path.join(schemas, file), "utf8"));
  const calls = sql.flatMap((text) => text.split("private.insert_audit_entry(").slice(1));
  return calls.flatMap((call) => call.slice(0, call.indexOf(";")).match(/'[a-z-]+ [a-z\d-]+'/g) ?? []);
}

test("Every action name that the database writes to the audit log has a label.", () => {
  const names = new Set(listAuditNamesInSql().map((name) => name.slice(1, -1)));
  expect(names.size).toBeGreaterThanOrEqual(allStaffActions.length);
  expect([...names].filter((name) => !(name in AUDIT_LABELS))).toEqual([]);
  expect(allStaffActions.map(({ name }) => name).filter((name) => !names.has(name))).toEqual([]);
});

test("The help of the staff command lists every staff action.", () => {
  const program = new Command();
  addActionCommands(program, () => "Wanjiru Kamau");
  const listed = program.commands.flatMap((group) => group.commands.map((verb) => `${group.name()} ${verb.name()}`));
  expect(listed.sort()).toEqual(allStaffActions.map(({ name }) => name).sort());
  const help = program.helpInformation();
  for (const group of program.commands) expect(help).toContain(`${group.name()} `);
});

test("The help of a staff command lists the allowed values and their labels for fields with a list of values.", () => {
  const program = new Command();
  addActionCommands(program, () => "Wanjiru Kamau");
  const getHelp = (group: string, verb: string) => {
    const command = program.commands
      .find((each) => each.name() === group)
      ?.commands.find((each) => each.name() === verb);
    return command?.helpInformation().replace(/\s+/g, " ");
  };
  expect(getHelp("charge", "save")).toContain("the currency: KES, USD, EUR, GBP");
  expect(getHelp("charge", "paid")).toContain(
    "the charge is for: idf-fee (IDF Fee), duties (Duties & Taxes), agent-fee (Agent Fee)",
  );
  expect(getHelp("shipment", "correct")).toContain("an amount is due: yes");
});

test("The error of a staff command with an unknown value lists the allowed values of the field.", async () => {
  const program = new Command().exitOverride();
  addActionCommands(program, () => "Wanjiru Kamau");
  const run = (...words: string[]) => program.parseAsync(words, { from: "user" });
  await expect(run("charge", "save", "6a000000", "freight", "100")).rejects.toThrow(
    "item: Choose one of idf-fee (IDF Fee), duties (Duties & Taxes), agent-fee (Agent Fee).",
  );
  await expect(run("charge", "save", "6a000000", "duties", "1", "--currency", "XAU")).rejects.toThrow(
    "currency: Choose one of KES, USD, EUR, GBP.",
  );
});
