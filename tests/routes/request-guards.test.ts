import { connect, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import {
  createPdf,
  getTestApp,
  noStorePattern,
  origin,
  parsePage,
  password,
  startTestSite,
  type TestBrowser,
} from "../support/test-app.ts";

let app: Awaited<ReturnType<typeof getTestApp>>;
let site: Awaited<ReturnType<typeof startTestSite>>;
let client: TestBrowser;
let email: string;
let shipment: string;
beforeAll(async () => {
  app = await getTestApp();
  site = await startTestSite();
  client = site.browser();
  email = await client.signUpAndLogIn("Requester");
  shipment = await client.createShipment("Requests");
});
afterAll(async () => {
  await site.close();
});

/** Everything that takes a form. */
const formTargets = [
  { name: "the sign-up", path: () => "/signup" },
  { name: "the login", path: () => "/login" },
  { name: "the confirmation", path: () => "/auth/confirm" },
  { name: "the create form", path: () => "/portal/new" },
  { name: "the upload", path: () => shipment },
  { name: "an upload that a script watches", path: () => `${shipment}/documents` },
  { name: "the sign-out", path: () => "/portal/sign-out" },
  { name: "a payment", path: () => `${shipment}/payments` },
  { name: "the theme", path: () => "/actions/theme" },
  { name: "'Forgot password?'", path: () => "/actions/forgot-password" },
  { name: "a script's login", path: () => "/login.data" },
  { name: "a script's sign-out", path: () => "/portal/sign-out.data" },
];

/** Headers that browsers send with a form of another site. */
const foreignOrigins: Record<string, string>[] = [
  { Origin: "https://evil.example" },
  { Origin: "http://127.0.0.1.evil.example:3000" },
  { Origin: "http://127.0.0.1:3001" },
  { Origin: "https://127.0.0.1:3000" },
  { Origin: "null" },
  { Origin: origin, "Sec-Fetch-Site": "cross-site" },
  { Origin: origin, "Sec-Fetch-Site": "same-site" },
];

const sendRequest = (method: string, path: string, init: RequestInit = {}) =>
  client.send(new Request(new URL(path, origin), { method, ...init }));

describe.each(formTargets)("$name", ({ path }) => {
  const answers: [string, Response][] = [];

  test("answers PUT, PATCH and DELETE with 405 and says which methods it takes", async () => {
    for (const method of ["PUT", "PATCH", "DELETE"]) {
      const answer = await sendRequest(method, path(), { body: "a=b", headers: { Origin: origin } });
      answers.push([method, answer]);
      expect(answer.status, method).toBe(405);
    }
    for (const [method, answer] of answers) expect(answer.headers.get("Allow"), method).toBe("GET, HEAD, POST");
  });

  test("takes forms only: JSON, text, XML and a body of no type are 415", async () => {
    const body = new TextEncoder().encode('{"a":"b"}');
    for (const type of ["application/json", "text/plain", "text/xml", ""]) {
      const answer = await sendRequest("POST", path(), { body, headers: { Origin: origin, "Content-Type": type } });
      answers.push([type, answer]);
      expect(answer.status, type).toBe(415);
    }
  });

  test("refuses every form that is not from this site, and changes nothing", async () => {
    const calls = await app.proxy.during(async () => {
      for (const headers of foreignOrigins) {
        const what = JSON.stringify(headers);
        const answer = await client.post(path(), { email, password, name: "Forged", theme: "light" }, headers);
        answers.push([what, answer]);
        expect(answer.status, what).toBe(403);
        expect(answer.headers.getSetCookie(), what).toEqual([]);
      }
    });
    expect(calls.filter((call) => !call.startsWith("GET "))).toEqual([]);
  });

  test("never answers a damaged form with a failure of ours", async () => {
    const multipart = (boundary: string, body: string) =>
      sendRequest("POST", path(), {
        body,
        headers: { Origin: origin, "Content-Type": `multipart/form-data${boundary}` },
      });
    const damaged = [
      await multipart("", "--x\r\n"),
      await multipart("; boundary=x", "no boundary in here"),
      await multipart("; boundary=x", '--x\r\nContent-Disposition: form-data; name="email"\r\n\r\ncut o'),
      await multipart("; boundary=x", "--x\r\nContent-Disposition: nonsense\r\n\r\na\r\n--x--\r\n"),
      await multipart(`; boundary=${"x".repeat(500)}`, ""),
      await multipart("; boundary=x", "--x--\r\n"),
      await client.post(path(), new URLSearchParams("%E0%A4%A=%%%&=&&&email[a]=1&email[b]=2&__proto__[x]=1&0=1")),
    ];
    for (const answer of damaged) answers.push(["damaged", answer]);
    expect(damaged.map(({ status }) => status).filter((status) => status >= 500)).toEqual([]);
  });

  test("lets nobody keep any of these answers", () => {
    expect(answers.length).toBeGreaterThan(7);
    for (const [what, answer] of answers)
      expect(answer.headers.get("Cache-Control") ?? "", what).toMatch(noStorePattern);
  });
});

test("after all of that the client is signed in and has one shipment", async () => {
  // A damaged form to sign out has signed out nevertheless.
  if (!client.cookies.has("session")) await client.logIn(email);
  const page = await client.open("/portal");
  expect(page.all("main section[aria-labelledby=shipments-title] li")).toHaveLength(1);
  expect(page.all("html").map((html) => html.getAttribute("class"))).toEqual(["dark"]);
});

describe("forms of our own pages are taken", () => {
  test.each([
    ["with the origin of the site", { Origin: origin }],
    ["with the other name of this machine", { Origin: "http://localhost:3000" }],
    ["with its name in IPv6", { Origin: "http://[::1]:3000" }],
    ["of a browser that says where they come from", { Origin: origin, "Sec-Fetch-Site": "same-origin" }],
    ["typed by hand or by a program", { "Sec-Fetch-Site": "none" }],
  ])("%s", async (_what, headers: Record<string, string>) => {
    for (const path of ["/login", "/actions/theme"]) {
      const body = new URLSearchParams({ email, password });
      const answer = await site.browser().send(new Request(new URL(path, origin), { method: "POST", body, headers }));
      expect(answer.status, path).toBe(303);
    }
  });
});

describe("a person who sends one of these sees a page of the site", () => {
  test("that says the form came from somewhere else", async () => {
    const page = await parsePage(await client.post("/login", {}, { Origin: "https://evil.example" }));
    expect(page.status).toBe(403);
    expect(page.h1).toBe("This form came from somewhere else");
    expect(page.all("main a").map((link) => link.getAttribute("href"))).toEqual(["/"]);
  });

  test("that says a form arrived damaged", async () => {
    const headers = { Origin: origin, "Content-Type": "multipart/form-data; boundary=x" };
    for (const path of ["/login", "/signup", shipment]) {
      const page = await parsePage(await sendRequest("POST", path, { body: "--x\r\ncut o", headers }));
      expect(page.status, path).toBe(400);
      expect(page.text, path).toContain("The form arrived damaged.");
    }
  });
});

describe("a form has a size:", () => {
  const text = (size: number) => ({ email, password: "p", more: "m".repeat(size) });

  test.each(["/login", "/signup", "/auth/confirm", "/portal/new", "/actions/theme"])(
    "%s takes up to 64 KiB, more is 413",
    async (path) => {
      const frame = new URLSearchParams(text(0)).toString().length;
      const fits = await client.post(path, text(64 * 1024 - frame));
      expect([303, 400]).toContain(fits.status);
      const over = await client.post(path, text(64 * 1024 - frame + 1));
      expect(over.status).toBe(413);
      expect(over.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    },
  );

  test.each(["/login", "/signup", "/auth/confirm", "/portal/new", "/actions/theme"])(
    "%s answers a file of 11 MiB with 413",
    async (path) => {
      const form = new FormData();
      form.append("email", createPdf("large.pdf", 11 * 1024 * 1024));
      expect((await client.post(path, form)).status).toBe(413);
    },
  );

  test("a person who sent too much reads what to do", async () => {
    const page = await parsePage(await client.post("/signup", text(70_000)));
    expect(page.status).toBe(413);
    expect(page.h1).toBe("That is too much at once");
  });

  test("a person who sent too much can go on over the same connection", async () => {
    const form = new FormData();
    form.append("file", createPdf("large.pdf", 11 * 1024 * 1024));
    const large = new Request(new URL("/login", origin), { method: "POST", body: form });
    const body = new Uint8Array(await large.arrayBuffer());
    const type = large.headers.get("Content-Type");
    const head = `POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n`;
    const socket = connect(site.port, "127.0.0.1");
    socket.write(head);
    socket.write(body);
    socket.write("GET /signup HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    const answers = (await buffer(socket)).toString("latin1");
    expect(answers.match(/^HTTP\/1\.1 \d+/gm)).toEqual(["HTTP/1.1 413", "HTTP/1.1 200"]);
  });

  test("more parts than any of our forms has are refused", async () => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ email, password })) form.append(name, value);
    expect((await site.browser().post("/login", form)).status).toBe(303);
    for (let index = 0; index < 1000; index += 1) form.append(`field${index}`, "x");
    expect((await site.browser().post("/login", form)).status).toBe(400);
  });

  test("a hundred fields are taken, not one more", async () => {
    const fields = new URLSearchParams({ email, password });
    for (let index = 0; index < 98; index += 1) fields.append(`field${index}`, "x");
    expect((await site.browser().post("/login", fields)).status).toBe(303);
    fields.append("one-more", "x");
    expect((await site.browser().post("/login", fields)).status).toBe(400);
  });

  const forms = ["/?index", "/contact", "/careers", "/actions/quote", "/login", "/signup", "/cookie-settings"];
  const both = (fields: [string, string][]) => {
    const form = new FormData();
    for (const [name, value] of fields) form.append(name, value);
    return [new URLSearchParams(fields), form];
  };

  test.each(forms)("%s refuses a field that comes twice, whichever it is", async (path) => {
    for (const fields of both([...Object.entries({ email, password, name: "A", more: "a" }), ["more", "b"]])) {
      const page = await parsePage(await client.post(path, fields));
      expect(page.status).toBe(400);
      expect(page.text).toContain("A field of this form came twice.");
    }
  });

  test.each(forms)("%s takes 64 KiB of text in parts, and repeats none of more", async (path) => {
    const text = (letters: number) => both([...Array(3)].map((_, part) => [`message${part}`, "m".repeat(letters)]))[1];
    const fits = await client.post(path, text(21_000) ?? {});
    expect(fits.status).not.toBe(413);
    for (const letters of [22_000, 1_000_000]) {
      const over = await client.post(path, text(letters) ?? {});
      expect(over.status).toBe(413);
      expect(await over.text()).not.toContain("mmm");
    }
  });

  test.each(forms.filter((path) => path !== "/careers"))(
    "%s takes no file, as it has no field for one",
    async (path) => {
      const form = new FormData();
      form.append("email", createPdf("small.pdf", 100));
      const page = await parsePage(await client.post(path, form));
      expect(page.status).toBe(400);
      expect(page.text).toContain("This form takes no file.");
    },
  );

  test("a part that is no text, or a boundary longer than any, is a form that arrived damaged", async () => {
    const part = (name: string, value: string) => `Content-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    const long = "x".repeat(71);
    for (const [boundary, body] of [
      ["x", `--x\r\n${part("name", "\xff\xfe")}--x--\r\n`],
      ["x", `--x\r\n${part("\xff", "a")}--x--\r\n`],
      ["x", `--x\r\n${part("name", "a").replace("\r\n", `\r\nX: ${"y".repeat(3000)}\r\n`)}--x--\r\n`],
      [long, `--${long}\r\n${part("name", "a")}--${long}--\r\n`],
    ]) {
      const headers = { Origin: origin, "Content-Type": `multipart/form-data; boundary=${boundary}` };
      for (const path of ["/careers", "/contact"]) {
        const page = await parsePage(
          await sendRequest("POST", path, { body: Buffer.from(body ?? "", "latin1"), headers }),
        );
        expect(page.status).toBe(400);
        expect(page.text).toContain("The form arrived damaged.");
      }
    }
  });

  test.each(forms)("%s ends a body in pieces of a byte long before its end", async (path) => {
    const socket = connect(site.port, "127.0.0.1").on("error", () => undefined);
    const head = "Transfer-Encoding: chunked\r\nContent-Type: application/x-www-form-urlencoded";
    socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n${"1\r\na\r\n".repeat(3000)}`);
    expect((await buffer(socket)).toString("latin1")).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe("uploads on their way", () => {
  const open: Socket[] = [];
  afterEach(() => {
    for (const socket of open.splice(0)) socket.destroy();
  });

  /** Sends half of a file of `size` bytes; `rest` is what is missing of the request. */
  function begin(path: string, from: string, size = 10_000, cookie = "") {
    const before = '--x\r\nContent-Disposition: form-data; name="cv"; filename="a.pdf"\r\n\r\n';
    const rest = `${"m".repeat(size / 2)}\r\n--x--\r\n`;
    const socket = connect(site.port, "127.0.0.1").on("error", () => undefined);
    open.push(socket);
    const answer = { text: "" };
    socket.on("data", (bytes) => {
      answer.text += bytes.toString("latin1");
    });
    const head = `Host: x\r\nX-Forwarded-For: ${from}\r\nOrigin: ${origin}\r\nCookie: ${cookie}`;
    const form = `Content-Type: multipart/form-data; boundary=x\r\nContent-Length: ${before.length + size / 2 + rest.length}`;
    socket.write(`POST ${path} HTTP/1.1\r\n${head}\r\n${form}\r\n\r\n${before}${"m".repeat(size / 2)}`);
    return { socket, rest, answer, status: () => Number(answer.text.slice(9, 12)) };
  }

  /** Sends an application from an address, complete but for the name: 400, unless a limit refuses it. */
  async function apply(from: string, size = 1000) {
    const form = new FormData();
    form.append("cv", createPdf("cv.pdf", size));
    return site.browser().post("/careers", form, { "X-Forwarded-For": from });
  }
  const applied = async (from: string, size?: number) => (await apply(from, size)).status;

  const ways: [string, (upload: ReturnType<typeof begin>) => void][] = [
    ["is whole", ({ socket, rest }) => socket.write(rest)],
    ["is damaged", ({ socket, rest }) => socket.write(rest.replaceAll("-", "m"))],
    ["loses its line half way", ({ socket }) => socket.resetAndDestroy()],
    ["is given up by the browser", ({ socket }) => socket.destroy()],
  ];
  test.each(ways)("are six from one address without an account, until one of them %s", async (_how, leave) => {
    const from = `192.0.2.${ways.findIndex(([how]) => how === _how) + 1}`;
    const uploads = Array.from({ length: 6 }, () => begin("/careers", from));
    await expect.poll(() => applied(from)).toBe(429);
    expect(await applied("198.51.100.1")).toBe(400);

    const page = await parsePage(await apply(from));
    expect(page.headers.get("Retry-After")).toBe("60");
    expect(page.saidOf("cv")).toContain("Too many files come from your network. Try again in a minute.");
    expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);

    const [one] = uploads;
    if (one) leave(one);
    await expect.poll(() => applied(from)).toBe(400);
    uploads.push(begin("/careers", from));
    await expect.poll(() => applied(from)).toBe(429);
  });

  test("are three of one client, wherever they come from, and others have theirs", async () => {
    const cookie = `session=${client.cookies.get("session")}`;
    for (const address of ["203.0.113.1", "203.0.113.2", "203.0.113.3"]) {
      begin(`${shipment}/documents`, address, 10_000, cookie);
    }
    const form = new FormData();
    form.append("document", "none");
    form.append("file", createPdf());
    const headers = { Accept: "application/json", "X-Forwarded-For": "203.0.113.4" };
    const ask = () => client.post(`${shipment}/documents`, form, headers);
    await expect.poll(async () => (await ask()).status).toBe(429);
    const refused = await ask();
    expect(refused.headers.get("Retry-After")).toBe("60");
    expect(await refused.json()).toEqual({
      toast: {
        title: "Upload failed",
        description: "Your other files are still on their way. Try again in a minute.",
        variant: "destructive",
      },
    });
    const page = await parsePage(await client.post(shipment, form));
    expect([page.status, page.toasts.at(-1)?.title]).toEqual([429, "Upload failed"]);
    expect(await applied("203.0.113.1")).toBe(400);

    const stranger = site.browser();
    await stranger.signUpAndLogIn("Other");
    const other = await stranger.createShipment("Theirs");
    expect((await stranger.post(`${other}/documents`, form, headers)).status).toBe(400);
    for (const socket of open.splice(0)) socket.destroy();
    await expect.poll(async () => (await ask()).status).toBe(400);
  });
});

describe("whatever an address looks like,", () => {
  let lines: Record<string, unknown>[];
  beforeAll(() => {
    vi.spyOn(console, "log").mockImplementation((printed: unknown) => {
      for (const line of String(printed).split("\n")) if (line.startsWith("{")) lines.push(JSON.parse(line));
    });
  });
  beforeEach(() => {
    lines = [];
  });
  afterAll(() => {
    vi.restoreAllMocks();
  });

  /** Requests a target exactly as written: fetch would normalize it. */
  async function ask(target: string, method = "GET", more = "", body = "") {
    const socket = connect(site.port, "127.0.0.1").on("error", () => undefined);
    const head = `Host: x\r\nConnection: close\r\n${more}Content-Length: ${body.length}`;
    socket.write(`${method} ${target} HTTP/1.1\r\n${head}\r\n\r\n${body}`);
    const [top = ""] = (await buffer(socket)).toString("latin1").split("\r\n\r\n");
    const headers = new Headers(
      top
        .split("\r\n")
        .slice(1)
        .map((line): [string, string] => [line.split(": ", 1)[0] ?? "", line.replace(/^[^:]*: /, "")]),
    );
    const id = headers.get("X-Request-Id");
    await expect.poll(() => lines.filter(({ requestId }) => requestId === id && id)).not.toEqual([]);
    return { status: Number(top.slice(9, 12)), headers };
  }

  const breaks = ["%0a", "%0D", "%0d%0A", "%E2%80%A8", "%e2%80%a9"];
  const addresses = [
    ...breaks.flatMap((sign) => [
      `/x${sign}`,
      `/${sign}y`,
      `/portal/${sign}`,
      `/login${sign}.data`,
      `/%E0%A4%A/${sign}`,
    ]),
    ...["/%85", "/%00", "/%E0%A4%A", "/%", "//x", "/x//y", "/./x", "/x/../../y", "/\\..\\x"],
    ...["/x.data", "//x.data", "/%00.data", "/x/_.data", "/_root.data/x", "/__manifest", "/x;y"],
    ...[
      "http://evil.example/x%0a",
      "HTTPS://evil.example/%E2%80%A8.data",
      `/${"a".repeat(8000)}`,
      `/x?${"a".repeat(8000)}`,
    ],
  ];
  test.each(addresses)("%j is no page: its answer is in the log, and nobody keeps it", async (address) => {
    const { status, headers } = await ask(address);
    // Below /portal/ a visitor is sent to the login whether the page exists or not.
    expect(address.startsWith("/portal/") ? [303] : [404, 400]).toContain(status);
    expect(headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    const foreign = "Sec-Fetch-Site: cross-site\r\nContent-Type: application/json\r\n";
    const sent = await ask(address, "POST", foreign, "{}");
    expect([403, 400]).toContain(sent.status);
    expect(sent.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
  });

  test.each(["OPTIONS", "TRACE", "PROPFIND", "PURGE", "PUT", "DELETE"])(
    "%s is told which methods there are",
    async (method) => {
      for (const address of ["/login", "/favicon.svg", "/healthz", "/x%0a", "/portal.data"]) {
        const { status, headers } = await ask(address, method);
        expect(status, address).toBe(405);
        expect(headers.get("Allow"), address).toBe("GET, HEAD, POST");
        expect(headers.get("Cache-Control") ?? "", address).toMatch(noStorePattern);
      }
    },
  );

  test.each(["nonsense", "http://[", "https://a, https://b"])(
    "a form from %j is a form from somewhere else",
    async (from) => {
      for (const address of ["/login", "/login.data", "/actions/theme"]) {
        const more = `Origin: ${from}\r\nContent-Type: application/x-www-form-urlencoded\r\n`;
        const { status, headers } = await ask(address, "POST", more, "email=a");
        expect(status, address).toBe(403);
        expect(headers.get("Cache-Control") ?? "", address).toMatch(noStorePattern);
      }
    },
  );
});

describe("what is for one person, and every error, is kept by nobody and found by no search:", () => {
  const isPrivate = ({ headers }: Response, what: string) => {
    expect(headers.get("Cache-Control") ?? "", what).toMatch(noStorePattern);
    expect(headers.get("X-Robots-Tag"), what).toBe("noindex");
  };

  test.each([
    "/login",
    "/signup",
    "/auth/confirm",
    "/auth/confirm?token_hash=x",
    "/portal",
    "/portal/new",
    "/portal/2fa",
  ])("%s, to whom it opens", async (path) => {
    const answer = await client.get(path);
    expect([200, 303]).toContain(answer.status);
    isPrivate(answer, path);
  });

  test("the ways that lead away, as pages and as data", async () => {
    const visitor = site.browser();
    const ways = ["/portal", "/portal/new", shipment, "/login/verify", "/actions/theme", "/portal/sign-out"];
    for (const way of ways.flatMap((path) => [path, `${path}.data`])) {
      const answer = await visitor.get(way);
      expect([202, 303], way).toContain(answer.status);
      isPrivate(answer, way);
    }
  });

  test("pages that are not there, and forms that are refused", async () => {
    for (const path of ["/no-such-page", "/portal/no-such", "/resources/blog/no-such", "/no-such.data"]) {
      isPrivate(await client.get(path), path);
    }
    isPrivate(await client.post("/contact", {}), "a form without answers");
    isPrivate(await client.post("/contact", {}, { Origin: "https://evil.example" }), "a form from another site");
  });

  test("and a page that is for everybody says nothing of the kind", async () => {
    for (const path of ["/", "/contact", "/resources/blog", "/sitemap.xml", "/robots.txt"]) {
      const { headers } = await site.browser().get(path);
      expect(headers.get("X-Robots-Tag"), path).toBeNull();
      expect(headers.get("Cache-Control"), path).not.toContain("no-store");
    }
  });
});

test.each(["/actions/theme", "/actions/forgot-password", "/portal/sign-out"])(
  "opening %s changes nothing and leads to a page",
  async (path) => {
    const browser = site.browser();
    await browser.logIn(email);
    browser.cookies.delete("flash");
    const answer = await browser.get(path);
    expect(answer.headers.getSetCookie()).toEqual([]);
    if (answer.status === 303) expect((await browser.follow(answer)).status).toBe(200);
    else expect((await parsePage(answer)).all("main form")).toHaveLength(1);
    expect((await browser.get("/portal")).status).toBe(200);
  },
);

test("every answer that sets a cookie is kept by nobody", async () => {
  const browser = site.browser();
  const answers = [
    await browser.post("/actions/theme", { theme: "light", to: "/" }),
    await browser.post("/actions/forgot-password", {}),
    await browser.get("/"),
    await browser.post("/login", { email, password }),
    await browser.get("/"),
    await browser.post(`${shipment}/payments`, { payment: "duties" }),
    await browser.get("/no-such-page"),
    await browser.post("/portal/new", { name: "" }),
    await browser.post("/portal/sign-out", {}),
    await browser.get("/signup"),
  ];
  const setting = answers.filter((answer) => answer.headers.getSetCookie().length > 0);
  expect(setting.length).toBeGreaterThanOrEqual(8);
  for (const answer of setting) {
    expect(answer.headers.get("Cache-Control") ?? "", answer.headers.getSetCookie().join()).toMatch(noStorePattern);
  }
});

test.each(["", ".data"])("the answer to a form that was taken is kept by nobody%s", async (script) => {
  const answer = await client.post(`/contact${script}`, {
    name: "Amina Wanjiru",
    email: "amina@client.example",
    subject: "Tea",
    message: "When?",
  });
  expect(answer.status).toBe(200);
  expect(await answer.text()).toContain("amina@client.example");
  expect(answer.headers.get("Set-Cookie")).toBeNull();
  expect(answer.headers.get("Cache-Control")).toBe("private, no-store");
});
