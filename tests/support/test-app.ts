import http from "node:http";
import process from "node:process";
import { buffer } from "node:stream/consumers";
import { type HTMLElement, parse } from "node-html-parser";
import postgres from "postgres";
import { createRequestHandler, RouterContextProvider, type ServerBuild } from "react-router";
import { expect, vi } from "vitest";
import { env } from "../../app/lib/http/env.server.ts";
import { serviceRoleClient } from "../../app/lib/supabase/client.server.ts";
import { serverBuildFile } from "../../app/server/start/build.ts";
import { startFaultProxy } from "./fault-proxy.ts";
import { listen } from "./free-port.ts";
import { getConfirmationLink } from "./outbox.ts";
import { issueClientIds } from "./service-role.ts";

export const origin = "http://127.0.0.1:3000";
export const password = "a good password";
/** Matches a Cache-Control header with which no proxy or browser stores the response, even for the Back button. */
export const noStorePattern = /^private,.*\bno-store\b/;

let testApp: ReturnType<typeof startTestApp> | undefined;

/**
 * Returns the built app as a function from Request to Response, with a fault proxy in front of its backend. All test
 * files of a worker use the same app, so a test that starts a fault must end the fault.
 */
export function getTestApp() {
  testApp ??= startTestApp();
  return testApp;
}

export type TestApp = Awaited<ReturnType<typeof startTestApp>>;

async function startTestApp() {
  const url = process.env.SUPABASE_URL ?? "";
  const proxy = await startFaultProxy(url);
  process.env.SUPABASE_URL = proxy.url;
  const build = (await import(serverBuildFile)) as ServerBuild;
  const handle = createRequestHandler(build, "production");
  return {
    proxy,
    /** A service-role client that bypasses the fault proxy. */
    company: serviceRoleClient({ ...env().backend, url }),
    /** A database connection with the privileges of the database's owner. Connects at the first query. */
    sql: postgres(process.env.TESTS_DATABASE_URL ?? "", { max: 1, onnotice: () => undefined }),
    browser: () =>
      new TestBrowser((request) => {
        request.headers.set("X-Client-Address", request.headers.get("X-Forwarded-For") ?? "");
        return handle(request, new RouterContextProvider());
      }),
  };
}

