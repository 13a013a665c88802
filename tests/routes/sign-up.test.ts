import { describe, expect, test } from "vitest";
import { listClientIds } from "../../app/models/client-id.server.ts";
import { countEmailsTo, newEmailAddress } from "../support/route-fixtures.ts";
import { issueClientIds } from "../support/service-role.ts";
import { getTestApp, parsePage } from "../support/test-app.ts";

const app = await getTestApp();
const browser = app.browser();
const unusedClientIds = await issueClientIds(app.company, 20);

const newClientId = () => unusedClientIds.pop() ?? "";
const newAddress = (name: string) => newEmailAddress(name, "client.example");

/** A complete sign-up form with a Client ID that the company has not issued. */
const validFields = {
  clientId: "7K3Q-X9MD-2HTV-W5BC",
  fullName: "Achieng Otieno",
  email: "achieng@client.example",
  password: "three secret words",
};
type SignUpFields = Partial<typeof validFields>;

const submitSignUp = async (fields: SignUpFields) =>
  parsePage(await browser.submit(await browser.open("/signup"), "Create Account", fields));
const postSignUp = (fields: SignUpFields, person = app.browser()) =>
  person.post("/signup", { ...validFields, ...fields });

const clientIdRequired = "A valid Client ID provided by the company is required.";
const clientIdInvalid = "This Client ID is unknown or has already been used. Ask us for a new Client ID.";
const toRejectionToast = (description: string) => [
  { title: "Sign up Failed", description, variant: "destructive" as const },
];

test("The sign-up page has the fields of the specification, empty and required, with hints and links.", async () => {
  const page = await app.browser().open("/signup");
  expect(page.all("main label").map((label) => label.text)).toEqual(["Client ID", "Full Name", "Email", "Password"]);
  expect(page.getDescriptions("clientId")).toEqual(["Provided by the company"]);
  expect(page.getDescriptions("password")).toEqual(["At least 6 characters"]);
  expect(page.all("main a").map((link) => link.getAttribute("href"))).toEqual([
    ...["/login", "tel:+254700000001", "/additional-info#identity-check"],
  ]);
  const inputs = page
    .all("main input")
    .map((input) => [input.attributes["aria-required"], input.attributes.value ?? ""]);
  expect(inputs).toEqual(Array(4).fill(["true", ""]));
});

describe("Invalid sign-up", () => {
  test.each<[string, SignUpFields, keyof typeof validFields, string]>([
    ["no client ID", { clientId: "" }, "clientId", clientIdRequired],
    [
      "a password of 25 letters in 75 bytes",
      { password: "ア".repeat(25) },
      "password",
      "Choose a shorter password. A password can have at most 72 characters. Each accented letter, non-English letter or emoji counts as 2 or more characters.",
    ],
  ])(
    "A sign-up with %s marks the wrong field, shows the other typed texts again, and makes no backend call.",
    async (_what, change, field, error) => {
      const fields = { ...validFields, ...change };
      const calls = await app.proxy.during(async () => {
        const page = await submitSignUp(fields);
        expect(page.status).toBe(400);
        expect(page.title).toMatch(/^Error: Sign up/);
        expect(page.toasts).toEqual(toRejectionToast(error));
        expect(page.problems.map(({ text }) => text)).toEqual([error]);
        expect(page.all("main input[aria-invalid]").map((input) => [input.getAttribute("name"), input.id])).toEqual([
          [field, page.problems[0]?.id],
        ]);
        expect(page.getDescriptions(field)).toContain(error);
        for (const name of ["clientId", "fullName", "email"] as const) expect(page.value(name)).toBe(fields[name]);
        expect(page.value("password")).toBe("");
        if (fields.password) expect(page.html).not.toContain(fields.password);
      });
      expect(calls).toEqual([]);
    },
  );

  test("A sign-up with empty or missing fields shows all errors in the order of the form.", async () => {
    for (const page of [await submitSignUp({}), await parsePage(await browser.post("/signup", {}))]) {
      expect([page.status, page.toasts]).toEqual([400, toRejectionToast(clientIdRequired)]);
      expect(page.problems.map(({ text }) => text)).toEqual([
        ...[clientIdRequired, "Enter your full name.", "Enter your email.", "Choose a password."],
      ]);
      for (const { id } of page.problems) expect(page.has(id), id).toBe(true);
    }
  });
});

