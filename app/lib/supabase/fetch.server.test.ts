import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
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

type SentCall = { method: string; search: string; body: string };

async function readWithArguments(args: Record<string, string>): Promise<SentCall> {
  const calls: SentCall[] = [];
  const backend = createServer(async (request, response) => {
    const { search } = new URL(request.url ?? "", "http://backend.local");
    calls.push({ method: request.method ?? "", search, body: await text(request) });
    response.end("{}");
  });
  await new Promise<void>((resolve) => backend.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(backend.address() as AddressInfo).port}`;
  stubSettings({ SUPABASE_URL: url });
  const { createSupabaseFetch } = await import("./fetch.server.ts");
  await createSupabaseFetch(null)(`${url}/rest/v1/rpc/desk_clients?${new URLSearchParams(args)}`);
  backend.close();
  return calls[0] ?? { method: "", search: "", body: "" };
}

test.each(["in.njeri@client.example", "not.eq.1", "is.null", "fts(english).tea", "eq."])(
  "The search text %s, which PostgREST would read as a filter, is sent in a body.",
  async (q) => {
    const body = JSON.stringify({ q, page: "1" });
    expect(await readWithArguments({ q, page: "1" })).toEqual({ method: "POST", search: "", body });
  },
);

test.each(["Tea, in. bags", "eq", "254.eq.1", ".eq.1", ""])("The search text %j is sent in the URL.", async (q) => {
  const search = `?${new URLSearchParams({ q })}`;
  expect(await readWithArguments({ q })).toEqual({ method: "GET", search, body: "" });
});
