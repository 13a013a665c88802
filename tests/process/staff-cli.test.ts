import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import path from "node:path";
import process from "node:process";
import { text } from "node:stream/consumers";
import { Command } from "commander";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { listAuditEntries } from "../../app/models/audit-log.server.ts";
import { addActionCommands } from "../../app/server/cli/commands.ts";
import { addReadingCommands } from "../../app/server/cli/reading.ts";
import { createSiteEnvironment } from "../support/environment.ts";
import { newLoggedInBrowser, newShipment } from "../support/logged-in-browser.ts";
import { readEmailsTo } from "../support/outbox.ts";
import { createServiceRoleClient } from "../support/service-role.ts";
import { root } from "../support/site-process.ts";
import { createSiteSandbox, demoCredentials } from "../support/site-sandbox.ts";
import { createPdf, origin, parsePage } from "../support/test-app.ts";

let sandbox: Awaited<ReturnType<typeof createSiteSandbox>>;
beforeAll(async () => {
  sandbox = await createSiteSandbox();
  await sandbox.start().waitUntilReady();
});
afterAll(() => sandbox.leave());

const shipmentId = "5a000000-0000-4000-8000-000000000001";
const getIdFromPath = (address: string) => address.split("/").at(-1) ?? "";
const controlCharacters = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

test("Staff commands print escape sequences in place of invisible characters.", async () => {
  const failed = await sandbox.staff(["document", "verify", shipmentId, "Bill\x1b[31m\u202eof Lading"]);
  expect(failed.code).toBe(1);
  expect(failed.stderr.trimEnd()).not.toMatch(controlCharacters);
  expect(failed.stderr).toContain("Bill\\u001b[31m\\u202eof Lading");
});

test("A staff command finds a shipment by its short id. The audit log has the given name or the system user's name.", async () => {
  const browser = sandbox.browser();
  await browser.post("/login", demoCredentials);
  const tiles = await newShipment(browser, "Tiles", 2000);
  const beginning = getIdFromPath(tiles).slice(0, 13);
  const by = ["--by", "Wanjiru  Kamau"];
  await runInProcess(["document", "verify", beginning, "Packing List"]);
  await runInProcess(["shipment", "save-numbers", beginning, "--awb", "MSCU 7788990"]);
  for (const words of [
    ["shipment", "move", shipmentId.slice(0, 13), "--location", "Kilindini", ...by],
    [...by, "shipment", "save-numbers", shipmentId, "--awb", "MEDUX0000001", "--reason", "Another ship"],
    ["client-id", "issue", "--count", "2"],
  ]) {
    expect((await sandbox.staff(words)).code, words.join(" ")).toBe(0);
  }
  const { text: tilesText } = await parsePage(await browser.get(tiles));
  for (const shown of ["Packing List Verified", "MSCU 7788990"]) expect(tilesText).toContain(shown);
  const { text: movedText } = await parsePage(await browser.get(`/portal/${shipmentId}`));
  for (const shown of ["Stage 7/10", "Kilindini", "MEDUX0000001"]) expect(movedText).toContain(shown);

  const json = JSON.parse((await sandbox.staff(["log", "--json"])).stdout);
  const target = { actor_name: "Wanjiru Kamau", shipment_id: shipmentId };
  const awbChange = { before: { awb: "MEDUX4471203" }, after: { awb: "MEDUX0000001" } };
  const move = { before: { stage: 6 }, after: { stage: 7, location: "Kilindini" } };
  // Compares only the three newest audit entries, because the demo data contains older entries.
  expect(json.slice(0, 3)).toMatchObject([
    { actor_name: userInfo().username, action: "client-id issue", shipment_id: null, after: { count: 2 } },
    { ...target, action: "shipment save-numbers", ...awbChange },
    { ...target, action: "shipment move", ...move },
  ]);

  const { stdout } = await sandbox.staff(["log", "--since", new Date().toISOString().slice(0, 10)]);
  const lines = stdout.trimEnd().split("\n");
  expect(lines.filter((line) => line.includes("  client-id issue  "))).toHaveLength(1);
  expect(lines.findIndex((line) => line.includes("shipment move"))).toBeGreaterThan(
    lines.findIndex((line) => line.includes("shipment save-numbers")),
  );
  expect(stdout).toMatch(
    /^\d+ \w+ \d{4}, \d\d:\d\d\sEAT {2}Wanjiru Kamau {2}shipment save-numbers {2}shipment 5a000000\S+ {2}\{"awb":"MEDUX4471203"\} → \{"awb":"MEDUX0000001"\} {2}Another ship$/m,
  );
});

