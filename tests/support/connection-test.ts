import { type ConnectionProxy, startConnectionProxy } from "./connection-proxy.ts";
import { test as base } from "./e2e-fixtures.ts";

/** A Playwright test with a proxy whose connection the test can cut, stall and restore. */
export const test = base.extend<{ connection: ConnectionProxy }>({
  connection: async ({ baseURL }, use) => {
    const connection = await startConnectionProxy(baseURL ?? "");
    await use(connection);
    await connection.close();
  },
  proxy: ({ connection }, use) => use({ server: connection.url, bypass: "<-loopback>" }),
});
