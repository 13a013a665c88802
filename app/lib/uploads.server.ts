/** Uploads in progress in this process: how many at once, and how much memory they may take. */
import type { RouterContextProvider } from "react-router";
import { addressOf, networkOf } from "./client-address.server.ts";
import { env } from "./env.server.ts";
import { limitsOf } from "./limits.server.ts";
import { log } from "./log.server.ts";
import type { Refusal } from "./refusal.server.ts";

/** Room for one upload. */
type Place = { release: () => void };

/** Uploads in progress by account or network. */
const counts = new Map<string, number>();
/** Bytes reserved for all uploads, and for those without an account: at most half, which no single address can fill. */
const reserved = { all: 0, visitors: 0 };

/** When to try again: a small file has arrived by then. In seconds. */
const wait = 60;

/**
 * Reserves room for the upload of a request, counted for its account or else its network; or says why there is none.
 * Reserves the Content-Length before the body is read. The caller has to release it in every case.
 */
export function takePlace(
  request: Request,
  context: Readonly<RouterContextProvider>,
  account: string | undefined,
): Place | Refusal {
  const { addressesTold, limits } = env();
  const { uploadsPerClient, uploadsPerAddress, uploadBytes, fileBytes, formBytes } = limits;
  const owner = account ? `account ${account}` : `network ${networkOf(addressOf(request))}`;
  const most = fileBytes + formBytes;
  const bytes = Math.min(Number(request.headers.get("Content-Length") ?? most), most);
  const count = counts.get(owner) ?? 0;
  // Where all visitors seem to come from one address, a few uploads would lock out the others.
  const perAddress = addressesTold ? uploadsPerAddress : Number.POSITIVE_INFINITY;
  if (count >= (account ? uploadsPerClient : perAddress)) {
    log("warn", "limit", { limit: account ? "uploads of one client" : "uploads of one address", wait });
    limitsOf(context).wait = wait;
    const whose = account ? "Your other files are still on their way." : "Too many files come from your network.";
    return { reason: `${whose} Try again in a minute.`, status: 429 };
  }
  const isFull = reserved.all + bytes > uploadBytes || (!account && reserved.visitors + bytes > uploadBytes / 2);
  if (isFull) {
    log("warn", "limit", { limit: "uploads", wait });
    return { reason: "Too many files are on their way to us. Try again in a minute.", status: 503 };
  }
  counts.set(owner, count + 1);
  reserve(bytes);
  return {
    release() {
      const left = (counts.get(owner) ?? 1) - 1;
      if (left > 0) counts.set(owner, left);
      else counts.delete(owner);
      reserve(-bytes);
    },
  };

  function reserve(more: number): void {
    reserved.all += more;
    if (!account) reserved.visitors += more;
  }
}
