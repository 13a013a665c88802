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

test("Every action name that the database writes to the audit log has a label", () => {
  const names = new Set(listAuditNamesInSql().map((name) => name.slice(1, -1)));
  expect(names.size).toBeGreaterThanOrEqual(allStaffActions.length);
  expect([...names].filter((name) => !(name in AUDIT_LABELS))).toEqual([]);
  expect(allStaffActions.map(({ name }) => name).filter((name) => !names.has(name))).toEqual([]);
});

test("Every staff action is in the help of the staff command", () => {
  const program = new Command();
  addActionCommands(program, () => "Wanjiru Kamau");
  const listed = program.commands.flatMap((group) => group.commands.map((verb) => `${group.name()} ${verb.name()}`));
  expect(listed.sort()).toEqual(allStaffActions.map(({ name }) => name).sort());
  const help = program.helpInformation();
  for (const group of program.commands) expect(help).toContain(`${group.name()} `);
});
