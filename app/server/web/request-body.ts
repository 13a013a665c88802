import type { IncomingMessage, ServerResponse } from "node:http";
import { env } from "../../lib/http/env.server.ts";

/** Small chunks are joined into blocks of this size, because a stream needs the same time for each chunk. */
const blockBytes = 16 * 1024;

/** A body may have 2000 chunks plus one chunk per 512 bytes. The smallest usual TCP segment has 536 bytes. */
const maxFreeChunks = 2000;
const bytesPerChunk = 512;

/** A rejected upload may have this many bytes, because browsers read the response only after sending the body. */
const maxDrainBytes = 64 * 1024 * 1024;

const speedCheckMs = 1000;

/** The codes have the form of Node's HTTP error codes, because the `clientError` handler treats both. */
type AbortBody = (code: "HPE_TOO_MANY_PIECES" | "ERR_HTTP_REQUEST_TIMEOUT") => void;

/** Calls `cut` for a body that is too slow or has too many chunks. Discards the part of a body after the response. */
export function guardBody(request: IncomingMessage, response: ServerResponse, cut: AbortBody): void {
  const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
  if (Number(length) === 0 && !encoding) return;
  if (request.method !== "POST") {
    response.setHeader("Connection", "close");
    return;
  }
  const { limits, deadlines } = env();
  const pushBlock = request.push.bind(request);
  const startedAt = performance.now();
  let chunks: Buffer[] = [];
  let pendingBytes = 0;
  let chunkCount = 0;
  let bytes = 0;
  let isCut = false;
  const end: AbortBody = (code) => {
    isCut = true;
    cut(code);
  };

  // Node's HTTP parser calls `push` with each chunk, and pauses if `push` returns false.
  request.push = (chunk: Buffer | null) => {
    if (isCut) return false;
    if (chunk) {
      chunkCount += 1;
      bytes += chunk.length;
      if (chunkCount > maxFreeChunks + Math.min(bytes, limits.fileBytes) / bytesPerChunk) {
        end("HPE_TOO_MANY_PIECES");
        return false;
      }
      if (response.writableFinished) {
        if (bytes > maxDrainBytes) request.socket.destroy();
        return true;
      }
      chunks.push(chunk);
      pendingBytes += chunk.length;
      if (pendingBytes < blockBytes) return true;
    }
    const canContinue = pendingBytes === 0 || pushBlock(Buffer.concat(chunks, pendingBytes));
    chunks = [];
    pendingBytes = 0;
    return chunk ? canContinue : pushBlock(null);
  };
  // Starts reading, because Node discards an unread body without calling `push`.
  request.read(0);
  response.once("finish", () => {
    if (request.complete) return;
    chunks = [];
    pendingBytes = 0;
    request.removeAllListeners("data");
    request.resume();
  });

  const watch = setInterval(() => {
    const seconds = (performance.now() - startedAt - deadlines.form) / 1000;
    if (isCut || request.complete || request.socket.destroyed) clearInterval(watch);
    else if (bytes < seconds * limits.bytesPerSecond) end("ERR_HTTP_REQUEST_TIMEOUT");
  }, speedCheckMs).unref();
}
