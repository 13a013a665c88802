import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Starts a proxy that sends the start of each page up to the text `upTo`, and sends the rest after `release` is called.
 */
export async function startHoldingProxy(site: string, upTo: string) {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const server = createServer(async ({ url, headers }, outgoing) => {
    const response = await fetch(site + url, { headers: { accept: headers.accept ?? "*/*" } });
    const body = Buffer.from(await response.arrayBuffer());
    const headersToSend = new Headers(response.headers);
    for (const name of ["content-encoding", "content-length", "connection", "keep-alive", "transfer-encoding"]) {
      headersToSend.delete(name);
    }
    outgoing.writeHead(response.status, Object.fromEntries(headersToSend));
    const isPage = headersToSend.get("content-type")?.startsWith("text/html");
    const cut = isPage ? body.indexOf(upTo) + upTo.length : body.length;
    outgoing.write(body.subarray(0, cut));
    if (isPage) await released;
    outgoing.end(body.subarray(cut));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Sends the rest of the delayed pages. Later pages are not delayed. */
    release,
    close() {
      release();
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
