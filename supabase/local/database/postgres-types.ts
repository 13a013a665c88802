/** How values travel between postgres.js and a server, where that differs from PGlite. */
import { parse } from "postgres-array";
import { isoTimestamp } from "./database.ts";

const serializeJson = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
const serializeArray = (values: unknown) => {
  if (!Array.isArray(values)) return values;
  const quoted = values.map((value) => (value === null ? "NULL" : `"${String(value).replace(/["\\]/g, "\\$&")}"`));
  return `{${quoted.join(",")}}`;
};
const arrayType = (oid: number, element: (text: string) => unknown) => ({
  to: oid,
  from: [oid],
  serialize: serializeArray,
  parse: (text: string) => parse(text, element),
});

export const pgliteCompatibleTypes = {
  timestamp: { to: 1114, from: [1114], serialize: String, parse: isoTimestamp },
  timestamptz: { to: 1184, from: [1184], serialize: String, parse: isoTimestamp },
  // Text for a JSON value is that value's JSON.
  json: { to: 114, from: [114], serialize: serializeJson, parse: JSON.parse },
  jsonb: { to: 3802, from: [3802], serialize: serializeJson, parse: JSON.parse },
  booleans: arrayType(1000, (text) => text === "t"),
  names: arrayType(1003, String),
  smallints: arrayType(1005, Number),
  integers: arrayType(1007, Number),
  bigints: arrayType(1016, Number),
  oids: arrayType(1028, Number),
  texts: arrayType(1009, String),
  varchars: arrayType(1015, String),
  uuids: arrayType(2951, String),
};
