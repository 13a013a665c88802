import process from "node:process";
import { createRequestHandler, RouterContextProvider, type ServerBuild } from "react-router";
import { companyBackend } from "../../app/lib/supabase.server.ts";
import { issueClientIds } from "../../app/models/client-id.server.ts";
import { serverBuild } from "../../app/server/build.ts";
import { faultProxy } from "./fault-proxy.ts";
import { confirmationLink } from "./outbox.ts";

export const origin = "http://127.0.0.1:3000";
export const password = "a good password";

/**
 * The built app as one function from Request to Response, on the backend of the route tests behind a proxy that can
 * fail. Import it once per file, before anything of the app has read its settings.
 */
export async function theApp() {
  const proxy = await faultProxy(process.env.SUPABASE_URL ?? "");
  process.env.SUPABASE_URL = proxy.url;
  const build = (await import(serverBuild)) as ServerBuild;
  const handle = createRequestHandler(build, "production");
  return { proxy, browser: () => new Browser((request) => handle(request, new RouterContextProvider())) };
}

/** A browser without script: keeps cookies, sends forms, follows nothing by itself. */
export class Browser {
  readonly cookies = new Map<string, string>();
  constructor(private readonly handle: (request: Request) => Promise<Response>) {}

  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.send(new Request(new URL(path, origin), { headers }));
  }

  /** Posts a form as a browser does: urlencoded, or multipart when a FormData is given. */
  post(path: string, fields: Record<string, string> | FormData, headers: Record<string, string> = {}) {
    const body = fields instanceof FormData ? fields : new URLSearchParams(fields);
    return this.send(
      new Request(new URL(path, origin), { method: "POST", body, headers: { Origin: origin, ...headers } }),
    );
  }

  async send(request: Request): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    if (cookie) request.headers.set("Cookie", cookie);
    const response = await this.handle(request);
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0/i.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return response;
  }

  /** Signs a new client up, confirms it and logs in here. Returns its e-mail address. */
  async signUpAndIn(name: string): Promise<string> {
    const email = `${name}-${Math.random().toString(36).slice(2, 8)}@client.example`;
    const [clientId = ""] = await issueClientIds(companyBackend(), 1);
    await this.post("/signup", { clientId, fullName: name, email, password });
    const link = new URL(await confirmationLink(process.env.DATA_DIR ?? "", email));
    await this.post("/auth/confirm", { token: link.searchParams.get("token_hash") ?? "" });
    const response = await this.post("/login", { email, password });
    if (response.headers.get("Location") !== "/portal") throw new Error(`${email} could not log in`);
    return email;
  }

  /** Opens a shipment and returns its path, /portal/<id>. */
  async createShipment(name: string): Promise<string> {
    const form = await (await this.get("/portal/new")).text();
    const requestId = /name="requestId" value="([^"]+)"/.exec(form)?.[1] ?? "";
    const response = await this.post("/portal/new", { name, requestId });
    return response.headers.get("Location") ?? "";
  }
}
