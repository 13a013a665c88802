/**
 * Run with `npm run bench`. Measures the site on a slow connection and under load. Times differ between machines.
 * `--json` prints JSON instead of tables. `--only paint|load|parameters|portal|desk|before` runs one part.
 * `--before <folder>` also measures portal and login of an older checkout, in which `npm ci` has run.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { ensureBuild } from "../../app/server/start/build.ts";
import { demoClient } from "../../app/server/start/demo.ts";
import { ensureChromium } from "../support/browser-programs.ts";
import { authPages, publicPages } from "../support/public-pages.ts";
import { type DeskBenchResult, measureDesk } from "./desk.ts";
import {
  createServiceRoleClient,
  growShipments,
  type LoadResult,
  logIn,
  measureLoad,
  measurePortalPage,
  sendInventedParameters,
  signCookieWithSecret,
  withUniqueUrls,
} from "./load.ts";
import { type BrowsingMode, launchBrowser, measurePage, type PageCost } from "./pages.ts";
import { startBarePeer } from "./peer.ts";
import {
  type BenchSite,
  getMemoryMb,
  startBareServer,
  startOurSite,
  startOurSiteOnBackend,
  startPlainServe,
  stopSite,
} from "./site.ts";
import { type ConnectionProfile, connectionProfiles, startSlowConnection } from "./slow-connection.ts";
import { startTlsProxy } from "./tls.ts";

const onlyPart = process.argv[process.argv.indexOf("--only") + 1];
const isRequested = (part: string) => !process.argv.includes("--only") || onlyPart === part;
const olderCheckout = process.argv.includes("--before")
  ? process.argv[process.argv.indexOf("--before") + 1]
  : undefined;
const asJson = process.argv.includes("--json");

/** The public pages without the last one, which is the 404 page. */
const measuredPages = [...publicPages.slice(0, -1), ...authPages];

/** The number of requests with an unknown query parameter. */
const inventedRequests = 100_000;

type PaintResult = PageCost & { page: string; connection: string; mode: BrowsingMode };
type RateResult = LoadResult & { what: string; server: string };
type GrowthResult = { shipments: number } & Record<"list" | "search" | "account" | "detail", RequestCost>;
type BackendCallsResult = { backend: string; calls: string; perSecond: number; time: number };
type ComparisonResult = { what: string; before: number; now: number };
type ParametersResult = { plain: LoadResult; invented: LoadResult; memory: number[] };
type RequestCost = { time: number; bytes: number };

const workDir = mkdtempSync(path.join(tmpdir(), "portal-bench-"));
const runningSites: BenchSite[] = [];
try {
  await ensureBuild();
  const first = await startOurSite(workDir);
  await stopSite(first);
  const second = await startOurSite(workDir);
  await stopSite(second, "SIGKILL");
  const site = await startOurSite(workDir);
  runningSites.push(site);
  const origin = `http://127.0.0.1:${site.port}`;
  const result = {
    startToFirstAnswer: {
      newDatabase: Math.round(first.startupMs),
      withData: Math.round(second.startupMs),
      afterKill: Math.round(site.startupMs),
    },
    paint: isRequested("paint") ? await measurePaints(site) : [],
    load: isRequested("load") ? await measureLoads(site, origin) : [],
    memory: isRequested("load") ? await measureMemory(site, origin) : null,
    parameters: isRequested("parameters") ? await measureInventedParameters(site, origin) : null,
    calls: isRequested("portal") ? await measureBackendCalls(site) : [],
    portal: isRequested("portal") ? await measureGrowth(site, origin) : [],
    desk: isRequested("desk") ? await measureDesk() : null,
    before: olderCheckout && isRequested("before") ? await compareCheckouts(path.resolve(olderCheckout)) : [],
  };
  if (asJson) console.log(JSON.stringify(result, null, 2));
  else printResults(result);
} finally {
  for (const site of runningSites.reverse()) await stopSite(site);
  rmSync(workDir, { recursive: true, force: true });
}

