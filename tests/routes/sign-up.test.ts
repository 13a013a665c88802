import process from "node:process";
import { beforeAll, describe, expect, test } from "vitest";
import { listClientIds } from "../../app/models/client-id.server.ts";
import { clientIdInvalid } from "../../app/models/client-id.ts";
import { readEmailsTo } from "../support/outbox.ts";
import { issueClientIds } from "../support/service-role.ts";
import { getTestApp, noStorePattern, parsePage, password, type TestBrowser } from "../support/test-app.ts";

let app: Awaited<ReturnType<typeof getTestApp>>;
let browser: TestBrowser;
let unusedClientIds: string[];
beforeAll(async () => {
  app = await getTestApp();
  browser = app.browser();
  unusedClientIds = await issueClientIds(app.company, 60);
});

const dataDir = process.env.DATA_DIR ?? "";
const newClientId = () => unusedClientIds.pop() ?? "";
const countEmails = async (email: string) => (await readEmailsTo(dataDir, email)).length;

/** What a person types who does everything right, with a client ID nobody issued. */
const validFields = {
  clientId: "7K3Q-X9MD-2HTV-W5BC",
  fullName: "Achieng Otieno",
  email: "achieng@client.example",
  password: "three secret words",
};
type SignUpInput = Partial<Record<keyof typeof validFields, string>>;

/** Sends the sign-up form and reads the page it answers. */
async function submitRejected(fields: SignUpInput) {
  return parsePage(await browser.submit(await browser.open("/signup"), "Create Account", fields));
}

const clientIdRequiredText = "A valid Client ID provided by the company is required.";
const clientIdInvalidText = "This Client ID is not known or has been used. Ask the company for a new one.";

describe("a sign-up with something missing or too long", () => {
  test.each<{ what: string; change: SignUpInput; field: keyof typeof validFields; words: string }>([
    { what: "no client ID", change: { clientId: "" }, field: "clientId", words: clientIdRequiredText },
    { what: "a blank client ID", change: { clientId: "   " }, field: "clientId", words: clientIdRequiredText },
    {
      what: "a client ID of 65 characters",
      change: { clientId: "7".repeat(65) },
      field: "clientId",
      words: "Use at most 64 characters for the Client ID.",
    },
    { what: "no name", change: { fullName: "" }, field: "fullName", words: "Enter your full name." },
    {
      what: "a name of 101 characters",
      change: { fullName: "n".repeat(101) },
      field: "fullName",
      words: "Use at most 100 characters for your name.",
    },
    { what: "no e-mail address", change: { email: "" }, field: "email", words: "Enter your e-mail address." },
    {
      what: "something that is no e-mail address",
      change: { email: "achieng at client" },
      field: "email",
      words: "Enter an e-mail address in the form name@example.com.",
    },
    {
      what: "an e-mail address of 255 characters",
      change: { email: `${"a".repeat(240)}@client.example` },
      field: "email",
      words: "Use at most 254 characters for the e-mail address.",
    },
    { what: "no password", change: { password: "" }, field: "password", words: "Choose a password." },
    {
      what: "a password of 5 characters",
      change: { password: "5 abc" },
      field: "password",
      words: "Choose a password of at least 6 characters.",
    },
    {
      what: "a password of 73 bytes",
      change: { password: "p".repeat(73) },
      field: "password",
      words: "Choose a shorter password: at most 72 characters.",
    },
    {
      what: "a password of 25 letters with 75 bytes",
      change: { password: "ア".repeat(25) },
      field: "password",
      words: "Choose a shorter password: at most 72 characters.",
    },
  ])("is refused for $what, beside the field and above, with the rest kept", async ({ change, field, words }) => {
    const sent = { ...validFields, ...change };
    const calls = await app.proxy.during(async () => {
      const page = await submitRejected(sent);
      expect(page.status).toBe(400);
      expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
      expect(page.title).toMatch(/^Error: Sign up/);
      expect(page.toasts).toEqual([{ title: "Sign up Failed", description: words, variant: "destructive" }]);
      expect(page.problems.map(({ text }) => text)).toEqual([words]);
      expect(page.all("main input[aria-invalid]").map((input) => [input.getAttribute("name"), input.id])).toEqual([
        [field, page.problems[0]?.id],
      ]);
      expect(page.saidOf(field)).toContain(words);
      for (const name of ["clientId", "fullName", "email"] as const) expect(page.value(name)).toBe(sent[name]);
      expect(page.value("password")).toBe("");
      if (sent.password) expect(page.html).not.toContain(sent.password);
    });
    expect(calls).toEqual([]);
  });

  test("says all of it at once, in the order of the form, when everything is missing", async () => {
    const page = await submitRejected({});
    expect(page.toasts).toEqual([
      { title: "Sign up Failed", description: clientIdRequiredText, variant: "destructive" },
    ]);
    expect(page.problems.map(({ text }) => text)).toEqual([
      clientIdRequiredText,
      "Enter your full name.",
      "Enter your e-mail address.",
      "Choose a password.",
    ]);
    for (const { id } of page.problems) expect(page.has(id), id).toBe(true);
  });

  test("is refused when the fields are not sent at all, sent twice, or sent as files", async () => {
    const none = await parsePage(await browser.post("/signup", new URLSearchParams()));
    expect(none.status).toBe(400);
    expect(none.toasts[0]).toMatchObject({ title: "Sign up Failed", variant: "destructive" });

    const twice = new URLSearchParams([
      ...Object.entries(validFields),
      ["clientId", "another"],
      ["email", "x@y.example"],
    ]);
    const files = new FormData();
    files.append("fullName", new File(["name"], "name.txt"));
    for (const [body, words] of [
      [twice, "came twice"],
      [files, "takes no file"],
    ] as const) {
      const page = await parsePage(await browser.post("/signup", body));
      expect(page.status).toBe(400);
      expect(page.text).toContain(words);
    }
  });
});

