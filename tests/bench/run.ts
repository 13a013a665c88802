/**
 * npm run bench: what the site costs on a slow line and under load, on this machine, in one run. `--json` prints one
 * object instead of tables; `--only paint|load|portal|desk|before` runs a part. `--before <folder>` measures the portal and
 * the login of an older checkout too, in which `npm ci` has run. Nothing here is a test: times differ by machine.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { ensureBuild } from "../../app/server/start/build.ts";
import { demo } from "../../app/server/start/demo.ts";
import { ensureBrowser } from "../support/browser.ts";
import { doors, publicPages } from "../support/pages.ts";
import { type Desk, deskCost } from "./desk.ts";
import { changed, companyOf, growTo, type Load, load, logIn, portalCost, secretSigned } from "./load.ts";
import { type Mode, measure, openBrowser, type PageCost } from "./pages.ts";
import { barePeer } from "./peer.ts";
import { bareServer, memoryOf, ourSite, ourSiteOn, plainServe, type Site, stop } from "./site.ts";
import { lines, slowLine } from "./slow-line.ts";
import { tlsFront } from "./tls.ts";

const only = process.argv[process.argv.indexOf("--only") + 1];
const wants = (part: string) => !process.argv.includes("--only") || only === part;
const older = process.argv.includes("--before") ? process.argv[process.argv.indexOf("--before") + 1] : undefined;
const asJson = process.argv.includes("--json");

/** Without the last public page, which is a 404. */
const measured = [...publicPages.slice(0, -1), ...doors];

type Paint = PageCost & { page: string; line: string; mode: Mode };
type Rate = Load & { what: string; server: string };
type Growth = { shipments: number; list: Cost; search: Cost; account: Cost; detail: Cost };
type Calls = { backend: string; calls: string; perSecond: number; time: number };
type Change = { what: string; before: number; now: number };
type Cost = { time: number; bytes: number };

const work = mkdtempSync(path.join(tmpdir(), "portal-bench-"));
const running: Site[] = [];
try {
  await ensureBuild();
  const first = await ourSite(work);
  await stop(first);
  const second = await ourSite(work);
  await stop(second, "SIGKILL");
  const site = await ourSite(work);
  running.push(site);
  const origin = `http://127.0.0.1:${site.port}`;
  const result = {
    startToFirstAnswer: {
      newDatabase: Math.round(first.started),
      withData: Math.round(second.started),
      afterKill: Math.round(site.started),
    },
    paint: wants("paint") ? await paints(site) : [],
    load: wants("load") ? await loads(site, origin) : [],
    memory: wants("load") ? await memory(site, origin) : null,
    calls: wants("portal") ? await calls(site) : [],
    portal: wants("portal") ? await growth(site, origin) : [],
    desk: wants("desk") ? await deskCost() : null,
    before: older && wants("before") ? await since(path.resolve(older)) : [],
  };
  if (asJson) console.log(JSON.stringify(result, null, 2));
  else print(result);
} finally {
  for (const site of running.reverse()) await stop(site);
  rmSync(work, { recursive: true, force: true });
}

/** Every page on the slow line, and the home page on EDGE beside a bare app of the framework. */
async function paints(site: Site): Promise<Paint[]> {
  await ensureBrowser();
  const browser = await openBrowser();
  const peer = await barePeer(path.join(work, "peer"));
  running.push(peer);
  const rows: Paint[] = [];
  const look = async (
    name: string,
    port: number,
    page: string,
    line: (typeof lines)[keyof typeof lines],
    mode: Mode,
  ) => {
    const front = await tlsFront(port);
    const slow = await slowLine(line, front.port);
    const cost = await measure(browser, `https://127.0.0.1:${slow.port}${page}`, mode);
    rows.push({ page: name, line: line.name, mode, ...cost });
    await slow.stop();
    await front.stop();
  };
  for (const page of measured) {
    for (const mode of ["script", "no script", "lite"] as const) await look(page, site.port, page, lines.slow3g, mode);
  }
  for (const mode of ["script", "lite"] as const) await look("/", site.port, "/", lines.edge, mode);
  for (const line of [lines.slow3g, lines.edge]) await look("bare React Router app", peer.port, "/", line, "script");
  await browser.close();
  return rows;
}