/** Measures all pages and the minimal React Router app on slow 3G, and the home page and the minimal app also on EDGE. */
async function measurePaints(site: BenchSite): Promise<PaintResult[]> {
  await ensureChromium();
  const browser = await launchBrowser();
  const peer = await startBarePeer(path.join(workDir, "peer"));
  runningSites.push(peer);
  const rows: PaintResult[] = [];
  const measure = async (name: string, port: number, page: string, profile: ConnectionProfile, mode: BrowsingMode) => {
    const tlsProxy = await startTlsProxy(port);
    const slow = await startSlowConnection(profile, tlsProxy.port);
    const cost = await measurePage(browser, `https://127.0.0.1:${slow.port}${page}`, mode);
    rows.push({ page: name, connection: profile.name, mode, ...cost });
    await slow.stop();
    await tlsProxy.stop();
  };
  for (const page of measuredPages) {
    for (const mode of ["script", "no script", "lite"] as const)
      await measure(page, site.port, page, connectionProfiles.slow3g, mode);
  }
  for (const mode of ["script", "lite"] as const) await measure("/", site.port, "/", connectionProfiles.edge, mode);
  for (const profile of [connectionProfiles.slow3g, connectionProfiles.edge])
    await measure("bare React Router app", peer.port, "/", profile, "script");
  await browser.close();
  return rows;
}

/**
 * Sends the same requests to our server, to @react-router/serve with the same build, and to two
 * plain node:http servers.
 */
async function measureLoads(site: BenchSite & { backendPort: number }, origin: string): Promise<RateResult[]> {
  const plain = await startPlainServe(workDir, site.backendPort);
  runningSites.push(plain);
  const rows: RateResult[] = [];
  const bare = await startBareServer(`${origin}/services`);
  runningSites.push(bare);
  const logged = await startBareServer(`${origin}/services`, { isLogged: true });
  runningSites.push(logged);
  for (const { server, at } of [
    { server: "our site", at: origin },
    { server: "@react-router/serve", at: `http://127.0.0.1:${plain.port}` },
    { server: "bare node:http", at: `http://127.0.0.1:${bare.port}` },
    { server: "node:http with a log", at: `http://127.0.0.1:${logged.port}` },
  ]) {
    const isBare = server.includes("node:http");
    const cookie = isBare ? "" : await logIn(at, demoClient);
    const tag =
      (await fetch(`${at}/services`, { headers: { "accept-encoding": "br" } })).headers.get("ETag") ?? '"none"';
    const measure = async (what: string, options: Parameters<typeof measureLoad>[1], path: string) => {
      rows.push({ what, server, ...(await measureLoad(at + path, options)) });
    };
    await measure("anonymous page", {}, "/services");
    await measure(
      "anonymous page, not modified (304)",
      { headers: { "if-none-match": tag, "accept-encoding": "br" } },
      "/services",
    );
    if (isBare) continue;
    const headers = { cookie, "accept-encoding": "br" };
    // These rounds are not recorded, because a new process becomes twice as fast during its first few hundred pages.
    for (let round = 0; round < 3; round++) await measurePortalLoad(at, cookie);
    await measure("portal page with a new URL", { headers, ...withUniqueUrls("/portal") }, "/portal");
    await measure("portal page with the same URL", { headers }, "/portal");
    rows.push({ what: "login", server, ...(await measureLogins(at)) });
  }
  return rows;
}

/** Measures resident memory in MB, before 20,000 requests and after every 5,000 of these requests. */
async function measureMemory(site: BenchSite, origin: string) {
  const at: number[] = [getMemoryMb(site)];
  for (let round = 0; round < 4; round++) {
    await measureLoad(`${origin}/resources/faq`, { amount: 5000, connections: 10 });
    at.push(getMemoryMb(site));
  }
  return { every5000Requests: at };
}

/**
 * Measures requests per second with and without unknown query parameters. Measures memory before and after each of ten
 * rounds of requests with unknown query parameters.
 */
async function measureInventedParameters(site: BenchSite, origin: string): Promise<ParametersResult> {
  const page = `${origin}/services`;
  const plain = await measureLoad(page);
  const memory = [getMemoryMb(site)];
  const invented = await measureLoad(page, withUniqueUrls("/services"));
  for (let round = 0; round < 10; round++) {
    await sendInventedParameters(page, inventedRequests / 10);
    memory.push(getMemoryMb(site));
  }
  return { plain, invented, memory };
}