test("The error of a misspelled staff command suggests the right command.", async () => {
  const { stderr } = await sandbox.staff(["shipment", "moved"]);
  expect(stderr).toContain("unknown command 'moved' (Did you mean move?)");
});

/** Runs a staff command in this process to save time. Returns the command's output, or throws the command's error. */
async function runInProcess(words: string[]) {
  vi.stubEnv("DATA_DIR", sandbox.dataDir).stubEnv("APP_ORIGIN", origin);
  const out = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const err = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const textOf = (spy: typeof out) => spy.mock.calls.map(([some]) => String(some)).join("");
  try {
    const program = new Command().exitOverride();
    addReadingCommands(program, () => "Wanjiru Kamau");
    addActionCommands(program, () => "Wanjiru Kamau");
    await program.parseAsync(words, { from: "user" });
    return { stdout: textOf(out), stderr: textOf(err) };
  } finally {
    out.mockRestore();
    err.mockRestore();
    vi.unstubAllEnvs();
  }
}

test("Staff commands perform the same actions as the desk.", async () => {
  const shipment = "6a000000-0000-4000-8000-000000000005";
  const arrival = ["--storage-location", "nairobi icd", "--day", "2026-05-10", "--cargo", "Vehicle"];
  const why = ["--reason", "A mistake"];
  const scan = path.join(sandbox.dataDir, "scan.jpg");
  await writeFile(scan, Buffer.from(await createPdf().arrayBuffer()));
  const steps: [string[], string][] = [
    [
      ["shipment", "correct", shipment, "--stage", "customs declaration", ...why],
      "Stage corrected to Customs Declaration",
    ],
    [["shipment", "arrived", shipment, ...arrival], "Arrival saved"],
    [["shipment", "remove-arrival", shipment, ...why], "Arrival removed"],
    [["shipment", "correct", shipment, "--stage", "3", ...why], "Stage corrected to IDF Application"],
    [["shipment", "withdraw", shipment, ...why], "Shipment withdrawn"],
    [["shipment", "restore", shipment, ...why], "Shipment restored"],
    [["charge", "save", shipment, "agent-fee", "12500.50"], "Agent Fee: charge saved"],
    [["charge", "paid", shipment, "Agent  fee"], "Agent Fee marked as paid"],
    [["shipment", "note", shipment, "The ship is in"], "Note sent"],
    [
      ["document", "request-new-file", shipment, "Commercial Invoice", "--reason", "Page 2 is missing"],
      `${shipment}: Commercial Invoice: new file requested\n`,
    ],
    [
      ["account", "save-phone", demoCredentials.email, "0772 123456", "--country", "UG"],
      "Telephone number +256 772 123456 saved",
    ],
    [["account", "save-phone", demoCredentials.email], "Telephone number removed"],
    [
      ["document", "add-file", shipment, "Commercial Invoice", scan, "--from", "WhatsApp", "--note", "Page 2 follows"],
      `${shipment}: Commercial Invoice: file added\n`,
    ],
    [
      ["document", "remove-file", shipment, "Commercial Invoice", ...why],
      `${shipment}: Commercial Invoice: file removed\n`,
    ],
    [["announcement", "publish", "Customs system down since 09:10"], "Announcement published"],
    [["announcement", "remove"], "Announcement removed"],
    [
      ["team", "invite", "baraka@company.example", "--name", "Baraka Ouma"],
      "Invitation sent to baraka@company.example",
    ],
    [["team", "list"], "clerk  baraka@company.example            Baraka Ouma, invited"],
    [["shipment", "hand-over", shipment, "baraka@company.example", "--note", "Urgent"], "handed over to Baraka Ouma"],
    [["shipment", "hand-over", shipment, "nobody"], "Nobody handles the shipment now"],
    [["team", "remove", "baraka@company.example"], "baraka@company.example: Baraka Ouma removed from the desk"],
    [["failed-email", "list"], ""],
    [["report", "--to", "2020-12"], "Total                            0         0         0"],
  ];
  for (const [words, message] of steps) {
    const { stdout, stderr } = await runInProcess(words);
    expect(
      stderr.split("\n").filter((line) => line && !line.startsWith("{")),
      words.join(" "),
    ).toEqual([]);
    expect(stdout, words.join(" ")).toContain(message);
  }
  const issued = await runInProcess(["client-id", "issue", "--for", "Tea traders", "--email", "tea@client.example"]);
  await runInProcess(["client-id", "send", issued.stdout.trim()]);
  expect(await readEmailsTo(sandbox.dataDir, "tea@client.example")).toHaveLength(2);
  const typedId = issued.stdout.trim().toLowerCase().replaceAll("-", " ");
  await runInProcess(["client-id", "withdraw", typedId, ...why]);
  const failures: [string[], string][] = [
    [
      ["client-id", "issue", "--email", "a@b.example, c@d.example"],
      "email: Enter an email address such as name@example.com",
    ],
    [["shipment", "extend-retention", shipment, "2099-02-30"], "day: Enter a date that exists, such as 2026-05-31."],
    [
      ["shipment", "arrived", shipment, ...arrival.with(1, "malaba"), "--cargo", "air"],
      "cargo: Air freight arrives only at airports.",
    ],
    [["shipment", "remove-arrival", shipment, ...why], "This shipment has no arrival."],
    [
      ["account", "save-phone", demoCredentials.email, "0722"],
      "This is not a telephone number of Kenya. Enter a number such as 0722 123456",
    ],
    [
      ["document", "add-file", shipment, "Commercial Invoice", scan, "--from", "fax"],
      "from: Choose one of whatsapp (WhatsApp), email (Email), paper (Paper).",
    ],
    [
      ["document", "add-file", shipment, "Commercial Invoice", "no-such.pdf", "--from", "paper"],
      "file: The file no-such.pdf does not exist or cannot be read.",
    ],
    [["shipment", "hand-over", shipment, demoCredentials.email], "Team member not found."],
    [["report", "--from", "May"], "from: Enter a month such as 2026-05."],
    [["account", "reset-2fa", demoCredentials.email, "--reason", "Lost phone"], "2FA is not set up on this account."],
    [["shipment", "move", shipment], 'To continue, add "--confirm yes".'],
  ];
  for (const [words, message] of failures) await expect(runInProcess(words)).rejects.toThrow(message);
  const moved = await runInProcess(["shipment", "move", shipment, "--confirm", "yes"]);
  expect(moved.stdout).toContain("Shipment moved to Customs Declaration");
});