describe("the client ID", () => {
  test("gets the same answer whether it is unknown or used, and makes no account", async () => {
    const used = newClientId();
    await browser.post("/signup", { ...validFields, clientId: used, email: "first@client.example" });
    const pages = [];
    for (const clientId of [validFields.clientId, used]) {
      const page = await submitRejected({ ...validFields, clientId, email: "second@client.example" });
      expect(page.status).toBe(400);
      expect(page.title).toMatch(/^Error: /);
      expect(page.toasts).toEqual([
        { title: "Sign up Failed", description: clientIdInvalidText, variant: "destructive" },
      ]);
      expect(page.value("fullName")).toBe(validFields.fullName);
      expect(page.html).not.toContain(validFields.password);
      pages.push(page.text);
    }
    expect(pages[0]).toBe(pages[1]);
    expect(await countEmails("first@client.example")).toBe(1);
    expect(await countEmails("second@client.example")).toBe(0);
  });

  test("gets the same answer for an address that has an account", async () => {
    const page = await submitRejected({ ...validFields, email: "first@client.example" });
    expect(page.status).toBe(400);
    expect(page.toasts[0]?.description).toBe(clientIdInvalidText);
  });

  test("is taken in lower case, with blanks for dashes and the letter O for a zero", async () => {
    const clientId = unusedClientIds.find((one) => one.includes("0")) ?? "";
    expect(clientId).not.toBe("");
    unusedClientIds = unusedClientIds.filter((one) => one !== clientId);
    const sloppy = ` ${clientId.toLowerCase().replaceAll("-", " ").replaceAll("0", "o")} `;
    const answer = await browser.post("/signup", { ...validFields, clientId: sloppy, email: "sloppy@client.example" });
    expect(answer.status).toBe(303);
    expect(await countEmails("sloppy@client.example")).toBe(1);
  });

  test("opens one account when fifty people use it at once", async () => {
    const clientId = newClientId();
    const emails = Array.from({ length: 50 }, (_, index) => `rush-${index}@client.example`);
    const answers = await Promise.all(
      emails.map((email) => app.browser().post("/signup", { ...validFields, clientId, email })),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 303)).toHaveLength(1);
    expect(statuses.filter((status) => status === 400)).toHaveLength(49);
    const mailed = await Promise.all(emails.map(countEmails));
    expect(mailed).toEqual(statuses.map((status) => (status === 303 ? 1 : 0)));
    const [winner = ""] = emails.filter((_, index) => mailed[index] === 1);
    expect((await app.browser().confirmEmail(winner, validFields.password)).status).toBe(303);
    const losers = emails.filter((email) => email !== winner).slice(0, 5);
    for (const email of [winner, ...losers]) {
      const answer = await app.browser().post("/login", { email, password: validFields.password });
      expect(answer.status).toBe(email === winner ? 303 : 400);
    }
  });
});

