import { RouterContextProvider } from "react-router";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { stubSettings } from "../../../tests/support/stub-settings.ts";
import { ipAddressHeader } from "./ip-address.server.ts";
import type { TransferSlot } from "./transfer-slots.server.ts";
import type { UserError } from "./user-error.server.ts";

let lib: typeof import("./transfer-slots.server.ts");
let rateLimitMiddleware: typeof import("./rate-limiter.server.ts").rateLimitMiddleware;
beforeAll(async () => {
  // Each pool gets half of UPLOADS_MIB, here 42 MiB: enough for four uploads of the maximum size, or for 21 downloads.
  stubSettings({ UPLOADS_MIB: "84" });
  lib = await import("./transfer-slots.server.ts");
  ({ rateLimitMiddleware } = await import("./rate-limiter.server.ts"));
});
const controllers: AbortController[] = [];
afterEach(async () => {
  for (const controller of controllers.splice(0)) controller.abort();
  await settle();
  for (const { release } of slots.splice(0)) release();
  vi.useRealTimers();
});
afterAll(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

const slots: TransferSlot[] = [];
type Result = TransferSlot | UserError | "waiting";
const settle = () => new Promise((resolve) => setImmediate(resolve));

/**
 * Prepares a request that gets its transfer slot from `acquire`. The returned `run` starts the request. `getResult`
 * returns "waiting" until the request has a slot or an error.
 */
function start(acquire: (request: Request, context: RouterContextProvider) => Promise<TransferSlot | UserError>) {
  const controller = new AbortController();
  controllers.push(controller);
  let result: Result = "waiting";
  const getResult = (): Result => result;
  const describeResult = () => (result === "waiting" ? result : "release" in result ? "slot" : String(result.status));
  return {
    controller,
    getResult,
    describeResult,
    async run(original: Request) {
      const request = new Request(original, { signal: controller.signal });
      const context = new RouterContextProvider();
      void rateLimitMiddleware({ request, context } as never, async () => {
        const slot = await acquire(request, context);
        result = slot;
        if ("release" in slot) slots.push(slot);
        return new Response();
      });
      await settle();
    },
  };
}

async function upload(address: string, bytes?: number, account?: string) {
  const headers = { [ipAddressHeader]: address, ...(bytes && { "Content-Length": String(bytes) }) };
  const started = start((request, context) => lib.acquireUploadSlot(request, context, account));
  await started.run(new Request("http://site.example/careers", { method: "POST", headers }));
  return started;
}

async function download(account: string, group: "clients" | "staff" = "clients", isDataExport = false) {
  const started = start((request, context) =>
    lib.acquireDownloadSlot(request, context, { account, group, isDataExport }),
  );
  await started.run(new Request("http://site.example/portal/file"));
  return started;
}

async function downloadMany(count: number, account: string, group: "clients" | "staff" = "clients") {
  const started = [];
  for (let file = 0; file < count; file += 1) started.push(await download(account, group));
  return started;
}

/** Starts one download for each of the accounts "client <from>" to "client <to - 1>". */
async function downloadAsClients(from: number, to: number) {
  const started = [];
  for (let account = from; account < to; account += 1) started.push(await download(`client ${account}`));
  return started;
}

/** Starts four uploads of the maximum size, which occupy all memory for uploads. */
async function fillUploads() {
  for (let client = 0; client < 4; client += 1) await upload("192.0.2.110", 1e7, `client ${client}`);
}

const describeAll = (started: { describeResult: () => string }[]) => started.map((each) => each.describeResult());
const repeat = (result: string, count: number) => Array(count).fill(result);

describe("Memory for transfers", () => {
  test("Uploads of visitors use only the memory reserved for visitors, even from many IP addresses.", async () => {
    for (const address of ["192.0.2.101", "192.0.2.102", "192.0.2.103", "192.0.2.104"]) await upload(address, 1e7);
    const next = await upload("192.0.2.105", 9_000_000);
    expect(next.describeResult()).toBe("waiting");
    expect((await upload("192.0.2.107", 9_000_000, "client 107")).describeResult()).toBe("slot");
    slots[0]?.release();
    await settle();
    expect(next.describeResult()).toBe("slot");
  });

  test.each([undefined, 1e12])("An upload with the Content-Length %j reserves memory for one file.", async (bytes) => {
    for (let client = 0; client < 4; client += 1) await upload("192.0.2.108", bytes, `client ${client}`);
    expect((await upload("192.0.2.108", bytes, "client 4")).describeResult()).toBe("waiting");
    expect(slots).toHaveLength(4);
  });

  test("A transfer that gets no slot within 15 seconds is rejected and leaves the queue.", async () => {
    await downloadAsClients(0, 21);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const late = await download("late client");
    vi.advanceTimersByTime(14_000);
    await settle();
    expect(late.describeResult()).toBe("waiting");
    vi.advanceTimersByTime(1000);
    await settle();
    const reason = "Too many files are downloading at the moment. Try again in a minute.";
    expect(late.getResult()).toEqual({ reason, status: 503 });
    slots[0]?.release();
    expect((await download("next client")).describeResult()).toBe("slot");
  });

  test("A waiting transfer whose connection is lost leaves the queue.", async () => {
    await downloadAsClients(0, 21);
    const lost = await download("lost client");
    const next = await download("next client");
    lost.controller.abort();
    await settle();
    slots[0]?.release();
    await settle();
    expect([lost.describeResult(), next.describeResult()]).toEqual(["503", "slot"]);
  });
});

describe("Queue for slots", () => {
  test("An upload leaves the queue when its abort signal fires, and does not enter the queue after that.", async () => {
    await fillUploads();
    const controller = new AbortController();
    const startUpload = async () => {
      const started = start((request, context) =>
        lib.acquireUploadSlot(request, context, "client 5", 1e7, controller.signal),
      );
      await started.run(new Request("http://site.example/portal/upload", { method: "POST" }));
      return started;
    };
    const stopped = await startUpload();
    expect(stopped.describeResult()).toBe("waiting");
    controller.abort();
    expect(describeAll([await startUpload(), stopped])).toEqual(["503", "503"]);
  });

  test("Fifty transfers of a group can wait, and the next transfer is rejected immediately.", async () => {
    await downloadAsClients(0, 21);
    const waiting = await downloadAsClients(21, 71);
    expect(describeAll(waiting)).toEqual(repeat("waiting", 50));
    expect((await download("client 71")).describeResult()).toBe("503");
    expect((await download("clerk", "staff")).describeResult()).toBe("slot");
    slots[0]?.release();
    await settle();
    expect(describeAll(waiting)).toEqual(["slot", ...repeat("waiting", 49)]);
    expect((await download("client 72")).describeResult()).toBe("waiting");
  });
});

describe("Transfer slots of one account", () => {
  test("A clerk who downloads six files in parallel cannot start a seventh until another download ends.", async () => {
    expect(describeAll(await downloadMany(8, "clerk", "staff"))).toEqual([...repeat("slot", 6), "429", "429"]);
    expect(describeAll(await downloadMany(1, "other clerk", "staff"))).toEqual(["slot"]);
    slots[3]?.release();
    expect(describeAll(await downloadMany(2, "clerk", "staff"))).toEqual(["slot", "429"]);
  });

  test("An account can download one data export at a time, in addition to its six file downloads.", async () => {
    await downloadMany(6, "client");
    const exports = [await download("client", "clients", true), await download("client", "clients", true)];
    expect(describeAll(exports)).toEqual(["slot", "429"]);
    expect((await download("other client", "clients", true)).describeResult()).toBe("slot");
  });

  test("Releasing the same download slot twice makes only one slot and its memory available.", async () => {
    await downloadMany(6, "clerk");
    for (const _attempt of [1, 2]) slots[0]?.release();
    expect(describeAll(await downloadMany(2, "clerk"))).toEqual(["slot", "429"]);
    // The clerk has six of the 21 slots, so 15 other accounts occupy the rest of the memory.
    await downloadAsClients(0, 15);
    for (const _attempt of [1, 2]) slots.at(-1)?.release();
    expect(describeAll([await download("next"), await download("last")])).toEqual(["slot", "waiting"]);
  });

  test("Uploads and downloads use separate memory, and each account has separate limits for uploads and downloads.", async () => {
    await fillUploads();
    expect((await upload("192.0.2.111", 1e7, "client 4")).describeResult()).toBe("waiting");
    expect(describeAll(await downloadMany(7, "client 0"))).toEqual([...repeat("slot", 6), "429"]);
    for (const { release } of slots.splice(0, 4)) release();
    await settle();
    const uploads = [];
    for (let file = 0; file < 4; file += 1) uploads.push(await upload("192.0.2.111", 1000, "client 0"));
    expect(describeAll(uploads)).toEqual([...repeat("slot", 3), "429"]);
  });
});

describe("Fair distribution of transfer slots", () => {
  test("Accounts with six downloads each occupy at most half of the memory, so downloads of other accounts start immediately.", async () => {
    for (let account = 0; account < 4; account += 1) await downloadMany(6, `busy ${account}`);
    // The first two accounts occupy half of the memory with ten downloads. The other two accounts get one download
    // each.
    expect(slots).toHaveLength(12);
    expect(describeAll(await downloadAsClients(0, 9))).toEqual(repeat("slot", 9));
  });

  test("A free slot goes to the waiting account with the fewest slots, even if another account has waited longer.", async () => {
    await downloadAsClients(0, 21);
    const [second, first] = [await download("client 1"), await download("new client")];
    slots[0]?.release();
    await settle();
    expect([second.describeResult(), first.describeResult()]).toEqual(["waiting", "slot"]);
  });
});
