/** Limits on a request body while it arrives, whether or not the app reads it. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { env } from "../../lib/http/env.server.ts";

/** Smaller pieces are joined up to this size in bytes: a stream takes as long for a small chunk as for a large one. */
const blockBytes = 16 * 1024;

/** A body may have this many pieces, and one more per `bytesPerPiece`: the smallest usual TCP segment is 536 bytes. */
const maxFreePieces = 2000;
const bytesPerPiece = 512;

/** Up to how many bytes a refused upload is still read, so that the browser gets the answer; then it is cut. */
const maxDrainBytes = 64 * 1024 * 1024;

/** How often the speed of a body is checked, in milliseconds. */
const speedCheckMs = 1000;

/** Ends a request, for a reason named as Node's own parser and timers name theirs. */
type AbortBody = (code: "HPE_TOO_MANY_PIECES" | "ERR_HTTP_REQUEST_TIMEOUT") => void;

/**
 * Takes over the body of a request that has just begun: the app gets it in blocks; one in too many pieces or too slow
 * is cut. What arrives after the answer is discarded. After a body with a method other than POST the connection closes.
 */
export function guardBody(request: IncomingMessage, response: ServerResponse, cut: AbortBody): void {
  const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
  if (Number(length) === 0 && !encoding) return;
  if (request.method !== "POST") {
    response.setHeader("Connection", "close");
    return;
  }
  const { limits, deadlines } = env();
  const pass = request.push.bind(request);
  const begun = performance.now();
  let gathered: Buffer[] = [];
  let waiting = 0;
  let pieces = 0;
  let bytes = 0;
  let isCut = false;
  const end: AbortBody = (code) => {
    isCut = true;
    cut(code);
  };

  // Node's parser pushes the body piece by piece, and stops reading where push says false.
  request.push = (piece: Buffer | null) => {
    if (isCut) return false;
    if (piece) {
      pieces += 1;
      bytes += piece.length;
      if (pieces > maxFreePieces + Math.min(bytes, limits.fileBytes) / bytesPerPiece) {
        end("HPE_TOO_MANY_PIECES");
        return false;
      }
      if (response.writableFinished) {
        if (bytes > maxDrainBytes) request.socket.destroy();
        return true;
      }
      gathered.push(piece);
      waiting += piece.length;
      if (waiting < blockBytes) return true;
    }
    const goesOn = waiting === 0 || pass(Buffer.concat(gathered, waiting));
    gathered = [];
    waiting = 0;
    return piece ? goesOn : pass(null);
  };
  // Starts reading: Node discards a body that nobody has begun to read, without the checks above.
  request.read(0);
  response.once("finish", () => {
    if (request.complete) return;
    gathered = [];
    waiting = 0;
    request.removeAllListeners("data");
    request.resume();
  });

  const watch = setInterval(() => {
    const seconds = (performance.now() - begun - deadlines.form) / 1000;
    if (isCut || request.complete || request.socket.destroyed) clearInterval(watch);
    else if (bytes < seconds * limits.bytesPerSecond) end("ERR_HTTP_REQUEST_TIMEOUT");
  }, speedCheckMs).unref();
}