/** The same requests to our server and to @react-router/serve with the same build. */
async function loads(site: Site & { backendPort: number }, origin: string): Promise<Rate[]> {
  const plain = await plainServe(work, site.backendPort);
  running.push(plain);
  const rows: Rate[] = [];
  const bare = await bareServer(`${origin}/services`);
  running.push(bare);
  for (const { server, at } of [
    { server: "ours", at: origin },
    { server: "@react-router/serve", at: `http://127.0.0.1:${plain.port}` },
    { server: "bare node:http", at: `http://127.0.0.1:${bare.port}` },
  ]) {
    const isBare = server === "bare node:http";
    const cookie = isBare ? "" : await logIn(at, demo);
    const tag =
      (await fetch(`${at}/services`, { headers: { "accept-encoding": "br" } })).headers.get("ETag") ?? '"none"';
    const of = async (what: string, options: Parameters<typeof load>[1], path: string) => {
      rows.push({ what, server, ...(await load(at + path, options)) });
    };
    await of("anonymous page", {}, "/services");
    await of("the same, not modified", { headers: { "if-none-match": tag, "accept-encoding": "br" } }, "/services");
    if (isBare) continue;
    const headers = { cookie, "accept-encoding": "br" };
    await of("portal page, changed", { headers, ...changed("/portal") }, "/portal");
    await of("the same, as it was", { headers }, "/portal");
    rows.push({ what: "login", server, ...(await logins(at)) });
  }
  return rows;
}

/** Resident memory before and after 20,000 requests, in MB. */
async function memory(site: Site, origin: string) {
  const at: number[] = [memoryOf(site)];
  for (let round = 0; round < 4; round++) {
    await load(`${origin}/resources/faq`, { amount: 5000, connections: 10 });
    at.push(memoryOf(site));
  }
  return { every5000Requests: at };
}

/** A page of the portal in one call, and with a check of the session by auth before it; with a backend near and far. */
async function calls(site: Site & { backendPort: number }): Promise<Calls[]> {
  const line = await slowLine(lines.abroad, site.backendPort);
  const rows: Calls[] = [];
  for (const { backend, port } of [
    { backend: "beside the site", port: site.backendPort },
    { backend: `${lines.abroad.roundTrip} ms away`, port: line.port },
  ]) {
    const near = await ourSiteOn(work, port);
    running.push(near);
    const at = `http://127.0.0.1:${near.port}`;
    const cookie = await logIn(at, demo);
    const kinds = [
      ["one", cookie],
      ["auth's check before it", await secretSigned(cookie, work)],
    ] as const;
    // A new process answers twice as fast after some hundred pages.
    for (const [, sent] of [...kinds, ...kinds]) {
      await load(`${at}/portal`, { headers: { cookie: sent }, ...changed("/portal") });
    }
    for (const [calls, sent] of kinds) {
      const headers = { cookie: sent, "accept-encoding": "br" };
      const { perSecond } = await load(`${at}/portal`, { headers, ...changed("/portal") });
      const { time } = await portalCost(at, "/portal", sent);
      rows.push({ backend, calls, perSecond, time });
    }
  }
  await line.stop();
  return rows;
}

