import { beforeAll, describe, expect, test } from "vitest";
import { getTestApp, logInToBackend, noStorePattern, parsePage, type TestBrowser } from "../support/test-app.ts";

let app: Awaited<ReturnType<typeof getTestApp>>;
let client: TestBrowser;
let owner: Awaited<ReturnType<typeof logInToBackend>>;
beforeAll(async () => {
  app = await getTestApp();
  client = app.browser();
  owner = await logInToBackend(await client.signUpAndLogIn("Creator"));
});

/** The client's own shipments with their documents, as the backend has them. */
async function listShipments() {
  const { data, error } = await owner.backend.from("shipments").select("name, stage, status, documents (name)");
  if (error) throw error;
  return data;
}

const createShipment = async (name: string) =>
  client.submit(await client.open("/portal/new"), "Create Shipment", { name });

test("a name opens a shipment at stage 1 with four documents and shows it", async () => {
  const answer = await createShipment("Tea, Kericho to Jeddah");
  expect(answer.status).toBe(303);
  expect(answer.headers.get("Location")).toMatch(/^\/portal\/[0-9a-f-]{36}$/);
  expect(answer.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
  const page = await client.follow(answer);
  expect(page.h1).toBe("Tea, Kericho to Jeddah");
  expect(page.toasts).toEqual([
    { title: "Shipment created", description: "Upload its documents next.", variant: "default" },
  ]);
  expect(await listShipments()).toEqual([
    {
      name: "Tea, Kericho to Jeddah",
      stage: 1,
      status: "Client Onboarding",
      documents: expect.arrayContaining([
        { name: "Commercial Invoice" },
        { name: "Packing List" },
        { name: "Insurance Certificate" },
        { name: "Bill of Lading" },
      ]),
    },
  ]);
});

test.each(["", "   ", "\t\n", "\u00a0\u3000"])("an empty name, %j, changes nothing and says nothing", async (name) => {
  const before = await listShipments();
  const calls = await app.proxy.during(async () => {
    const answer = await createShipment(name);
    expect(answer.status).toBe(303);
    expect(answer.headers.get("Location")).toBe("/portal");
    expect((await client.follow(answer)).toasts).toEqual([]);
  });
  expect(calls.filter((call) => !call.startsWith("GET "))).toEqual([]);
  expect(await listShipments()).toEqual(before);
});

test("a form without the field for the name changes nothing either", async () => {
  const { fields } = (await client.open("/portal/new")).form("Create Shipment");
  const answer = await client.post("/portal/new", { idempotencyKey: String(fields.idempotencyKey) });
  expect(answer.headers.get("Location")).toBe("/portal");
});

test("a name has up to 120 characters, and blanks around it do not count", async () => {
  const name = `${"n".repeat(119)}é`;
  const page = await client.follow(await createShipment(`  ${name}  `));
  expect(page.h1).toBe(name);
});

test("a name of 121 characters is refused, beside the field and above, and kept", async () => {
  const name = "n".repeat(121);
  const before = await listShipments();
  const page = await parsePage(await createShipment(name));
  expect(page.status).toBe(400);
  expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
  expect(page.title).toMatch(/^Error: Create Shipment/);
  const words = "Use at most 120 characters for the name.";
  expect(page.toasts).toEqual([{ title: "Failed to create shipment", description: words, variant: "destructive" }]);
  expect(page.problems.map(({ text }) => text)).toEqual([words]);
  expect(page.all(`[id=${page.problems[0]?.id}]`).map((field) => field.getAttribute("name"))).toEqual(["name"]);
  expect(page.saidOf("name")).toContain(words);
  expect(page.value("name")).toBe(name);
  expect(await listShipments()).toEqual(before);

  const answer = await client.submit(page, "Create Shipment", { name: "Shorter" });
  expect((await client.follow(answer)).h1).toBe("Shorter");
});

test("HTML in a name is shown as text, in the list, on its page and in the title", async () => {
  const name = `<img src=x onerror="alert(1)"> & </title><script>alert('2')</script>`;
  const page = await client.follow(await createShipment(name));
  expect(page.h1).toBe(name);
  expect(page.title.startsWith(name)).toBe(true);
  expect(page.text.split(name)).toHaveLength(3);
  for (const shown of [page, await client.open("/portal")]) {
    expect(shown.all("img")).toEqual([]);
    expect(shown.html).not.toContain("<script>alert");
    expect(shown.html).not.toContain("<img");
  }
});

test.each([
  ["a zero byte", "Tea\u0000Coffee"],
  ["half of a pair of surrogates", "Tea\ud83d"],
])("a name with %s is a shipment or refused, but no failure of ours", async (_what, name) => {
  const answer = await createShipment(name);
  expect(answer.status).toBeLessThan(500);
});

describe("the same form", () => {
  test("posted ten times at once makes one shipment with four documents, and all lead to it", async () => {
    const before = await listShipments();
    const page = await client.open("/portal/new");
    const press = () => client.submit(page, "Create Shipment", { name: "Pressed ten times" });
    const answers = await Promise.all(Array.from({ length: 10 }, press));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303]));
    expect(new Set(answers.map(({ headers }) => headers.get("Location"))).size).toBe(1);
    const after = await listShipments();
    expect(after).toHaveLength(before.length + 1);
    expect(after.filter(({ name }) => name === "Pressed ten times").map(({ documents }) => documents.length)).toEqual([
      4,
    ]);
  });

  test("posted by another client makes another shipment, theirs", async () => {
    const page = await client.open("/portal/new");
    const mine = await client.submit(page, "Create Shipment", { name: "Mine" });
    const other = app.browser();
    await other.signUpAndLogIn("Copier");
    const theirs = await other.submit(page, "Create Shipment", { name: "Theirs" });
    expect(theirs.status).toBe(303);
    expect(theirs.headers.get("Location")).not.toBe(mine.headers.get("Location"));
    expect((await other.follow(theirs)).h1).toBe("Theirs");
    expect((await client.follow(mine)).h1).toBe("Mine");
  });

  test("opened twice is two forms", async () => {
    const [first, second] = [await client.open("/portal/new"), await client.open("/portal/new")];
    expect(first.value("idempotencyKey")).not.toBe(second.value("idempotencyKey"));
  });
});

