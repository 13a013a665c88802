/** A TLS proxy in front of a site, like the proxy of a hosting company. Each run has a new certificate. */
import type { AddressInfo } from "node:net";
import net from "node:net";
import tls from "node:tls";
import { generate } from "selfsigned";

let certificate: Awaited<ReturnType<typeof generate>> | undefined;

/**
 * Listens on a free port with TLS 1.3 and HTTP/1.1, and forwards all bytes to the port `target`. Each TLS record fits
 * into one TCP segment, so a browser can read each segment when the segment arrives. Caddy (Go's crypto/tls) sends such
 * records on new connections.
 */
export async function startTlsProxy(target: number): Promise<{ port: number; stop: () => Promise<void> }> {
  certificate ??= await generate([{ name: "commonName", value: "127.0.0.1" }], { algorithm: "sha256" });
  const open = new Set<tls.TLSSocket>();
  const server = tls.createServer(
    { key: certificate.private, cert: certificate.cert, ALPNProtocols: ["http/1.1"] },
    (browser) => {
      const site = net.connect(target, "127.0.0.1");
      open.add(browser);
      browser.setMaxSendFragment(1400);
      browser.on("close", () => open.delete(browser));
      for (const socket of [browser, site]) socket.on("error", () => socket.destroy());
      browser.pipe(site).pipe(browser);
    },
  );
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
