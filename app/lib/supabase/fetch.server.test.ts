import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { stubSettings } from "../../../tests/support/stub-settings.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

const versionHeaders = { "X-Supabase-Api-Version": "2024-01-01" };

/** Returns the result of a refresh for supabase-js, which deletes the session after any error but a 503. */
async function getRefreshStatus(status: number, body: string, headers: Record<string, string> = {}): Promise<number> {
  const auth = createServer((_request, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
  });
  await new Promise<void>((resolve) => auth.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(auth.address() as AddressInfo).port}`;
  stubSettings({ SUPABASE_URL: url });
  const { createSupabaseFetch: backendFetch } = await import("./fetch.server.ts");
  const token = JSON.stringify({ refresh_token: body });
  const answer = await backendFetch(null)(`${url}/auth/v1/token?grant_type=refresh_token`, {
    method: "POST",
    body: token,
  });
  auth.close();
  return answer.status;
}

test.each([
  [
    "as auth words it since 2024",
    '{"code":"refresh_token_not_found","message":"Invalid Refresh Token"}',
    versionHeaders,
  ],
  ["as it did before", '{"code":400,"error_code":"refresh_token_not_found","msg":"Invalid Refresh Token"}', {}],
  ["as its oldest versions did", '{"error":"invalid_grant","error_description":"Invalid Refresh Token"}', {}],
])("A rejected refresh ends the session, %s.", async (_when, body, headers) => {
  expect(await getRefreshStatus(400, body, headers)).toBe(400);
});

test.each([
  [
    "another refresh is on its way",
    409,
    '{"code":"conflict","message":"Too many concurrent requests"}',
    versionHeaders,
  ],
  ["auth was too slow", 408, '{"code":"request_timeout","message":"Request timed out"}', versionHeaders],
  ["there are too many", 429, '{"code":"over_request_rate_limit","message":"Rate limit reached"}', versionHeaders],
  ["a hook of auth's fails", 422, '{"code":"hook_timeout","message":"Hook ran into maximum time"}', versionHeaders],
  ["auth fails", 500, '{"code":"unexpected_failure","message":"Internal Server Error"}', versionHeaders],
  ["a proxy refuses", 403, '{"message":"Forbidden"}', {}],
  ["a proxy refuses by a code of its own", 401, '{"code":"UNAUTHORIZED_INVALID_API_KEY","message":"no"}', {}],
  ["a proxy refuses by an error of its own", 404, '{"error":"requested path is invalid"}', {}],
  ["something else answers", 200, '{"status":"ok"}', {}],
  ["what should be a token is none", 200, '{"access_token":"garbage","refresh_token":"x"}', {}],
])("A session does not end when %s.", async (_why, status, body, headers) => {
  expect(await getRefreshStatus(status, body, headers)).toBe(503);
});