/** The portal page of the demo's client and its login in an older checkout and in this one, by turns. */
async function since(checkout: string): Promise<Change[]> {
  const rows = new Map<string, { before: number; now: number }>();
  for (const when of ["before", "now", "before", "now"] as const) {
    const folder = mkdtempSync(path.join(tmpdir(), "portal-bench-"));
    const near = await ourSite(folder, when === "before" ? checkout : undefined);
    running.push(near);
    const line = await slowLine(lines.abroad, near.backendPort);
    const far = await ourSiteOn(folder, line.port, when === "before" ? checkout : undefined);
    running.push(far);
    // The better of two rounds: a machine has its moments.
    const better = (what: string, figure: number, best = Math.max) => {
      const row = rows.get(what) ?? { before: 0, now: 0 };
      rows.set(what, { ...row, [when]: row[when] ? best(row[when], figure) : figure });
    };
    for (const [where, { port }] of [
      ["beside the site", near],
      [`${lines.abroad.roundTrip} ms away`, far],
    ] as const) {
      const at = `http://127.0.0.1:${port}`;
      const headers = { cookie: await logIn(at, demo), "accept-encoding": "br" };
      // A new process answers twice as fast after some hundred pages.
      for (let round = 0; round < 3; round++) await load(`${at}/portal`, { headers, ...changed("/portal") });
      const rendered = await load(`${at}/portal`, { headers, ...changed("/portal") });
      better(`portal pages a second, changed, backend ${where}`, rendered.perSecond);
      better(`portal pages a second, as they were, ${where}`, (await load(`${at}/portal`, { headers })).perSecond);
      const { time } = await portalCost(at, "/portal", headers.cookie);
      better(`ms of a portal page, changed, backend ${where}`, time, Math.min);
    }
    // As with pages: a new process is slower for some hundred logins.
    for (let round = 0; round < 3; round++) {
      better("logins a second", (await logins(`http://127.0.0.1:${near.port}`)).perSecond);
    }
    for (const site of [far, near]) await stop(site);
    await line.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return [...rows].map(([what, row]) => ({ what, ...row }));
}

/** Four people log in at once, again and again. */
function logins(at: string): Promise<Load> {
  const body = new URLSearchParams(demo).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded", origin: at };
  return load(`${at}/login`, { method: "POST", headers, body, connections: 4 });
}

/** The portal of a client with more and more shipments. */
async function growth(site: Site & { backendPort: number }, origin: string): Promise<Growth[]> {
  const company = companyOf(work, site.backendPort);
  const { data: userId } = await company.rpc("find_account", { email: demo.email });
  const cookie = await logIn(origin, demo);
  const rows: Growth[] = [];
  for (const shipments of [20, 1000, 10_000]) {
    await growTo(company, userId ?? "", shipments);
    const newest = await company.from("shipments").select("id").order("created_at", { ascending: false }).limit(1);
    rows.push({
      shipments,
      list: await portalCost(origin, "/portal", cookie),
      // Nothing is called so: every shipment of the client has to be looked at.
      search: await portalCost(origin, "/portal?q=zanzibar", cookie),
      account: await portalCost(origin, "/portal/account", cookie),
      detail: await portalCost(origin, `/portal/${newest.data?.[0]?.id}`, cookie),
    });
  }
  return rows;
}

function print(result: {
  startToFirstAnswer: { newDatabase: number; withData: number; afterKill: number };
  paint: Paint[];
  load: Rate[];
  memory: { every5000Requests: number[] } | null;
  calls: Calls[];
  portal: Growth[];
  desk: Desk | null;
  before: Change[];
}): void {
  const { newDatabase, withData, afterKill } = result.startToFirstAnswer;
  console.log(`Start to the home page, with a build: ${withData} ms, after a kill -9 ${afterKill} ms`);
  console.log(`With a new database: ${newDatabase} ms\n`);
  if (result.paint.length > 0) {
    console.table(
      result.paint.map(({ page, line, mode, requests, bytes, ...times }) => ({
        page,
        line,
        mode,
        requests,
        ...bytes,
        ...Object.fromEntries(Object.entries(times).map(([name, time]) => [`${name} ms`, Math.round(time)])),
      })),
    );
  }
  if (result.load.length > 0) {
    console.table(
      result.load.map((row) => {
        const ours = result.load.find(({ what, server }) => what === row.what && server === "ours");
        const ratio = row.server === "ours" || !ours ? "" : `ours ${(ours.perSecond / row.perSecond).toFixed(2)} x`;
        return { what: row.what, server: row.server, "requests/s": row.perSecond, "p99 ms": row.p99, ratio };
      }),
    );
  }
  if (result.memory)
    console.log("Memory in MB, at first and after every 5,000 requests:", result.memory.every5000Requests);
  if (result.calls.length > 0) {
    console.table(
      result.calls.map(({ backend, calls, perSecond, time }) => ({
        "portal page, backend": backend,
        calls,
        "requests/s": perSecond,
        "ms, one after another": time,
      })),
    );
  }
  if (result.before.length > 0) {
    console.table(
      result.before.map(({ what, before, now }) => ({ what, before, now, ratio: (now / before).toFixed(2) })),
    );
  }
  if (result.portal.length > 0) {
    console.table(
      result.portal.map(({ shipments, list, search, account, detail }) => ({
        shipments,
        "list ms": list.time,
        "list bytes": list.bytes,
        "search ms": search.time,
        "account ms": account.time,
        "account bytes": account.bytes,
        "detail ms": detail.time,
        "detail bytes": detail.bytes,
      })),
    );
  }
  if (result.desk) {
    console.table(
      result.desk.pages.map(({ page, small, grown, bytes }) => ({
        "page of the desk": page,
        "ms with 20 shipments": small,
        "with 100,000": grown,
        ratio: `${(grown / small).toFixed(2)} x`,
        bytes,
      })),
    );
    const { rows, seconds, memory } = result.desk.csv;
    console.log(`CSV of ${rows} shipments in ${seconds} s; memory in MB before, at most, after:`, memory);
  }
}
