/**
 * npm run bench: measures the site on a slow connection and under load. Times differ between machines.
 * `--json` prints JSON instead of tables. `--only paint|load|parameters|portal|desk` runs one part.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { ensureBuild } from "../../app/server/start/build.ts";
import { demoClient } from "../../app/server/start/demo.ts";
import { ensureChromium } from "../support/browser-programs.ts";
import { authPages, publicPages } from "../support/public-pages.ts";
import { createServiceRoleClient } from "../support/service-role.ts";
import { measureDesk } from "./desk.ts";
import { growShipments, logIn, measureLoad, measurePage, sendInventedParameters, withUniqueUrls } from "./load.ts";
import { type BrowsingMode, launchBrowser, measurePaint } from "./pages.ts";
import { startBarePeer } from "./peer.ts";
import { type BenchSite, getMemoryMb, startBareServer, startOurSite, startOurSiteOnBackend, stopSite } from "./site.ts";
import { type ConnectionProfile, connectionProfiles, startSlowConnection } from "./slow-connection.ts";
import { startTlsProxy } from "./tls.ts";

const { values: options } = parseArgs({ options: { json: { type: "boolean" }, only: { type: "string" } } });

/** Each part returns its figures by their title. */
const parts: Record<string, () => Promise<Record<string, object>>> = {
  paint: measurePaints,
  load: measureLoads,
  parameters: measureInventedParameters,
  portal: measurePortal,
  desk: measureDesk,
};

const workDir = mkdtempSync(path.join(tmpdir(), "portal-bench-"));
const runningSites: BenchSite[] = [];
let site: Awaited<ReturnType<typeof startOurSite>>;
let origin: string;
try {
  await ensureBuild();
  const first = await startOurSite(workDir);
  await stopSite(first);
  const second = await startOurSite(workDir);
  await stopSite(second, "SIGKILL");
  site = await startOurSite(workDir);
  runningSites.push(site);
  origin = `http://127.0.0.1:${site.port}`;
  const starts = { "new database": first.startupMs, "with data": second.startupMs, "after kill -9": site.startupMs };
  const results: Record<string, object> = { "Milliseconds from the start to the first home page": starts };
  for (const [name, measure] of Object.entries(parts)) {
    if (!options.only || options.only === name) Object.assign(results, await measure());
  }
  if (options.json) console.log(JSON.stringify(results, null, 2));
  for (const [title, figures] of options.json ? [] : Object.entries(results)) {
    console.log(`\n${title}:`);
    console.table(figures);
  }
} finally {
  for (const site of runningSites.reverse()) await stopSite(site);
  rmSync(workDir, { recursive: true, force: true });
}

/** Measures all pages and a minimal React Router app on slow 3G. Measures the home page and this app also on EDGE. */
async function measurePaints() {
  await ensureChromium();
  const browser = await launchBrowser();
  const peer = await startBarePeer(path.join(workDir, "peer"));
  runningSites.push(peer);
  const rows: object[] = [];
  const { slow3g, edge } = connectionProfiles;
  const measure = async (name: string, page: string, port: number, profile: ConnectionProfile, mode: BrowsingMode) => {
    const tlsProxy = await startTlsProxy(port);
    const slow = await startSlowConnection(profile, tlsProxy.port);
    const { bytes, ...cost } = await measurePaint(browser, `https://127.0.0.1:${slow.port}${page}`, mode);
    rows.push({ page: name, connection: profile.name, mode, ...bytes, ...cost });
    await slow.stop();
    await tlsProxy.stop();
  };
  // The last public page is a 404.
  for (const page of [...publicPages.slice(0, -1), ...authPages]) {
    for (const mode of ["script", "no script", "lite"] as const) await measure(page, page, site.port, slow3g, mode);
  }
  for (const mode of ["script", "lite"] as const) await measure("/", "/", site.port, edge, mode);
  for (const profile of [slow3g, edge]) await measure("bare React Router app", "/", peer.port, profile, "script");
  await browser.close();
  return { "Bytes by kind, and milliseconds": rows };
}

