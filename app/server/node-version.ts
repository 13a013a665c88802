/** Imported first: an older Node would fail in a later module, with an error that does not name the version. */
import { readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

// Older versions do not know import.meta.dirname.
const here = path.dirname(fileURLToPath(import.meta.url));
const { engines } = JSON.parse(readFileSync(path.join(here, "../../package.json"), "utf8")) as {
  engines: { node: string };
};
const oldest = engines.node.replace(">=", "");
const { node } = process.versions;
if (node.localeCompare(oldest, "en", { numeric: true }) < 0) {
  console.error(`This needs Node ${oldest} or newer, and this is ${node}.`);
  process.exit(1);
}