describe("Client ID of a sign-up", () => {
  test("A sign-up with an unknown or a used Client ID gets the same response, whether or not the address has an account.", async () => {
    const used = newClientId();
    const known = newAddress("First");
    const unknown = newAddress("Second");
    await postSignUp({ clientId: used, email: known });
    const texts = [];
    for (const [clientId, email] of [
      [validFields.clientId, unknown],
      [used, unknown],
      [validFields.clientId, known],
    ] as const) {
      const page = await submitSignUp({ ...validFields, clientId, email });
      expect([page.status, page.title.startsWith("Error: ")]).toEqual([400, true]);
      expect(page.toasts).toEqual(toRejectionToast(clientIdInvalid));
      expect([page.value("fullName"), page.value("email")]).toEqual([validFields.fullName, email]);
      expect(page.html).not.toContain(validFields.password);
      texts.push(page.text);
    }
    expect(new Set(texts).size).toBe(1);
    expect([await countEmailsTo(known), await countEmailsTo(unknown)]).toEqual([1, 0]);
  });
});

describe("Successful sign-up", () => {
  test("After a sign-up, a person is redirected to the login page without a session, and one toast says to check the emails.", async () => {
    const person = app.browser();
    const email = newAddress("Right");
    const fields = { ...validFields, clientId: newClientId(), email };
    const response = await person.submit(await person.open("/signup"), "Create Account", fields);
    expect([response.status, response.headers.get("Location")]).toEqual([303, "/login"]);
    expect(person.cookies.has("session")).toBe(false);
    const login = await person.follow(response);
    expect(login.toasts).toEqual([
      {
        title: "Account Created!",
        description: "Please check your email to verify your account. You'll be prompted to set up 2FA on first login.",
        variant: "default",
      },
    ]);
    expect((await person.open("/login")).toasts).toEqual([]);
    expect(await countEmailsTo(email)).toBe(1);
  });

  test("A person can sign up, confirm and log in with a password of 72 bytes that consists of three-byte letters.", async () => {
    const email = newAddress("Long Password");
    const chosen = "ア".repeat(24);
    await postSignUp({ clientId: newClientId(), email, password: chosen });
    await app.browser().confirmEmail(email, chosen);
    const login = await app.browser().post("/login", { email, password: chosen });
    expect(login.headers.get("Location")).toBe("/portal");
  });
});

describe("Sign-up for an address with an account", () => {
  /** Sends a sign-up. Returns everything that the visitor sees afterwards, or "rejected". */
  const describeSignUp = async (email: string, clientId: string) => {
    const person = app.browser();
    const response = await postSignUp({ clientId, email, password: "another password" }, person);
    if (response.status !== 303) return "rejected";
    const { toasts, text } = await person.follow(response);
    return { target: response.headers.get("Location"), toasts, text };
  };

  test("A sign-up for a known address gets the same response as for a new address, and also uses up the Client ID.", async () => {
    const known = await app.browser().signUpAndLogIn("Known");
    const bystander = newAddress("Bystander");
    const observations = [];
    for (const email of [known, newAddress("Unheard Of")]) {
      const clientId = newClientId();
      const responses: unknown[] = [];
      const calls = await app.proxy.during(async () => {
        for (const address of [email, email.toUpperCase(), bystander, email])
          responses.push(await describeSignUp(address, clientId));
      });
      const issued = (await listClientIds(app.company)).find((each) => each.client_id === clientId);
      observations.push({ responses, calls, isUsed: issued?.isUsed });
    }
    expect(observations[0]).toEqual(observations[1]);
    const accepted = { target: "/login" };
    expect(observations[0]).toMatchObject({ responses: [accepted, accepted, "rejected", accepted], isUsed: true });
    expect([await countEmailsTo(known), await countEmailsTo(bystander)]).toEqual([0, 0]);
    await app.browser().logIn(known);
    expect((await app.browser().post("/login", { email: known, password: "another password" })).status).toBe(400);
  });
});
