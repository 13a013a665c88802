import { createServer } from "node:http";
import { RouterContextProvider } from "react-router";
import { expect, test, vi } from "vitest";
import { listen } from "../../../tests/support/free-port.ts";
import { stubSettings } from "../../../tests/support/stub-settings.ts";

test("The site asks the backend about each HS256 session token, and no longer accepts a second factor after its deletion.", async () => {
  const paths: string[] = [];
  let has_aal2 = true;
  const backend = createServer(({ url = "" }, response) => {
    paths.push(url);
    const isAuth = url.startsWith("/auth");
    const viewer = { email: "client@client.example", full_name: "Wanjiru", has_aal2, factors: [], staff: null };
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify(isAuth ? { id: "0b51e3a8", user_metadata: {} } : { viewer }));
  });
  stubSettings({ SUPABASE_URL: `http://127.0.0.1:${await listen(backend)}` });
  const { getViewer } = await import("./viewer.server.ts");
  const { supabaseMiddleware } = await import("../supabase/client.server.ts");
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const token = `${encode({ alg: "HS256" })}.${encode({ sub: "0b51e3a8", aal: "aal2" })}.c2lnbmF0dXJl`;
  const session = { access_token: token, refresh_token: "x", expires_at: 4e9 };
  const cookie = `session=base64-${encode(session)}`;
  const request = new Request("http://127.0.0.1:3000/portal", { headers: { cookie } });
  const context = new RouterContextProvider();
  const args = { request, context, params: {}, pattern: "", url: new URL(request.url) };
  await supabaseMiddleware(args as Parameters<typeof supabaseMiddleware>[0], async () => {
    expect(await getViewer(request, context)).toMatchObject({ id: "0b51e3a8", hasAal2: true });
    // The backend has deleted the second factor, but the session token still contains aal2.
    has_aal2 = false;
    expect(await getViewer(request, context)).toMatchObject({ id: "0b51e3a8", hasAal2: false });
    return new Response();
  });
  const pathsPerCheck = ["/auth/v1/user", "/rest/v1/rpc/get_viewer"];
  expect(paths).toEqual([...pathsPerCheck, ...pathsPerCheck]);
  backend.close();
  vi.unstubAllEnvs();
});