test("Staff commands open one shipment, or several shipments from a file in the encodings of spreadsheet programs.", async () => {
  const email = demoCredentials.email;
  const one = await runInProcess(["shipment", "open", email, "--name", "Opened tea", "--awb", "OPEN 1"]);
  expect(one.stdout).toMatch(/^[0-9a-f-]{36} {2}Opened tea\n$/);
  expect(one.stderr).toContain('"action":"shipment open"');
  const again = ["shipment", "open", email, "--name", "Again", "--awb", "open-1"];
  await expect(runInProcess(again)).rejects.toThrow("The open shipment “Opened tea” already has the number open-1.");
  expect((await runInProcess([...again, "--confirm-repeated", "yes"])).stdout).toContain("  Again\n");

  const file = path.join(sandbox.dataDir, "list.csv");
  const openSeveral = (content: Buffer | string) => {
    writeFileSync(file, content);
    return runInProcess(["shipment", "open-several", email, file]);
  };
  const text = "Name;AWB\r\nCafé;OPEN-1\r\nRice;\r\n";
  const warning = "Line 2: The open shipment “Opened tea” already has the number OPEN-1.";
  const { stdout } = await openSeveral(Buffer.from(text, "latin1"));
  expect(stdout.replace(/^[0-9a-f-]{36}/gm, "ID")).toBe(`ID  Café\nID  Rice\n${warning}\n`);
  const unicode = await openSeveral(Buffer.from(`\ufeffCrème\tX7`, "utf16le"));
  expect(unicode.stdout).toMatch(/^[0-9a-f-]{36} {2}Crème\n$/);
  await expect(openSeveral("Tea\n;X8")).rejects.toThrow("Line 2: Enter a name for the shipment.");
});

