import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import { RouterContextProvider } from "react-router";
import { expect, test, vi } from "vitest";
import { stubSettings } from "../../../tests/support/stub-settings.ts";

test("where auth signs with a secret, it is asked who that is, and may take as long as PAGE_SECONDS says", async () => {
  const asked: string[] = [];
  let has_aal2 = true;
  const backend = createServer(async ({ url = "" }, response) => {
    asked.push(url);
    const isAuth = url.startsWith("/auth");
    if (isAuth && has_aal2) await setTimeout(5200);
    const viewer = {
      email: "client@client.example",
      full_name: "Wanjiru",
      has_aal2,
      factors: [],
      staff: null,
    };
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify(isAuth ? { id: "0b51e3a8", user_metadata: {} } : { viewer }));
  });
  await new Promise<void>((resolve) => backend.listen(0, "127.0.0.1", resolve));
  stubSettings({
    PAGE_SECONDS: "30",
    SUPABASE_URL: `http://127.0.0.1:${(backend.address() as AddressInfo).port}`,
  });
  const { getViewer: getClient } = await import("./viewer.server.ts");
  const { supabaseMiddleware: backendMiddleware } = await import("../supabase/client.server.ts");
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const token = `${encode({ alg: "HS256" })}.${encode({ sub: "0b51e3a8", aal: "aal2" })}.c2lnbmF0dXJl`;
  const session = { access_token: token, refresh_token: "x", expires_at: 4e9 };
  const cookie = `session=base64-${Buffer.from(JSON.stringify(session)).toString("base64url")}`;
  const request = new Request("http://127.0.0.1:3000/portal", { headers: { cookie } });
  const context = new RouterContextProvider();
  const args = { request, context, params: {}, pattern: "", url: new URL(request.url) };
  await backendMiddleware(args as Parameters<typeof backendMiddleware>[0], async () => {
    expect(await getClient(request, context)).toMatchObject({ id: "0b51e3a8", hasAal2: true });
    // The factor that lifted the session was removed: its token still says aal2.
    has_aal2 = false;
    expect(await getClient(request, context)).toMatchObject({ id: "0b51e3a8", hasAal2: false });
    return new Response();
  });
  const each = ["/auth/v1/user", "/rest/v1/rpc/get_viewer"];
  expect(asked).toEqual([...each, ...each]);
  backend.close();
  vi.unstubAllEnvs();
});
