/** What the body of a request may cost while it comes in, whoever reads it, and when nobody does. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { env } from "../../lib/env.server.ts";

/** Smaller pieces are put together to so many bytes: a stream of the app takes as long for a small one as for a large. */
const blockBytes = 16 * 1024;

/** A body comes in so many pieces, and in one more for so many bytes: the poorest line's packets bring 536. */
const freePieces = 2000;
const bytesPerPiece = 512;

/** How much of a refused upload is read to its end, so that the browser gets to see the answer; then it is cut. */
const drainBytes = 64 * 1024 * 1024;

/** How often a body that takes its time is looked at, in milliseconds. */
const watchEvery = 1000;

/** Ends a request for a reason in the words of Node's own parser and timers. */
type Cut = (code: "HPE_TOO_MANY_PIECES" | "ERR_HTTP_REQUEST_TIMEOUT") => void;

/**
 * Takes over the body of a request that has just begun: the app gets it in blocks; one in crumbs or too slow is cut.
 * What comes after the answer is let go. A body where none belongs ends its connection with the answer.
 */
export function guardBody(request: IncomingMessage, response: ServerResponse, cut: Cut): void {
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
  const end: Cut = (code) => {
    isCut = true;
    cut(code);
  };

  // Node's parser pushes the body piece by piece, and stops reading where push says false.
  request.push = (piece: Buffer | null) => {
    if (isCut) return false;
    if (piece) {
      pieces += 1;
      bytes += piece.length;
      if (pieces > freePieces + Math.min(bytes, limits.fileBytes) / bytesPerPiece) {
        end("HPE_TOO_MANY_PIECES");
        return false;
      }
      if (response.writableFinished) {
        if (bytes > drainBytes) request.socket.destroy();
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
  // A body that nobody has begun to read is let go by Node itself, past all of this.
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
  }, watchEvery).unref();
}