test("While the site runs, staff commands can list and delete expired data, and extend the retention of a shipment.", async () => {
  const email = "past@client.example";
  const browser = await newLoggedInBrowser(sandbox, email);
  const past = await newShipment(browser, "Old tea", 2000);
  const disputed = await newShipment(browser, "Disputed tea", 2000);
  for (const address of [past, disputed]) {
    const shipments = createServiceRoleClient(sandbox.dataDir).from("shipments");
    const end = { retention_ends_on: "2020-01-31" };
    expect((await shipments.update(end).eq("id", getIdFromPath(address))).error).toBeNull();
  }
  await runInProcess(["shipment", "extend-retention", getIdFromPath(disputed), "2099-12-31"]);

  const listed = await sandbox.staff(["retention"]);
  expect(listed.stdout.split("\n")).toEqual([
    `shipment ${getIdFromPath(past)}, retention ended 2020-01-31: Old tea`,
    expect.stringMatching(
      new RegExp(`^file [0-9a-f-]{36}/${getIdFromPath(past)}/packing-list-[0-9a-f]{12}-list\\.pdf$`),
    ),
    "To delete the listed data, run the command with --delete.",
    "",
  ]);
  expect(listed.stderr).toBe("");
  expect((await browser.get(past)).status).toBe(200);

  const done = await sandbox.staff(["retention", "--delete"]);
  expect(done.code).toBe(0);
  const lines = done.stderr.split("\n").filter(Boolean);
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ event: "staff action", action: "retention", shipment_id: getIdFromPath(past) }),
    expect.objectContaining({ event: "staff action", action: "retention", after: { files: 1 } }),
  ]);
  const { value: logged } = await listAuditEntries(createServiceRoleClient(sandbox.dataDir), undefined).next();
  expect(logged?.slice(0, 2).reverse()).toEqual([
    expect.objectContaining({ action: "retention", shipment_id: getIdFromPath(past) }),
    expect.objectContaining({ action: "retention", after: { files: 1 } }),
  ]);
  expect((await browser.get(past)).status).toBe(404);
  expect((await parsePage(await browser.get(disputed))).text).toContain(
    "Packing List Uploaded. We are checking your file",
  );
  await expect(runInProcess(["account", "erase", email])).rejects.toThrow(
    "Nothing was deleted. We must store the shipment records of this account until 31 December 2099.",
  );
});

test("A staff command ends without an error if the program that reads its output ends.", async () => {
  const child = spawn(process.execPath, ["app/server/run.js", "staff", "shipment", "list"], {
    cwd: root,
    env: createSiteEnvironment({ DATA_DIR: sandbox.dataDir }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.destroy();
  const stderr = text(child.stderr);
  await once(child, "close");
  expect(await stderr).toBe("");
  expect(child.exitCode).toBe(0);
});