/** Starts the site as `npm start` does, on the port `at` or on a free port, with the backend of `getTestApp`. */
export async function startTestSite(at = 0) {
  // The site reads the backend's URL only once, so the environment must contain the proxy's URL before the import.
  await getTestApp();
  const { createSite } = await import("../../app/server/web/server.ts");
  const server = await createSite();
  const port = await listen(server, at);
  return {
    port,
    server,
    browser: () => createNetworkBrowser(port),
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns a browser that sends its requests to the site on `port`. */
export function createNetworkBrowser(port: number): TestBrowser {
  return new TestBrowser(async (request) => {
    const { pathname, search } = new URL(request.url);
    const { method, headers } = request;
    const body = request.body ? new Uint8Array(await request.arrayBuffer()) : undefined;
    return fetch(`http://127.0.0.1:${port}${pathname}${search}`, { method, headers, body, redirect: "manual" });
  });
}

let testSite: ReturnType<typeof startTestSite> | undefined;

/** Returns the site of this worker on a free port. All test files of the worker use the same site and page cache. */
export function getTestSite() {
  testSite ??= startTestSite();
  return testSite;
}

/** A response, and the number of bytes that its connection has received. */
type MeasuredResponse = { status: number; headers: http.IncomingHttpHeaders; body: Buffer; bytes: number };

/** Sends a request to a port of this machine on a new connection. */
export function sendRequest(
  port: number,
  address: string,
  headers: Record<string, string> = {},
  method = "GET",
): Promise<MeasuredResponse> {
  return new Promise((resolve, reject) => {
    const request = http.request({ port, path: address, method, headers, agent: false }, (response) => {
      const { statusCode: status = 0, headers, socket } = response;
      buffer(response).then((body) => resolve({ status, headers, body, bytes: socket.bytesRead }), reject);
    });
    request.on("error", reject);
    request.end();
  });
}

export const pdfEnd = "startxref\n0\n%%EOF\n";

/** Returns a file of `size` bytes with the start and the end of a PDF. */
export function createPdf(name = "invoice.pdf", size = 2000): File {
  return new File(["%PDF-1.4\n", " ".repeat(size - 9 - pdfEnd.length), pdfEnd], name, { type: "application/pdf" });
}

export type FormValues = Record<string, string | File>;

/**
 * A test browser without JavaScript. It stores cookies and sends forms, but does not follow redirects automatically.
 */
export class TestBrowser {
  readonly cookies = new Map<string, string>();
  /** The IP address that a trusted proxy would report. Each browser has a different IP address. */
  address = `10.${[0, 0, 0].map(() => Math.floor(Math.random() * 256)).join(".")}`;
  constructor(private readonly handle: (request: Request) => Promise<Response>) {}

  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.send(new Request(new URL(path, origin), { headers }));
  }

  /** Sends a form as a browser does: multipart for a FormData object, otherwise URL-encoded. */
  post(
    path: string,
    fields: Record<string, string> | URLSearchParams | FormData,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const body = fields instanceof FormData ? fields : new URLSearchParams(fields);
    return this.send(
      new Request(new URL(path, origin), { method: "POST", body, headers: { Origin: origin, ...headers } }),
    );
  }

  get cookieHeader(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  async send(request: Request): Promise<Response> {
    if (this.cookieHeader) request.headers.set("Cookie", this.cookieHeader);
    if (!request.headers.has("X-Forwarded-For")) request.headers.set("X-Forwarded-For", this.address);
    const response = await this.handle(request);
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0/i.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return response;
  }

  async open(path: string): Promise<ParsedPage> {
    return parsePage(await this.get(path));
  }

  /** Fills in and sends the form that has this button. Throws if the page has no such button. */
  submit(page: ParsedPage, button: string, typed: FormValues = {}): Promise<Response> {
    const { action, multipart, fields } = page.form(button);
    const form = new FormData();
    for (const [name, value] of Object.entries({ ...fields, ...typed })) form.append(name, value);
    if (multipart) return this.post(action, form);
    return this.post(action, Object.fromEntries([...form].map(([name, value]) => [name, String(value)])));
  }

  /** Opens the page to which a response redirects. Throws if the response is not a redirect with status 303. */
  follow(response: Response): Promise<ParsedPage> {
    const location = response.headers.get("Location");
    if (response.status !== 303 || !location)
      throw new Error(`A response with status ${response.status} is not a redirect.`);
    return this.open(location);
  }

  /**
   * Creates a confirmed client and logs in. Returns the email address. Does not use the sign-up form, to save time.
   */
  async signUpAndLogIn(name: string): Promise<string> {
    const email = `${name.toLowerCase().replace(/[^a-z]+/g, "-")}-${Math.random().toString(36).slice(2, 8)}@client.example`;
    const company = serviceRoleClient();
    const [clientId] = await issueClientIds(company, 1);
    const user_metadata = { full_name: name, client_id: clientId };
    const { error } = await company.auth.admin.createUser({ email, password, email_confirm: true, user_metadata });
    if (error) throw error;
    await this.logIn(email);
    return email;
  }

  /**
   * Opens the confirmation link in the newest email to this email address and sends the page's form with the password.
   */
  async confirmEmail(email: string, typed = password): Promise<Response> {
    const { pathname, search } = new URL(await getConfirmationLink(process.env.DATA_DIR ?? "", email));
    return this.submit(await this.open(pathname + search), "Confirm and log in", { email, password: typed });
  }

  /** Logs in and discards the toast. Throws if the login fails. */
  async logIn(email: string, typed = password): Promise<void> {
    const response = await this.post("/login", { email, password: typed });
    if (response.headers.get("Location") !== "/portal") throw new Error(`${email} could not log in`);
    this.cookies.delete("flash");
  }

  /** Creates a shipment without opening the form and discards the toast. Returns the shipment's path, /portal/<id>. */
  async createShipment(name: string): Promise<string> {
    const response = await this.post("/portal/new", { name, idempotencyKey: crypto.randomUUID() });
    this.cookies.delete("flash");
    return response.headers.get("Location") ?? "";
  }
}

export type ParsedPage = Awaited<ReturnType<typeof parsePage>>;

/** Parses a response as a browser without JavaScript would. */
export async function parsePage(response: Response) {
  const html = await response.text();
  // Parses the page only when a test reads a part of the page, because many tests read only status and headers.
  let parsed: HTMLElement | undefined;
  const root = () => {
    parsed ??= parse(html, { comment: false });
    return parsed;
  };
  const all = (selector: string) => root().querySelectorAll(selector);
  const readText = (selector: string) => getText(root().querySelector(selector));

  return {
    status: response.status,
    headers: response.headers,
    html,
    all,
    get title() {
      return readText("head title");
    },
    get h1() {
      return readText("h1");
    },
    /** The text of the page between the navigation and the footer. */
    get text() {
      return readText("main");
    },
    get toasts() {
      return all("[role=alert], [role=status]").map((toast) => ({
        // An error summary counts as a toast. Its heading is the title, and its link is the message.
        title: getText(toast.querySelector("h2, p")),
        description: getText(toast.querySelector("p + p, h2 + p, li")),
        variant: toast.getAttribute("role") === "alert" ? "destructive" : "default",
      }));
    },
    /** The error summary: each message with the id of its field. */
    get problems() {
      return all("[aria-labelledby=error-summary] a").map((link) => ({
        text: getText(link),
        id: link.getAttribute("href")?.replace("#", "") ?? "",
      }));
    },
    has: (id: string) => root().getElementById(id) !== null,
    value: (name: string) => root().querySelector(`main [name=${name}]`)?.getAttribute("value") ?? "",
    /** Returns the hint and the error that a screen reader adds to a field's label. */
    getDescriptions: (name: string) => {
      const ids = root().querySelector(`main [name=${name}]`)?.getAttribute("aria-describedby") ?? "";
      return ids.split(" ").flatMap((id) => (id ? [getText(root().getElementById(id))] : []));
    },
    /** Returns the form that has the button `button`, with the fields that a browser would send. */
    form: (button: string) => {
      const form = all("form").find((each) => each.querySelectorAll("button").map(getText).includes(button));
      if (!form) throw new Error(`No button "${button}" on the page "${readText("h1")}" (${response.status})`);
      const fields: FormValues = {};
      for (const field of form.querySelectorAll("input, select, textarea, button[name]")) {
        const isBox = ["checkbox", "radio"].includes(field.getAttribute("type") ?? "");
        if ((isBox && !field.hasAttribute("checked")) || field.hasAttribute("disabled")) continue;
        const isFile = field.getAttribute("type") === "file";
        fields[field.getAttribute("name") ?? ""] = isFile ? new File([], "") : getFieldValue(field, isBox ? "on" : "");
      }
      const multipart = form.getAttribute("enctype") === "multipart/form-data";
      return { action: form.getAttribute("action") ?? "", multipart, fields };
    },
  };
}

/** Returns the value that a browser sends for a field, or `otherwise` if the field has no value. */
export function getFieldValue(field: HTMLElement, otherwise = ""): string {
  if (field.tagName === "TEXTAREA") return field.text.replace(/^\n/, "");
  if (field.tagName !== "SELECT") return field.getAttribute("value") ?? otherwise;
  const options = field.querySelectorAll("option");
  const chosen = options.find((option) => option.hasAttribute("selected")) ?? options[0];
  return chosen?.getAttribute("value") ?? getText(chosen);
}

/** Returns the text of an element. Replaces each sequence of white space with one space. */
export function getText(element: HTMLElement | null | undefined): string {
  return (element?.structuredText ?? "").replace(/\s+/g, " ").trim();
}

/** Matches the toast after a missing or invalid response of the backend. */
export const unavailableText = expect.stringMatching(
  /^(Our system is not responding\. Nothing was changed\. Try again in a minute\.|Something went wrong)$/,
);

/** Checks that the page contains no backend error, backend response, host name or stack trace. */
export function expectNoInternals(page: ParsedPage): void {
  const insides = ["relation x", "<h1>Welcome", '{"id":"5a0', "fetch failed", "ECONN", "socket", "SyntaxError"];
  insides.push("TypeError", "AuthRetryable", "Unexpected token", "node_modules", "stack", "SQL", "PGRST");
  insides.push(new URL(process.env.SUPABASE_URL ?? "").host);
  let shown = page.html.replace(/<script[^>]*> ?\(\(storageKey.*?<\/script>/s, "");
  // Removes the nonce and the setup key of 2FA, because random text may contain one of the forbidden words.
  const secret = page.value("secret");
  const inFours = secret.match(/.{1,4}/g)?.join(" ") ?? "";
  const nonce = /nonce="([^"]+)"/.exec(shown)?.[1] ?? "";
  for (const random of [secret, inFours, nonce]) if (random) shown = shown.replaceAll(random, "");
  expect(insides.filter((inside) => shown.includes(inside))).toEqual([]);
}

/**
 * Runs `job` and returns the site's log lines. Waits for the log lines of `count` requests whose route starts with
 * `route`.
 */
export async function readLogDuring(route: string, count: number, job: () => Promise<void>): Promise<string> {
  const lines: string[] = [];
  const levels = ["log", "warn", "error"] as const;
  const spies = levels.map((level) =>
    vi.spyOn(console, level).mockImplementation((...texts) => void lines.push(texts.join(" "))),
  );
  try {
    await job();
    await expect.poll(() => lines.join("\n").split(`"route":"${route}`).length - 1).toBeGreaterThanOrEqual(count);
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return lines.join("\n");
}
