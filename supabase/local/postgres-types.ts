/** How values travel between postgres.js and a server, where that differs from PGlite. */
import { parse } from "postgres-array";
import { isoTimestamp } from "./database.ts";

const asText = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
const asArray = (values: unknown) => {
  if (!Array.isArray(values)) return values;
  const quoted = values.map((value) => (value === null ? "NULL" : `"${String(value).replace(/["\\]/g, "\\$&")}"`));
  return `{${quoted.join(",")}}`;
};
const arrayOf = (oid: number, element: (text: string) => unknown) => ({
  to: oid,
  from: [oid],
  serialize: asArray,
  parse: (text: string) => parse(text, element),
});

export const typesOfPglite = {
  timestamp: { to: 1114, from: [1114], serialize: String, parse: isoTimestamp },
  timestamptz: { to: 1184, from: [1184], serialize: String, parse: isoTimestamp },
  // Text for a JSON value is that value's JSON.
  json: { to: 114, from: [114], serialize: asText, parse: JSON.parse },
  jsonb: { to: 3802, from: [3802], serialize: asText, parse: JSON.parse },
  booleans: arrayOf(1000, (text) => text === "t"),
  names: arrayOf(1003, String),
  smallints: arrayOf(1005, Number),
  integers: arrayOf(1007, Number),
  bigints: arrayOf(1016, Number),
  oids: arrayOf(1028, Number),
  texts: arrayOf(1009, String),
  varchars: arrayOf(1015, String),
  uuids: arrayOf(2951, String),
};
