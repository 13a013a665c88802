import { createServer, type RequestListener } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { listen } from "../../../tests/support/free-port.ts";
import { stubSettings } from "../../../tests/support/stub-settings.ts";

let url: string;
let sendAsSupabase: typeof fetch;
let respond: RequestListener;
const backend = createServer((request, response) => respond(request, response));
beforeAll(async () => {
  url = `http://127.0.0.1:${await listen(backend)}`;
  stubSettings({ SUPABASE_URL: url });
  const { createSupabaseFetch } = await import("./fetch.server.ts");
  sendAsSupabase = createSupabaseFetch(null);
});
afterAll(() => {
  vi.unstubAllEnvs();
  backend.close();
});

/**
 * Returns the status that supabase-js receives if Supabase Auth responds to the refresh of a session with `status`,
 * `body` and `headers`. Any error status except 503 makes supabase-js delete the session.
 */
async function getRefreshStatus(status: number, body: string, headers: Record<string, string>): Promise<number> {
  respond = (_request, response) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
  const init = { method: "POST", body: JSON.stringify({ refresh_token: body }) };
  return (await sendAsSupabase(`${url}/auth/v1/token?grant_type=refresh_token`, init)).status;
}

const versionHeaders = { "X-Supabase-Api-Version": "2024-01-01" };
test.each([
  ["the current", '{"code":"refresh_token_not_found","message":"Invalid Refresh Token"}', versionHeaders],
  ["the 2023", '{"code":400,"error_code":"refresh_token_not_found","msg":"Invalid Refresh Token"}', {}],
  ["the oldest", '{"error":"invalid_grant","error_description":"Invalid Refresh Token"}', {}],
  ["an unknown", '{"message":"Something else"}', {}],
  ["no", "<h1>Not found</h1>", {}],
])(
  "A rejected refresh token ends the session if the error of Supabase Auth has %s format.",
  async (_format, body, headers) => {
    for (const status of [400, 401, 403, 404]) expect(await getRefreshStatus(status, body, headers)).toBe(status);
  },
);

test.each([
  ["another refresh runs", 409, '{"code":"conflict","message":"Too many concurrent requests"}', versionHeaders],
  ["Supabase Auth is too slow", 408, '{"code":"request_timeout","message":"Request timed out"}', versionHeaders],
  ["a rate limit is reached", 429, '{"code":"over_request_rate_limit","message":"Rate limit reached"}', versionHeaders],
  ["a hook fails", 422, '{"code":"hook_timeout","message":"Hook ran into maximum time"}', versionHeaders],
  ["Supabase Auth fails", 500, '{"code":"unexpected_failure","message":"Internal Server Error"}', versionHeaders],
  ["another server responds", 200, '{"status":"ok"}', {}],
  ["the response has an invalid token", 200, '{"access_token":"garbage","refresh_token":"x"}', {}],
])("A failed token refresh does not end the session if %s.", async (_reason, status, body, headers) => {
  expect(await getRefreshStatus(status, body, headers)).toBe(503);
});

/**
 * Calls a database function that reads data with the arguments `args`. Returns the method, query string and body of the
 * request that the backend receives.
 */
async function readWithArguments(args: Record<string, string>) {
  const calls: object[] = [];
  respond = async (request, response) => {
    const { search } = new URL(request.url ?? "", url);
    calls.push({ method: request.method, search, body: await text(request) });
    response.end("{}");
  };
  await sendAsSupabase(`${url}/rest/v1/rpc/desk_clients?${new URLSearchParams(args)}`);
  return calls[0];
}

test.each(["in.njeri@client.example", "not.eq.1", "is.null", "fts(english).tea", "eq."])(
  "The search text %s, which PostgREST would read as a filter, is sent in the request body.",
  async (q) => {
    const body = JSON.stringify({ q, page: "1" });
    expect(await readWithArguments({ q, page: "1" })).toEqual({ method: "POST", search: "", body });
  },
);

test.each(["Tea, in. bags", "eq", "254.eq.1", ".eq.1", ""])("The search text %j is sent in the URL.", async (q) => {
  const search = `?${new URLSearchParams({ q })}`;
  expect(await readWithArguments({ q })).toEqual({ method: "GET", search, body: "" });
});
