import path from "node:path";
import { expect, test } from "vitest";
import { schemaFiles } from "../../supabase/baseline.ts";
import { readText } from "./texts.ts";

const schemas = schemaFiles().map((file) => ({
  noun: path.basename(file, ".sql"),
  text: readText(path.join("supabase", file)),
}));
const definitions = schemas.flatMap(({ noun, text }) =>
  [...text.matchAll(/^create (?:table|function|type) (?:public\.|private\.)?([a-z_]+)/gm)].map(([, name = ""]) => ({
    noun,
    name,
  })),
);

/** Matches the functions that read the data of a page. Files such as desk_pages.sql define these functions. */
const pageFunction = /^(desk|portal)_|^list_(desk|client)_/;

/** Existing functions whose names contain the noun of another schema file. Add no entries. */
const exceptions = { role_to_change_account: "staff", shared_shipment: "share_links", touch_shipment: "waiting_on" };

test("Every table and every function is defined exactly once in the schema files.", () => {
  expect(definitions.length).toBeGreaterThan(100);
  const names = definitions.map(({ name }) => name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  expect(schemas.filter(({ text }) => /^(create or replace|alter table .* (add|drop)|drop) /m.test(text))).toEqual([]);
});

test("A schema file such as shipments.sql defines all tables and functions whose names end with the file's noun.", () => {
  const misplaced = definitions.filter(({ noun, name }) => {
    const owners = schemas.map((schema) => schema.noun).filter((owner) => endsWithNoun(name, owner));
    return owners.length > 0 && !owners.includes(noun) && !pageFunction.test(name);
  });
  expect(Object.fromEntries(misplaced.map(({ noun, name }) => [name, noun]))).toEqual(exceptions);
});

/** True if `name` ends with the singular or plural of `noun`. */
function endsWithNoun(name: string, noun: string): boolean {
  return [noun, noun.replace(/s$/, "")].some((form) => `_${name}`.endsWith(`_${form}`));
}
