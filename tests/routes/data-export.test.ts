import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { addFile } from "../../app/models/added-file.server.ts";
import { runStaffAction } from "../../app/models/staff.server.ts";
import { accountPath, submitOnAccount } from "../support/account-suite.ts";
import {
  getDocument,
  newClient,
  newShipment,
  newShipments,
  replaceStoredFile,
  uploadDocument,
} from "../support/route-fixtures.ts";
import { verifyDocumentByName } from "../support/service-role.ts";
import { resultOrThrow, sendNote, setCharge } from "../support/staff-actions.ts";
import { createPdf, expectNoInternals, getTestApp, origin, parsePage } from "../support/test-app.ts";
import { unzip } from "../support/zip.ts";

const exportPath = `${accountPath}/data.zip`;

const app = await getTestApp();
const { sql } = app;
afterEach(() => app.proxy.fail("none"));

const unpack = async (response: Response) => unzip(Buffer.from(await response.arrayBuffer()));

describe("Content of the data export", () => {
  let client: Awaited<ReturnType<typeof newClient>>;
  let shipment: Awaited<ReturnType<typeof newShipment>>;
  let response: Response;
  let files: Map<string, Buffer>;
  const uploads = {
    "Commercial Invoice": createPdf("Invoice March.pdf", 70_000),
    "Packing List": createPdf("فاتورة.pdf", 3000),
    "Bill of Lading": new File(["Box,Weight\n1,20 kg\n"], "list.csv"),
  };
  beforeAll(async () => {
    client = await newClient(app, "Data Owner");
    shipment = await newShipment(app, client, "=Tea, for Juba");
    const [second = ""] = await newShipments(app, client, ["Second"]);
    const withdrawal = { shipment_id: second, reason: "Created twice" };
    resultOrThrow(await runStaffAction(app.company, "withdraw_shipment", withdrawal));
    await submitOnAccount(client.browser, "Save telephone number", { phone: "0722 123456", country: "KE" });
    for (const [name, file] of Object.entries(uploads))
      await uploadDocument(client.browser, shipment.portal, name, file);
    const added = { file: createPdf("exchanged.pdf"), from: "paper", note: "From the courier" } as const;
    const certificate = await getDocument(app.company, shipment.id, "Insurance Certificate");
    resultOrThrow(await addFile(app.company, app.company, certificate.id, added, { actor_name: "Akinyi" }));
    await verifyDocumentByName(app.company, shipment.id, "Packing List");
    resultOrThrow(await sendNote(app.company, shipment.id, "It came late", {}));
    const charge = { item: "duties", amount: 12500.5, currency: "KES", note: "=At the bank" };
    resultOrThrow(await setCharge(app.company, shipment.id, charge, {}));
    const { storage_path } = await getDocument(app.company, shipment.id, "Insurance Certificate");
    await replaceStoredFile(app.company, storage_path ?? "");
    const { action } = (await client.browser.open(accountPath)).form("Download your data");
    response = await client.browser.get(action);
    files = await unpack(response);
  });

  const text = (name: string) => files.get(name)?.toString("utf8") ?? "";
  const folder = () => `files/${shipment.id.slice(0, 8)}`;

  test("A client can download a ZIP archive with tables and files, and no cache stores the archive.", () => {
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "application/zip",
      "content-disposition": "attachment; filename=my-data.zip",
      "cache-control": "private, no-store",
    });
    const tables = ["account", "account-shipment-emails", "account-sessions", "charges", "documents", "history"];
    expect([...files.keys()].sort()).toEqual(
      [
        ...[...tables, "links", "log", "shipments"].map((name) => `${name}.csv`),
        ...["account.json", "shipments.json", "left-out.txt"],
        ...Object.entries(uploads).map(([name, file]) => `${folder()}/${name}, ${file.name}`),
      ].sort(),
    );
  });

  test("The data export contains each unchanged file with the same bytes, and names a file that was replaced in storage.", async () => {
    for (const [name, file] of Object.entries(uploads)) {
      const packed = files.get(`${folder()}/${name}, ${file.name}`);
      expect([name, packed?.equals(Buffer.from(await file.arrayBuffer()))]).toEqual([name, true]);
    }
    expect(text("left-out.txt")).toBe(
      `${folder()}/Insurance Certificate, exchanged.pdf: This file is damaged or missing.\n`,
    );
  });

  test("The data export contains the account and every shipment, but no storage paths and no secrets.", () => {
    const account = JSON.parse(text("account.json"));
    const { id, email, name } = client;
    expect(account).toMatchObject({
      id,
      email,
      full_name: name,
      phone: "+254722123456",
      shipment_emails_enabled: true,
    });
    expect([Boolean(account.client_id), account.sessions.length]).toEqual([true, 1]);
    const shipments = JSON.parse(text("shipments.json"));
    expect(shipments.map((each: { name: string }) => each.name)).toEqual(["Second", "=Tea, for Juba"]);
    expect(shipments[1]).toMatchObject({
      id: shipment.id,
      charges: [{ item: "duties", amount: 12500.5, currency: "KES" }],
      tracking_events: [{ status: "Note", note: "It came late" }],
    });
    expect(shipments[1].documents).toHaveLength(4);
    const archive = [...files.values()].map((file) => file.toString("latin1")).join("\n");
    const secrets = ["Akinyi", "storage_path", "password", "token", "$2b$", "$2a$", "idempotency_key", `${client.id}/`];
    expect(secrets.filter((secret) => archive.includes(secret))).toEqual([]);
  });

  test("The tables of the data export contain no formulas, and they name the files of the archive.", () => {
    for (const name of ["shipments.csv", "documents.csv", "history.csv", "charges.csv", "links.csv", "log.csv"]) {
      expect([name, text(name).startsWith('\ufeff"Shipment number",')]).toEqual([name, true]);
      expect([name, /"\s*[=+@-]/.exec(text(name))]).toEqual([name, null]);
    }
    expect(text("shipments.csv")).toContain(`"${shipment.id}","'=Tea, for Juba"`);
    expect(text("shipments.csv")).toMatch(/,"Second","\d{4}-\d\d-\d\d \d\d:\d\d","Created twice",/);
    expect(text("charges.csv")).toContain(`"Duties & Taxes","12500.5","KES","","'=At the bank",""`);
    expect(text("history.csv")).toContain('"1","Note","","It came late"');
    const time = String.raw`"\d{4}-\d\d-\d\d \d\d:\d\d"`;
    const head = '"Shipment number","Time (EAT)","Action","Change","Reason"';
    expect(text("log.csv").split("\r\n")[0]).toBe(`\ufeff${head}`);
    expect(text("log.csv")).toMatch(new RegExp(`^"${shipment.id}",${time},"Note sent","",""\r$`, "m"));
    expect(text("log.csv")).toMatch(new RegExp(`,${time},"Charge saved","Duties & Taxes, KES 12,500.50",""\r$`, "m"));
    const tables = [...files.keys()].filter((name) => name.endsWith(".csv")).map(text);
    expect(tables.filter((table) => /UTC|\d\dT\d\d:|_at"/.test(table))).toEqual([]);
    expect(text("account.csv")).toContain('"Full name","Data Owner"');
    expect(text("account.csv")).toContain('"Phone","\'+254722123456"');
    expect(text("account-shipment-emails.csv")).toContain(`"${shipment.id}","Payment due: Duties & Taxes"`);
    expect(text("documents.csv")).toMatch(/"exchanged\.pdf",.*,"us","Paper","From the courier",/);
    expect(text("documents.csv")).toMatch(/"list\.csv",.*,"you","","",/);
    expect(text("log.csv")).toContain('"File added for the client","from paper"');
    const paths = [...text("documents.csv").matchAll(/"(files\/[^"]*)"/g)].map(([, path = ""]) => path);
    expect(paths).toHaveLength(4);
    expect(paths.filter((path) => !files.has(path))).toEqual([`${folder()}/Insurance Certificate, exchanged.pdf`]);
  });
});

describe("Download of the data export", () => {
  test("A second data export during the first data export is rejected and does not count towards the rate limit.", async () => {
    const { browser } = await newClient(app, "Impatient Owner");
    const first = await browser.get(exportPath);
    for (let click = 1; click <= 5; click += 1) {
      const page = await parsePage(await browser.get(exportPath));
      expect([page.status, page.headers.get("Retry-After")]).toEqual([429, "60"]);
      expect(page.text).toContain("Your data is already downloading. Try again in a minute.");
    }
    await unpack(first);
    const next = await browser.get(exportPath);
    expect(next.status).toBe(200);
    await unpack(next);
  });

  test("A HEAD request, a prefetch and a link from another site start no export and do not count towards the limit of five per hour.", async () => {
    const { browser } = await newClient(app, "Clicking Owner");
    const requests: [string, Record<string, string>][] = [
      ["HEAD", {}],
      ["HEAD", { "Sec-Fetch-Site": "same-origin" }],
      ["GET", { "Sec-Fetch-Site": "cross-site" }],
      ["GET", { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate" }],
      ["GET", { "Sec-Purpose": "prefetch" }],
      ["GET", { "Sec-Fetch-Site": "same-origin", "Sec-Purpose": "prefetch;prerender" }],
    ];
    const calls = await app.proxy.during(async () => {
      for (const [method, headers] of requests) {
        const response = await browser.send(new Request(new URL(exportPath, origin), { method, headers }));
        const { "content-disposition": file, location } = Object.fromEntries(response.headers);
        const seen = { method, headers, status: response.status, location, file };
        expect(seen).toEqual({ method, headers, status: 303, location: accountPath, file: undefined });
      }
    });
    expect(calls.filter((call) => /data_export|attempt/.test(call))).toEqual([]);
    for (const site of ["same-origin", "same-origin", "same-site", "none", "none"]) {
      const response = await browser.get(exportPath, { "Sec-Fetch-Site": site });
      expect([site, response.status]).toEqual([site, 200]);
      await response.arrayBuffer();
    }
    const page = await parsePage(await browser.get(exportPath));
    expect([page.status, Number(page.headers.get("Retry-After")) > 0]).toEqual([429, true]);
    expect(page.text).toMatch(
      /You have downloaded your data several times in the last hour\. Try again in \d+ minutes\./,
    );
    expect(page.headers.get("Content-Disposition")).toBeNull();
  });

  test("The data export of 101 shipments reads each page of 50 shipments once and contains each shipment once.", async () => {
    const { id, browser } = await newClient(app, "Large Owner");
    await sql`insert into shipments (user_id, name) select ${id}, 'Row ' || n from generate_series(1, 101) as n`;
    let files = new Map<string, Buffer>();
    const calls = await app.proxy.during(async () => {
      files = await unpack(await browser.get(exportPath));
    });
    // The first three pages contain 50, 50 and 1 shipments. The fourth page is empty.
    const pageCalls = calls.filter((call) => call.includes("rpc/data_export"));
    expect([pageCalls.length, new Set(pageCalls).size]).toEqual([4, 4]);
    const shipments = JSON.parse(files.get("shipments.json")?.toString() ?? "") as { id: string }[];
    expect([shipments.length, new Set(shipments.map((shipment) => shipment.id)).size]).toEqual([101, 101]);
    expect(String(files.get("shipments.csv")).match(/"Row \d+"/g)).toHaveLength(101);
  });

  test("If the backend does not respond, the data export shows an error and sends no file.", async () => {
    const { browser } = await newClient(app, "Unlucky Owner");
    app.proxy.fail(503, /rpc\/data_export/);
    const page = await parsePage(await browser.get(exportPath));
    expect([page.status, page.headers.get("Content-Disposition")]).toEqual([503, null]);
    expectNoInternals(page);
  });

  test("If the backend fails during the download, the incomplete archive cannot be unpacked.", async () => {
    const client = await newClient(app, "Interrupted Owner");
    await newShipments(app, client, ["First page"]);
    app.proxy.fail(500, /rpc\/data_export\?before/);
    const response = await client.browser.get(exportPath);
    expect(response.status).toBe(200);
    const body = await response.arrayBuffer().catch(() => new ArrayBuffer(0));
    expect(() => unzip(Buffer.from(body))).toThrow();
  });
});
