import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import ipaddr from "ipaddr.js";
import { env } from "../../lib/http/env.server.ts";
import { log } from "../../lib/http/log.server.ts";

type Reader = {
  socket: Socket;
  pendingBytes: number;
  acknowledgedBytes: number;
  /** The number of seconds for which the reader may still be slower than `limits.bytesPerSecond`. */
  spareSeconds: number;
};

const checkMs = 5000;
const graceSeconds = 60;
/** A computer with large receive buffers may acknowledge nothing for minutes, and then hundreds of kilobytes. */
const maxSpareSeconds = 240;

const readers = new Map<ServerResponse, Reader>();
let checkedAt = 0;
let watch: NodeJS.Timeout | undefined;

/** Closes the connection if its reader acknowledges less than SLOWEST_KIB per second for over a minute. */
export function guardReader({ socket }: IncomingMessage, response: ServerResponse): void {
  const reader = { socket, pendingBytes: 0, acknowledgedBytes: Number.NaN, spareSeconds: graceSeconds };
  readers.set(response, reader);
  response.once("close", () => readers.delete(response));
  // Without this listener, Node would close a connection while a slow reader still receives the system's send buffer.
  response.on("timeout", () => reader.pendingBytes === 0 && socket.destroy());
  if (watch) return;
  checkedAt = performance.now();
  watch = setInterval(checkReaders, checkMs).unref();
}

function checkReaders(): void {
  const now = performance.now();
  const seconds = (now - checkedAt) / 1000;
  checkedAt = now;
  if (readers.size === 0) {
    clearInterval(watch);
    watch = undefined;
    return;
  }
  const unacknowledged = readSendQueues();
  for (const reader of readers.values()) {
    const { socket, acknowledgedBytes: before } = reader;
    reader.pendingBytes = socket.writableLength + (unacknowledged.get(createConnectionKey(socket)) ?? 0);
    reader.acknowledgedBytes = socket.bytesWritten - reader.pendingBytes;
    // If the reader has received all sent bytes, the delay is caused by the server.
    if (reader.pendingBytes === 0 || Number.isNaN(before)) {
      reader.spareSeconds = Math.max(reader.spareSeconds, graceSeconds);
      continue;
    }
    const earnedSeconds = (reader.acknowledgedBytes - before) / env().limits.bytesPerSecond;
    reader.spareSeconds = Math.min(reader.spareSeconds + earnedSeconds - seconds, maxSpareSeconds);
    if (reader.spareSeconds >= 0) continue;
    log("warn", "limit", { limit: "slow reader" });
    socket.destroy();
  }
}

/** Returns the number of unacknowledged bytes of each connection. Returns an empty map except on Linux. */
function readSendQueues(): Map<string, number> {
  const queues = new Map<string, number>();
  for (const file of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    for (const row of readTable(file).split("\n").slice(1)) {
      const [, local = "", remote = "", , queue = ""] = row.trim().split(/\s+/);
      queues.set(`${local} ${remote}`, Number.parseInt(queue, 16));
    }
  }
  return queues;
}

function readTable(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}

const createConnectionKey = ({ localAddress, localPort, remoteAddress, remotePort }: Socket) =>
  [formatEndpoint(localAddress, localPort), formatEndpoint(remoteAddress, remotePort)].join(" ");

/** Formats an address as in /proc/net/tcp, where the bytes of each 32-bit word are in reverse order. */
function formatEndpoint(address = "::", port = 0): string {
  const bytes = Buffer.from(ipaddr.parse(address).toByteArray());
  return `${bytes.swap32().toString("hex")}:${port.toString(16).padStart(4, "0")}`.toUpperCase();
}
