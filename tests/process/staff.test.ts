import { spawn } from "node:child_process";
import { once } from "node:events";
import { userInfo } from "node:os";
import process from "node:process";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { companyOf } from "../support/company.ts";
import { bareEnvironment } from "../support/environment.ts";
import { aPlace } from "../support/place.ts";
import { root } from "../support/site-process.ts";

let place: Awaited<ReturnType<typeof aPlace>>;
beforeAll(async () => {
  place = await aPlace();
  await place.start().answers();
});
afterAll(() => place.leave());

const id = "5a000000-0000-4000-8000-000000000001";
const controls = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

test("what was written down of a shipment is one text in the company's terminal, whatever is in it", async () => {
  const awb = "Tea\r\n5a000000-0000  10/10\x1b[2K\x9b1A\u202e\u2028x";
  const shipments = companyOf(place.dataDir).from("shipments");
  const before = await shipments.select("awb").eq("id", id).single();
  const written = await shipments.update({ awb }).eq("id", id).select("id");
  expect(written.data).toHaveLength(1);

  const listed = await place.staff(["shipment", "list"]);
  const lines = listed.printed.trimEnd().split("\n");
  expect(lines.filter((line) => controls.test(line))).toEqual([]);
  expect(lines.filter((line) => /^[0-9a-f-]{36} {2}/.test(line))).toHaveLength(lines.length);
  expect(lines.find((line) => line.startsWith(id))).toContain(
    "Tea\\u000d\\u000a5a000000-0000 10/10\\u001b[2K\\u009b1A\\u202e\\u2028x",
  );

  const json = (await place.staff(["shipment", "list", "--json"])).printed.trimEnd();
  expect(json).not.toMatch(controls);
  expect(JSON.parse(json)).toHaveLength(lines.length);
  expect(JSON.parse(json)).toContainEqual(expect.objectContaining({ id, awb }));

  await shipments.update({ awb: before.data?.awb ?? null }).eq("id", id);

  const failed = await place.staff(["document", "verify", id, "Bill\x1b[31m\u202eof Lading"]);
  expect(failed.code).toBe(1);
  expect(failed.told.trimEnd()).not.toMatch(controls);
  expect(failed.told).toContain("Bill\\u001b[31m\\u202eof Lading");
});

test("what the company does is in its log, by the name that was given, or the user's", async () => {
  const note = ["--by", "Wanjiru  Kamau"];
  expect((await place.staff(["shipment", "advance", id, "--location", "Kilindini", ...note])).code).toBe(0);
  expect((await place.staff([...note, "shipment", "set-awb", id, "MEDUX0000001"])).code).toBe(0);
  expect((await place.staff(["client-id", "new", "--count", "2"])).code).toBe(0);

  const json = JSON.parse((await place.staff(["log", "--json"])).printed);
  const acts = [
    { by_name: userInfo().username, act: "client-id new", shipment: null, before: null, after: { count: 2 } },
    {
      by_name: "Wanjiru Kamau",
      act: "shipment set-awb",
      shipment: id,
      before: { awb: "MEDUX4471203" },
      after: { awb: "MEDUX0000001" },
    },
    {
      by_name: "Wanjiru Kamau",
      act: "shipment advance",
      shipment: id,
      before: { stage: 6 },
      after: { stage: 7, location: "Kilindini" },
    },
  ];
  // Older are those of the demo.
  expect(json.slice(0, acts.length)).toEqual(acts.map((act) => expect.objectContaining(act)));

  const { printed } = await place.staff(["log", "--since", new Date().toISOString().slice(0, 10)]);
  const lines = printed.trimEnd().split("\n");
  expect(lines.filter((line) => line.includes("  client-id new  "))).toHaveLength(1);
  expect(lines.findIndex((line) => line.includes("shipment advance"))).toBeGreaterThan(
    lines.findIndex((line) => line.includes("shipment set-awb")),
  );
  expect(printed).toMatch(
    /^\d+ \w+ \d{4}, \d\d:\d\d EAT {2}Wanjiru Kamau {2}shipment set-awb {2}shipment 5a000000\S+ {2}\{"awb":"MEDUX4471203"\} → \{"awb":"MEDUX0000001"\}$/m,
  );
  expect((await place.staff(["log", "--since", "2999-01-01"])).printed).toBe("");
});

test("a command whose reader has gone ends without a word", async () => {
  const child = spawn(process.execPath, ["app/server/run.js", "staff", "shipment", "list"], {
    cwd: root,
    env: bareEnvironment({ DATA_DIR: place.dataDir }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.destroy();
  const told = text(child.stderr);
  await once(child, "close");
  expect(await told).toBe("");
  expect(child.exitCode).toBe(0);
});
