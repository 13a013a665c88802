import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A proxy before the site that sends each page up to some words in it and holds the rest back until released. */
export async function startHoldingProxy(site: string, upTo: string) {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const server = createServer(async ({ url, headers }, outgoing) => {
    const answer = await fetch(site + url, { headers: { accept: headers.accept ?? "*/*" } });
    const body = Buffer.from(await answer.arrayBuffer());
    const kept = new Headers(answer.headers);
    for (const name of ["content-encoding", "content-length", "connection", "keep-alive", "transfer-encoding"]) {
      kept.delete(name);
    }
    outgoing.writeHead(answer.status, Object.fromEntries(kept));
    const isPage = kept.get("content-type")?.startsWith("text/html");
    const cut = isPage ? body.indexOf(upTo) + upTo.length : body.length;
    outgoing.write(body.subarray(0, cut));
    if (isPage) await released;
    outgoing.end(body.subarray(cut));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Sends the rest, now and from now on. */
    release,
    close() {
      release();
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
