import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { stubSettings } from "../../../tests/support/stub-settings.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

const versionHeaders = { "X-Supabase-Api-Version": "2024-01-01" };

/** Returns the status that supabase-js receives. After any error except 503, supabase-js deletes the session. */
async function getRefreshStatus(status: number, body: string, headers: Record<string, string> = {}): Promise<number> {
  const auth = createServer((_request, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
  });
  await new Promise<void>((resolve) => auth.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(auth.address() as AddressInfo).port}`;
  stubSettings({ SUPABASE_URL: url });
  const { createSupabaseFetch } = await import("./fetch.server.ts");
  const response = await createSupabaseFetch(null)(`${url}/auth/v1/token?grant_type=refresh_token`, {
    method: "POST",
    body: JSON.stringify({ refresh_token: body }),
  });
  auth.close();
  return response.status;
}

test.each([
  ["the current", '{"code":"refresh_token_not_found","message":"Invalid Refresh Token"}', versionHeaders],
  ["the 2023", '{"code":400,"error_code":"refresh_token_not_found","msg":"Invalid Refresh Token"}', {}],
  ["the oldest", '{"error":"invalid_grant","error_description":"Invalid Refresh Token"}', {}],
  ["an unknown", '{"message":"Something else"}', {}],
  ["no", "<h1>Not found</h1>", {}],
])("A refresh token rejected in %s format of Supabase Auth ends the session.", async (_format, body, headers) => {
  for (const status of [400, 401, 403, 404]) expect(await getRefreshStatus(status, body, headers)).toBe(status);
});

test.each([
  ["another refresh runs", 409, '{"code":"conflict","message":"Too many concurrent requests"}', versionHeaders],
  ["Supabase Auth is too slow", 408, '{"code":"request_timeout","message":"Request timed out"}', versionHeaders],
  ["a rate limit is reached", 429, '{"code":"over_request_rate_limit","message":"Rate limit reached"}', versionHeaders],
  ["a hook fails", 422, '{"code":"hook_timeout","message":"Hook ran into maximum time"}', versionHeaders],
  ["Supabase Auth fails", 500, '{"code":"unexpected_failure","message":"Internal Server Error"}', versionHeaders],
  ["another server responds", 200, '{"status":"ok"}', {}],
  ["the response has an invalid token", 200, '{"access_token":"garbage","refresh_token":"x"}', {}],
])("A token refresh does not end the session when %s.", async (_reason, status, body, headers) => {
  expect(await getRefreshStatus(status, body, headers)).toBe(503);
});