describe("a form without its id", () => {
  test.each<Record<string, string>>([
    {},
    { idempotencyKey: "" },
    { idempotencyKey: "1" },
    { idempotencyKey: "' or 1=1 --" },
  ])("%j is refused with words, and the page it answers works", async (fields) => {
    const before = await listShipments();
    const page = await parsePage(await client.post("/portal/new", { name: "No id", ...fields }));
    expect(page.status).toBe(400);
    expect(page.title).toMatch(/^Error: /);
    const words = "Open this form again and send it once more.";
    expect(page.toasts).toEqual([{ title: "Failed to create shipment", description: words, variant: "destructive" }]);
    expect(page.value("name")).toBe("No id");
    for (const { id } of page.problems) expect(page.has(id), `the link to #${id}`).toBe(true);
    expect(await listShipments()).toEqual(before);
    expect((await client.follow(await client.submit(page, "Create Shipment"))).h1).toBe("No id");
  });
});

test("a client chooses name and AWB/BL, and not stage, status, owner or id", async () => {
  const { fields } = (await client.open("/portal/new")).form("Create Shipment");
  const stranger = await logInToBackend(await app.browser().signUpAndLogIn("Stranger"));
  const answer = await client.post("/portal/new", {
    idempotencyKey: String(fields.idempotencyKey),
    name: "Ambitious",
    stage: "10",
    status: "Shipment Closed",
    user_id: stranger.id,
    awb: "176-1",
    id: "0b51e3a8-0000-4000-8000-000000000000",
  });
  const page = await client.follow(answer);
  expect(page.text).toContain("Stage 1/10");
  expect(page.text).toContain("AWB/BL 176-1");
  expect(answer.headers.get("Location")).not.toContain("0b51e3a8");
  expect((await stranger.backend.from("shipments").select("id")).data).toEqual([]);
});