test("a client ID that another sign-up spends at the same moment is refused in its words, when auth just fails", async () => {
  const [clientId = ""] = await issueClientIds(app.company, 1);
  app.proxy.fail(500, /auth\/v1\/signup/);
  const send = () => app.browser().post("/signup", { ...validFields, clientId, email: "late@client.example" });
  expect((await send()).status).toBe(503);
  app.proxy.butFirst(() => app.company.rpc("redeem_client_id", { client_id: clientId, email: "first@client.example" }));
  const page = await parsePage(await send());
  app.proxy.fail("none");
  expect(page.status).toBe(400);
  expect(page.toasts.at(-1)?.description).toBe(clientIdInvalid);
});

describe("a sign-up that is right", () => {
  test("leads to the login, which says once to look into the mailbox", async () => {
    const person = app.browser();
    const email = "right@client.example";
    const page = await person.open("/signup");
    const answer = await person.submit(page, "Create Account", { ...validFields, clientId: newClientId(), email });
    expect(answer.status).toBe(303);
    expect(answer.headers.get("Location")).toBe("/login");
    expect(answer.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    expect(person.cookies.has("session")).toBe(false);
    const login = await person.follow(answer);
    expect(login.toasts).toEqual([
      {
        title: "Account Created!",
        description: "Please check your email to verify your account. You'll be prompted to set up 2FA on first login.",
        variant: "default",
      },
    ]);
    expect(login.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    expect((await person.open("/login")).toasts).toEqual([]);
    expect(await countEmails(email)).toBe(1);
  });

  test.each([
    ["6 characters", "6 char"],
    ["72 bytes", "p".repeat(72)],
    ["24 letters of three bytes", "ア".repeat(24)],
  ])("takes a password of %s, with which the person then logs in", async (what, chosen) => {
    const person = app.browser();
    const email = `${what.replaceAll(" ", "-")}@client.example`;
    await person.post("/signup", { ...validFields, clientId: newClientId(), email, password: chosen });
    await person.confirmEmail(email, chosen);
    const answer = await person.post("/login", { email, password: chosen });
    expect(answer.headers.get("Location")).toBe("/portal");
  });

  test("takes a name of 100 characters and shows it as text", async () => {
    const person = app.browser();
    const fullName = `<b>"Nyambura" & 'sons'</b> ${"é".repeat(73)}`;
    expect(fullName).toHaveLength(100);
    const email = "long-name@client.example";
    await person.post("/signup", { ...validFields, clientId: newClientId(), fullName, email, password });
    await person.confirmEmail(email);
    await person.logIn(email);
    expect((await person.open("/portal")).text).toContain(`Welcome, ${fullName}.`);
  });
});

describe("an e-mail address that has an account", () => {
  const answerTo = async (email: string, clientId: string) => {
    const person = app.browser();
    const answer = await person.post("/signup", { ...validFields, clientId, email, password: "another password" });
    const page = await person.follow(answer);
    return { status: answer.status, to: answer.headers.get("Location"), toasts: page.toasts, text: page.text };
  };

  test("gets the answer of a new one, its account stays, and the client ID is spent as by a new one", async () => {
    const known = await app.browser().signUpAndLogIn("Known");
    const seen = [];
    for (const email of [known, "unheard-of@client.example"]) {
      const clientId = newClientId();
      const answers: unknown[] = [];
      const calls = await app.proxy.during(async () => {
        for (const address of [email, email.toUpperCase(), "somebody-else@client.example", email]) {
          answers.push(await answerTo(address, clientId).catch(() => "refused"));
        }
      });
      const issued = (await listClientIds(app.company)).find((one) => one.client_id === clientId);
      seen.push({ answers, calls, spent: issued?.spent });
    }
    expect(seen[0]).toEqual(seen[1]);
    expect(seen[0]).toMatchObject({
      answers: [{ status: 303 }, { status: 303 }, "refused", { status: 303 }],
      spent: true,
    });
    expect(await countEmails(known)).toBe(0);
    expect(await countEmails("somebody-else@client.example")).toBe(0);
    await app.browser().logIn(known);
    expect((await app.browser().post("/login", { email: known, password: "another password" })).status).toBe(400);
  });

  test("gets it in capitals too, and while it still waits for its confirmation", async () => {
    const email = "waiting@client.example";
    const clientId = newClientId();
    const first = await answerTo(email, clientId);
    expect(await answerTo(email, clientId)).toEqual(first);
    expect(await answerTo(email.toUpperCase(), newClientId())).toEqual(first);
    expect(await countEmails(email)).toBe(1);
  });
});

describe("the page behind the link of the mail", () => {
  const wrongWords = "The e-mail address or the password is not right.";

  test("confirms nothing for who has the mailbox and not the password, whoever signed up", async () => {
    const victim = "victim@client.example";
    await app
      .browser()
      .post("/signup", { ...validFields, clientId: newClientId(), email: victim, password: "the thief's" });
    const owner = app.browser();
    const page = await parsePage(await owner.confirmEmail(victim, "the owner's own"));
    expect(page.status).toBe(400);
    expect(page.title).toMatch(/^Error: /);
    expect(page.toasts).toEqual([{ title: "Sign in Failed", description: wrongWords, variant: "destructive" }]);
    expect(page.value("email")).toBe(victim);
    expect(page.html).not.toContain("the owner's own");
    const thief = await parsePage(await app.browser().post("/login", { email: victim, password: "the thief's" }));
    expect(thief.toasts[0]?.description).toMatch(/^Your e-mail address is not confirmed yet\./);
    // Somebody else's sign-up, with its right password, is not confirmed by this link either.
    const other = "other-sign-up@client.example";
    await app.browser().post("/signup", { ...validFields, clientId: newClientId(), email: other, password });
    const crossed = await parsePage(await owner.submit(page, "Confirm this address", { email: other, password }));
    expect(crossed.toasts[0]?.description).toBe("This link has been used or is too old.");
    expect((await app.browser().post("/login", { email: other, password })).status).toBe(400);
    expect((await owner.submit(page, "Confirm this address", { email: victim, password: "the thief's" })).status).toBe(
      303,
    );
  });

  test("tells nobody who has an account, and counts wrong passwords as the login does", async () => {
    const waiting = "waiting-for-link@client.example";
    await app.browser().post("/signup", { ...validFields, clientId: newClientId(), email: waiting, password });
    const confirmed = await app.browser().signUpAndLogIn("Confirmed");
    const pages = [];
    for (const email of [waiting, confirmed, "nobody-at-all@client.example"]) {
      const guesser = app.browser();
      const form = await guesser.open("/auth/confirm?token_hash=0123456789abcdef");
      const guess = () => guesser.submit(form, "Confirm this address", { email, password: "a wrong guess" });
      const answers = [];
      for (let tries = 0; tries < 6; tries += 1) answers.push(await parsePage(await guess()));
      pages.push(answers.map(({ status, text, toasts }) => ({ status, text, said: toasts[0]?.description })));
      // The same count as at the login.
      expect((await guesser.post("/login", { email, password })).status).toBe(429);
    }
    expect(pages[0]?.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400, 429]);
    expect(pages[0]?.[0]?.said).toBe(wrongWords);
    expect(pages[1]).toEqual(pages[0]);
    expect(pages[2]).toEqual(pages[0]);
  });
});

test("the form shows what the specification asks for and keeps nothing of an earlier visitor", async () => {
  const page = await app.browser().open("/signup");
  const labels = page.all("main label").map((label) => label.text);
  expect(labels).toEqual(["Client ID", "Full Name", "Email", "Password"]);
  expect(page.saidOf("clientId")).toEqual(["Provided by the company"]);
  expect(page.saidOf("password")).toEqual(["At least 6 characters"]);
  expect(page.all("main a").map((link) => link.getAttribute("href"))).toEqual([
    "/login",
    "tel:+254700000001",
    "/additional-info#identity-check",
  ]);
  expect(page.all("main input").map((input) => input.getAttribute("aria-required"))).toEqual(Array(4).fill("true"));
  expect(page.all("main input").map((input) => input.getAttribute("value") ?? "")).toEqual(["", "", "", ""]);
  expect(page.problems).toEqual([]);
  expect(page.toasts).toEqual([]);
});
