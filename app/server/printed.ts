/** What the company's command prints. Nothing that a client typed looks like a line of ours, or commands the terminal. */
import process from "node:process";
import { eastAfricaTime } from "../lib/dates.ts";
import { visible } from "../lib/visible.ts";
import type { Act, LoggedAct } from "../models/act.server.ts";

/** Prints lines, or the value as JSON. */
export function print(json: boolean | undefined, value: unknown, lines: string[]): void {
  const all = json ? [JSON.stringify(value)] : lines;
  process.stdout.write(all.map((line) => `${visible(line)}\n`).join(""));
}

/** One line about an act, on standard error, beside what the command prints. */
export function note(by: string, act: Act): void {
  const line = { time: new Date().toISOString(), level: "info", event: "staff act", by, ...act };
  process.stderr.write(`${visible(JSON.stringify(line))}\n`);
}

/** An act as a line: when, who, what, on what, what it changed, why. */
export function logLine(act: LoggedAct): string {
  const on = (["shipment", "document", "account"] as const).flatMap((what) =>
    act[what] ? `${what} ${act[what]}` : [],
  );
  const change = [act.before, act.after].flatMap((state) => (state === null ? [] : JSON.stringify(state)));
  const parts = [eastAfricaTime(act.at), act.by_name, act.act, ...on, change.join(" → "), act.reason ?? ""];
  return parts.filter(Boolean).map(oneBlank).join("  ");
}

/** A text without rows of blanks: enough of them would begin a new line at the edge of the terminal. */
export function oneBlank(text: string): string {
  return text.replace(/ {2,}/g, " ");
}

/** The first line of a message, without what comes from the inside of a library. */
export function firstLine(text: string): string {
  return visible(text.trim().split("\n")[0] ?? "");
}