/**
 * Measures the portal page with one backend call, and with a second call to Supabase Auth. Measures each variant with a
 * near and with a distant backend.
 */
async function measureBackendCalls(site: BenchSite & { backendPort: number }): Promise<BackendCallsResult[]> {
  const line = await startSlowConnection(connectionProfiles.abroad, site.backendPort);
  const rows: BackendCallsResult[] = [];
  for (const { backend, port } of [
    { backend: "on the same machine", port: site.backendPort },
    { backend: `${connectionProfiles.abroad.roundTrip} ms away`, port: line.port },
  ]) {
    const near = await startOurSiteOnBackend(workDir, port);
    runningSites.push(near);
    const at = `http://127.0.0.1:${near.port}`;
    const cookie = await logIn(at, demoClient);
    const kinds = [
      ["one call for the page data", cookie],
      ["authentication call, then page data", await signCookieWithSecret(cookie, workDir)],
    ] as const;
    // These rounds are not recorded, because a new process becomes twice as fast during its first few hundred pages.
    for (const [, cookie] of [...kinds, ...kinds]) await measurePortalLoad(at, cookie);
    for (const [calls, cookie] of kinds) {
      const { perSecond } = await measurePortalLoad(at, cookie);
      const { time } = await measurePortalPage(at, "/portal", cookie);
      rows.push({ backend, calls, perSecond, time });
    }
  }
  await line.stop();
  return rows;
}

