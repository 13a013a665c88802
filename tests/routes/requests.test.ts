import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Browser, keptByNobody, origin, password, pdf, read, theApp, theSite } from "../support/routes.ts";

let app: Awaited<ReturnType<typeof theApp>>;
let site: Awaited<ReturnType<typeof theSite>>;
let client: Browser;
let email: string;
let shipment: string;
beforeAll(async () => {
  app = await theApp();
  site = await theSite();
  client = site.browser();
  email = await client.signUpAndIn("Requester");
  shipment = await client.createShipment("Requests");
});
afterAll(async () => {
  await site.close();
  await app.proxy.close();
});

/** Everything that takes a form. */
const targets = [
  { name: "the sign-up", path: () => "/signup" },
  { name: "the login", path: () => "/login" },
  { name: "the confirmation", path: () => "/auth/confirm" },
  { name: "the create form", path: () => "/portal/new" },
  { name: "the upload", path: () => shipment },
  { name: "an upload that a script watches", path: () => `${shipment}/documents` },
  { name: "the sign-out", path: () => "/portal/sign-out" },
  { name: "a payment", path: () => `${shipment}/payments` },
  { name: "the theme", path: () => "/resources/theme" },
  { name: "'Forgot password?'", path: () => "/resources/forgot-password" },
  { name: "a script's login", path: () => "/login.data" },
  { name: "a script's sign-out", path: () => "/portal/sign-out.data" },
];

/** What a browser says of a form that another page made it send. */
const foreign: Record<string, string>[] = [
  { Origin: "https://evil.example" },
  { Origin: "http://127.0.0.1.evil.example:3000" },
  { Origin: "http://127.0.0.1:3001" },
  { Origin: "https://127.0.0.1:3000" },
  { Origin: "null" },
  { Origin: origin, "Sec-Fetch-Site": "cross-site" },
  { Origin: origin, "Sec-Fetch-Site": "same-site" },
];

const send = (method: string, path: string, init: RequestInit = {}) =>
  client.send(new Request(new URL(path, origin), { method, ...init }));

describe.each(targets)("$name", ({ path }) => {
  const answers: [string, Response][] = [];

  test("answers PUT, PATCH and DELETE with 405 and says which methods it takes", async () => {
    for (const method of ["PUT", "PATCH", "DELETE"]) {
      const answer = await send(method, path(), { body: "a=b", headers: { Origin: origin } });
      answers.push([method, answer]);
      expect(answer.status, method).toBe(405);
    }
    for (const [method, answer] of answers) expect(answer.headers.get("Allow"), method).toBe("GET, HEAD, POST");
  });

  test("takes forms only: JSON, text, XML and a body of no type are 415", async () => {
    const body = new TextEncoder().encode('{"a":"b"}');
    for (const type of ["application/json", "text/plain", "text/xml", ""]) {
      const answer = await send("POST", path(), { body, headers: { Origin: origin, "Content-Type": type } });
      answers.push([type, answer]);
      expect(answer.status, type).toBe(415);
    }
  });

  test("refuses every form that is not from this site, and changes nothing", async () => {
    const calls = await app.proxy.during(async () => {
      for (const headers of foreign) {
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
      send("POST", path(), { body, headers: { Origin: origin, "Content-Type": `multipart/form-data${boundary}` } });
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
    for (const [what, answer] of answers) expect(answer.headers.get("Cache-Control") ?? "", what).toMatch(keptByNobody);
  });
});

test("after all of that the client is signed in and has one shipment", async () => {
  // The sign-outs with damaged forms were sign-outs all the same.
  if (!client.cookies.has("session")) await client.logIn(email);
  const page = await client.open("/portal");
  expect(page.all("main section li")).toHaveLength(1);
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
    for (const path of ["/login", "/resources/theme"]) {
      const body = new URLSearchParams({ email, password });
      const answer = await site.browser().send(new Request(new URL(path, origin), { method: "POST", body, headers }));
      expect(answer.status, path).toBe(303);
    }
  });
});

describe("a person who sends one of these sees a page of the site", () => {
  test("that says the form came from somewhere else", async () => {
    const page = await read(await client.post("/login", {}, { Origin: "https://evil.example" }));
    expect(page.status).toBe(403);
    expect(page.h1).toBe("This form came from somewhere else");
    expect(page.all("main a").map((link) => link.getAttribute("href"))).toEqual(["/"]);
  });

  test("that says a form arrived damaged", async () => {
    const headers = { Origin: origin, "Content-Type": "multipart/form-data; boundary=x" };
    for (const path of ["/login", "/signup", shipment]) {
      const page = await read(await send("POST", path, { body: "--x\r\ncut o", headers }));
      expect(page.status, path).toBe(400);
      expect(page.text, path).toContain("The form arrived damaged.");
    }
  });
});

describe("a form has a size:", () => {
  const text = (size: number) => ({ email, password: "p", more: "m".repeat(size) });

  test.each(["/login", "/signup", "/auth/confirm", "/portal/new", "/resources/theme"])(
    "%s takes up to 64 KiB, more is 413",
    async (path) => {
      const frame = new URLSearchParams(text(0)).toString().length;
      const fits = await client.post(path, text(64 * 1024 - frame));
      expect([303, 400]).toContain(fits.status);
      const over = await client.post(path, text(64 * 1024 - frame + 1));
      expect(over.status).toBe(413);
      expect(over.headers.get("Cache-Control") ?? "").toMatch(keptByNobody);
    },
  );

  test.each(["/login", "/signup", "/auth/confirm", "/portal/new", "/resources/theme"])(
    "%s answers a file of 11 MiB with 413",
    async (path) => {
      const form = new FormData();
      form.append("email", pdf("large.pdf", 11 * 1024 * 1024));
      expect((await client.post(path, form)).status).toBe(413);
    },
  );

  test("a person who sent too much reads what to do", async () => {
    const page = await read(await client.post("/signup", text(70_000)));
    expect(page.status).toBe(413);
    expect(page.h1).toBe("That is too much at once");
  });

  test("a person who sent too much can go on over the same connection", async () => {
    const form = new FormData();
    form.append("file", pdf("large.pdf", 11 * 1024 * 1024));
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
});

test.each(["/resources/theme", "/resources/forgot-password", "/portal/sign-out"])(
  "opening %s changes nothing and leads to a page",
  async (path) => {
    const browser = site.browser();
    await browser.logIn(email);
    const answer = await browser.get(path);
    expect(answer.status).toBe(303);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect((await browser.follow(answer)).status).toBe(200);
    expect((await browser.get("/portal")).status).toBe(200);
  },
);

test("every answer that sets a cookie is kept by nobody", async () => {
  const browser = site.browser();
  const answers = [
    await browser.post("/resources/theme", { theme: "light", to: "/" }),
    await browser.post("/resources/forgot-password", {}),
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
    expect(answer.headers.get("Cache-Control") ?? "", answer.headers.getSetCookie().join()).toMatch(keptByNobody);
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
