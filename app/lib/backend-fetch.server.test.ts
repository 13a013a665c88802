import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test, vi } from "vitest";
import { backendFetch } from "./backend-fetch.server.ts";

/** What supabase-js gets for a refresh that auth answers so; it drops the session on any refusal but a 503. */
async function refreshed(status: number, body: string): Promise<number> {
  const auth = createServer((_request, response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  });
  await new Promise<void>((resolve) => auth.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(auth.address() as AddressInfo).port}`;
  vi.stubEnv("SUPABASE_URL", url);
  vi.stubEnv("SUPABASE_PUBLISHABLE_KEY", "sb_publishable_x");
  vi.stubEnv("SUPABASE_SECRET_KEY", "sb_secret_x");
  vi.stubEnv("SESSION_SECRET", "x".repeat(32));
  const token = JSON.stringify({ refresh_token: body });
  const answer = await backendFetch(null)(`${url}/auth/v1/token?grant_type=refresh_token`, {
    method: "POST",
    body: token,
  });
  auth.close();
  vi.unstubAllEnvs();
  return answer.status;
}

test.each([
  ["as auth words it since 2024", '{"code":"refresh_token_not_found","message":"Invalid Refresh Token"}'],
  ["as it did before", '{"code":400,"error_code":"refresh_token_not_found","msg":"Invalid Refresh Token"}'],
  ["as its oldest versions did", '{"error":"invalid_grant","error_description":"Invalid Refresh Token"}'],
])("a refused refresh ends the session, %s", async (_when, body) => {
  expect(await refreshed(400, body)).toBe(400);
});

test.each([
  ["another refresh is on its way", 409, '{"code":"conflict","message":"Too many concurrent token refresh requests"}'],
  ["there are too many", 429, '{"code":"over_request_rate_limit","message":"Request rate limit reached"}'],
  ["auth fails", 500, '{"code":"unexpected_failure","message":"Internal Server Error"}'],
  ["a proxy refuses", 403, '{"message":"Forbidden"}'],
  ["something else answers", 200, '{"status":"ok"}'],
])("a session is kept when %s", async (_why, status, body) => {
  expect(await refreshed(status, body)).toBe(503);
});
