import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import process from "node:process";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import pLimit from "p-limit";
import { projectRoot } from "../../supabase/contract/data-dir.ts";
import { getChildEnvironment } from "../lib/http/env.server.ts";
import { log } from "../lib/http/log.server.ts";
import type { UserError } from "../lib/http/user-error.server.ts";

/** A separate program, so that a hostile picture can crash or block only the program. */
const program = path.join(projectRoot, "dist/programs/convert-picture.js");
const timeoutMs = 30_000;
const maxWaiting = 10;
const limit = pLimit(1);

const notShownError: UserError = { reason: "We cannot show this picture. Download the file instead.", status: 422 };
const busyError: UserError = { reason: "Too many pictures are waiting. Try again in a minute.", status: 503 };

type Picture = { content: AsyncIterable<Uint8Array>; mediaType: string; page: number };

export async function convertToJpeg(picture: Picture, signal: AbortSignal): Promise<Buffer | UserError> {
  if (limit.pendingCount >= maxWaiting) return busyError;
  return limit(() => runConversion(picture, signal));
}

async function runConversion({ content, mediaType, page }: Picture, signal: AbortSignal): Promise<Buffer | UserError> {
  if (signal.aborted) return notShownError;
  const child = spawn(process.execPath, ["--max-old-space-size=256", program, mediaType, String(page)], {
    // The program reads files from strangers, so it gets no secrets. Windows programs need SystemRoot.
    env: { SystemRoot: getChildEnvironment().SystemRoot },
    stdio: ["pipe", "pipe", "ignore"],
    timeout: timeoutMs,
    killSignal: "SIGKILL",
    signal,
  });
  try {
    const [jpeg, [code]] = await Promise.all([
      buffer(child.stdout),
      once(child, "close"),
      pipeline(content, child.stdin),
    ]);
    if (code === 0 && jpeg.length > 0) return jpeg;
    throw new Error(`The program ended with code ${code}.`);
  } catch (error) {
    child.kill("SIGKILL");
    if (!signal.aborted) log("warn", "picture not converted", { mediaType, message: String(error) });
    return notShownError;
  }
}