/** Measures portal and login alternately in the older checkout `checkout` and in the current checkout. */
async function compareCheckouts(checkout: string): Promise<ComparisonResult[]> {
  const rows = new Map<string, { before: number; now: number }>();
  for (const when of ["before", "now", "before", "now"] as const) {
    const folder = mkdtempSync(path.join(tmpdir(), "portal-bench-"));
    const near = await startOurSite(folder, when === "before" ? checkout : undefined);
    runningSites.push(near);
    const line = await startSlowConnection(connectionProfiles.abroad, near.backendPort);
    const far = await startOurSiteOnBackend(folder, line.port, when === "before" ? checkout : undefined);
    runningSites.push(far);
    // Records the faster of two rounds, because other programs on the machine slow some rounds down.
    const better = (what: string, figure: number, best = Math.max) => {
      const row = rows.get(what) ?? { before: 0, now: 0 };
      rows.set(what, { ...row, [when]: row[when] ? best(row[when], figure) : figure });
    };
    for (const [where, { port }] of [
      ["on the same machine", near],
      [`${connectionProfiles.abroad.roundTrip} ms away`, far],
    ] as const) {
      const at = `http://127.0.0.1:${port}`;
      const headers = { cookie: await logIn(at, demoClient), "accept-encoding": "br" };
      // These rounds are not recorded, because a new process becomes twice as fast during its first few hundred pages.
      for (let round = 0; round < 3; round++) await measurePortalLoad(at, headers.cookie);
      const rendered = await measurePortalLoad(at, headers.cookie);
      better(`portal pages per second, new URLs, backend ${where}`, rendered.perSecond);
      const unchanged = await measureLoad(`${at}/portal`, { headers });
      better(`portal pages per second, same URL, backend ${where}`, unchanged.perSecond);
      const { time } = await measurePortalPage(at, "/portal", headers.cookie);
      better(`ms for a portal page, new URL, backend ${where}`, time, Math.min);
    }
    // Runs three rounds, because a new process is slow during its first few hundred logins.
    for (let round = 0; round < 3; round++) {
      better("logins per second", (await measureLogins(`http://127.0.0.1:${near.port}`)).perSecond);
    }
    for (const site of [far, near]) await stopSite(site);
    await line.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return [...rows].map(([what, row]) => ({ what, ...row }));
}

/** Requests the portal page on ten connections, each time with a URL that no cache contains. */
function measurePortalLoad(at: string, cookie: string): Promise<LoadResult> {
  return measureLoad(`${at}/portal`, { headers: { cookie, "accept-encoding": "br" }, ...withUniqueUrls("/portal") });
}

/** Measures repeated logins on four parallel connections, without pauses between the logins. */
function measureLogins(at: string): Promise<LoadResult> {
  const body = new URLSearchParams(demoClient).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded", origin: at };
  return measureLoad(`${at}/login`, { method: "POST", headers, body, connections: 4 });
}

/** Measures one client's portal with 20, 1,000 and 10,000 shipments. */
async function measureGrowth(site: BenchSite & { backendPort: number }, origin: string): Promise<GrowthResult[]> {
  const company = createServiceRoleClient(workDir, site.backendPort);
  const { data: userId } = await company.rpc("find_account_id", { email: demoClient.email });
  const cookie = await logIn(origin, demoClient);
  const rows: GrowthResult[] = [];
  for (const shipments of [20, 1000, 10_000]) {
    await growShipments(company, userId ?? "", shipments);
    const newest = await company.from("shipments").select("id").order("created_at", { ascending: false }).limit(1);
    rows.push({
      shipments,
      list: await measurePortalPage(origin, "/portal", cookie),
      // No shipment has this name, so the search reads every shipment of the client.
      search: await measurePortalPage(origin, "/portal?q=zanzibar", cookie),
      account: await measurePortalPage(origin, "/portal/account", cookie),
      detail: await measurePortalPage(origin, `/portal/${newest.data?.[0]?.id}`, cookie),
    });
  }
  return rows;
}

function printResults(result: {
  startToFirstAnswer: { newDatabase: number; withData: number; afterKill: number };
  paint: PaintResult[];
  load: RateResult[];
  memory: { every5000Requests: number[] } | null;
  parameters: ParametersResult | null;
  calls: BackendCallsResult[];
  portal: GrowthResult[];
  desk: DeskBenchResult | null;
  before: ComparisonResult[];
}): void {
  const { newDatabase, withData, afterKill } = result.startToFirstAnswer;
  console.log(
    `From the start to the first home page: ${withData} ms with an existing build, ${afterKill} ms after kill -9`,
  );
  console.log(`From the start to the first home page with a new database: ${newDatabase} ms\n`);
  if (result.paint.length > 0) {
    console.table(
      result.paint.map(({ page, connection: line, mode, requests, bytes, ...times }) => ({
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
        const ours = result.load.find(({ what, server }) => what === row.what && server === "our site");
        const ratio =
          row.server === "our site" || !ours ? "" : `our site ${(ours.perSecond / row.perSecond).toFixed(2)} x`;
        return { what: row.what, server: row.server, "requests/s": row.perSecond, "p99 ms": row.p99, ratio };
      }),
    );
  }
  if (result.memory)
    console.log("Memory in MB, before the requests and after every 5,000 requests:", result.memory.every5000Requests);
  if (result.parameters) {
    const { plain, invented, memory } = result.parameters;
    const ratio = (invented.perSecond / plain.perSecond).toFixed(2);
    console.table([
      { page: "/services", "requests/s": plain.perSecond, "p99 ms": plain.p99, ratio: "" },
      { page: "/services?n=1, 2, 3 …", "requests/s": invented.perSecond, "p99 ms": invented.p99, ratio: `${ratio} x` },
    ]);
    console.log(`Memory in MB, before and during ${inventedRequests} requests with unknown query parameters:`, memory);
  }
  if (result.calls.length > 0) {
    console.table(
      result.calls.map(({ backend, calls, perSecond, time }) => ({
        "backend of the portal page": backend,
        calls,
        "requests/s": perSecond,
        "ms per request, in sequence": time,
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
        "desk page": page,
        "ms with 20 shipments": small,
        "ms with 100,000 shipments": grown,
        ratio: `${(grown / small).toFixed(2)} x`,
        bytes,
      })),
    );
    const { rows, seconds, memory } = result.desk.csv;
    console.log(
      `CSV of ${rows} shipments in ${seconds} s; memory in MB before the download, at its maximum and after the download:`,
      memory,
    );
  }
}