/** Compares public pages with a bare node:http server. Measures memory before and after every 5,000 requests. */
async function measureLoads() {
  const bare = await startBareServer(`${origin}/services`);
  runningSites.push(bare);
  const current = await fetch(`${origin}/services`, { headers: { "accept-encoding": "br" } });
  const unchanged = { "accept-encoding": "br", "if-none-match": current.headers.get("ETag") ?? '"none"' };
  const rows: object[] = [];
  for (const [server, port] of [
    ["our site", site.port],
    ["bare node:http", bare.port],
  ] as const) {
    const url = `http://127.0.0.1:${port}/services`;
    rows.push({ server, page: "public page", ...(await measureLoad(url)) });
    rows.push({ server, page: "response 304 (not modified)", ...(await measureLoad(url, { headers: unchanged })) });
  }
  const memory = [getMemoryMb(site)];
  for (let round = 0; round < 4; round++) {
    await measureLoad(`${origin}/resources/faq`, { amount: 5000 });
    memory.push(getMemoryMb(site));
  }
  return { "Public pages": rows, "Memory in MB, before and after every 5,000 requests": memory };
}

/** Measures requests per second without and with unknown parameters, and memory after each 10,000 such requests. */
async function measureInventedParameters() {
  const page = `${origin}/services`;
  const rows = { "/services": await measureLoad(page) };
  const memory = [getMemoryMb(site)];
  const invented = { "/services?n=1, 2, 3 …": await measureLoad(page, withUniqueUrls("/services")) };
  for (let round = 0; round < 10; round++) {
    await sendInventedParameters(page, 10_000);
    memory.push(getMemoryMb(site));
  }
  return {
    "Pages with unknown parameters": { ...rows, ...invented },
    "Memory in MB, before and after every 10,000 requests with unknown parameters": memory,
  };
}

/** Measures portal pages and logins, with a near and a distant backend and with 20, 1,000 and 10,000 shipments. */
async function measurePortal() {
  const abroad = await startSlowConnection(connectionProfiles.abroad, site.backendPort);
  const far = await startOurSiteOnBackend(workDir, abroad.port);
  runningSites.push(far);
  const rates: object[] = [];
  for (const [backend, port] of [
    ["on the same machine", site.port],
    [connectionProfiles.abroad.name, far.port],
  ] as const) {
    const at = `http://127.0.0.1:${port}`;
    const headers = { cookie: await logIn(at, demoClient), "accept-encoding": "br" };
    const newUrls = { headers, ...withUniqueUrls("/portal") };
    // These rounds are not recorded, because a new process becomes twice as fast during its first few hundred pages.
    for (let round = 0; round < 3; round++) await measureLoad(`${at}/portal`, newUrls);
    rates.push({ backend, page: "portal page with a new URL", ...(await measureLoad(`${at}/portal`, newUrls)) });
    rates.push({ backend, page: "portal page with the same URL", ...(await measureLoad(`${at}/portal`, { headers })) });
  }
  rates.push({ backend: "on the same machine", page: "login", ...(await measureLogins()) });
  await abroad.stop();

  const company = createServiceRoleClient(workDir);
  const { data: userId } = await company.rpc("find_account_id", { email: demoClient.email });
  const cookie = await logIn(origin, demoClient);
  const growth: object[] = [];
  for (const shipments of [20, 1000, 10_000]) {
    await growShipments(company, userId ?? "", shipments);
    const newest = await company.from("shipments").select("id").order("created_at", { ascending: false }).limit(1);
    // No shipment has the searched name, so the search reads every shipment of the client.
    for (const page of ["/portal", "/portal?q=zanzibar", "/portal/account", `/portal/${newest.data?.[0]?.id}`])
      growth.push({ shipments, page, ...(await measurePage(origin, page, cookie)) });
  }
  return { "Portal pages and logins": rates, "Portal pages by the number of shipments": growth };
}

/** Logs in on four connections in parallel, without pauses. */
function measureLogins() {
  const body = new URLSearchParams(demoClient).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded", origin };
  return measureLoad(`${origin}/login`, { method: "POST", headers, body, connections: 4 });
}
