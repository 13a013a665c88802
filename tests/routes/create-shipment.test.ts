import { afterEach, expect, test } from "vitest";
import { describeCut } from "../support/labels.ts";
import { allDocuments, newClient } from "../support/route-fixtures.ts";
import { type FormValues, getTestApp, noStorePattern, type ParsedPage, parsePage } from "../support/test-app.ts";

const app = await getTestApp();
const { browser: client, id: owner } = await newClient(app, "Creator");

afterEach(() => void client.cookies.delete("flash"));

async function listShipments() {
  const { data, error } = await app.company
    .from("shipments")
    .select("name, stage, status, documents (name)")
    .eq("user_id", owner);
  if (error) throw error;
  return data;
}

const submitForm = async (fields: FormValues) =>
  client.submit(await client.open("/portal/new"), "Create Shipment", fields);
const createFailedToast = (description: string) => [
  { title: "Failed to create shipment", description, variant: "destructive" },
];

test("A new shipment is at stage 1 and has four documents, and its client is redirected to the shipment's page.", async () => {
  const response = await submitForm({ name: "Tea, Kericho to Jeddah" });
  expect(response.status).toBe(303);
  expect(response.headers.get("Location")).toMatch(/^\/portal\/[0-9a-f-]{36}$/);
  expect(response.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
  const page = await client.follow(response);
  expect(page.h1).toBe("Tea, Kericho to Jeddah");
  expect(page.text).toContain("AWB/BL N/A");
  expect(page.toasts).toEqual([
    { title: "Shipment created", description: "Next, upload the documents.", variant: "default" },
  ]);
  const documents = expect.arrayContaining(allDocuments.map((name) => ({ name })));
  expect(await listShipments()).toEqual([
    { name: "Tea, Kericho to Jeddah", stage: 1, status: "Client Onboarding", documents },
  ]);
});

test("A form for a new shipment without a name creates nothing and shows no message.", async () => {
  const before = await listShipments();
  const form = await client.open("/portal/new");
  const calls = await app.proxy.during(async () => {
    const { idempotencyKey } = form.form("Create Shipment").fields;
    const withoutField = await client.post("/portal/new", { idempotencyKey: String(idempotencyKey) });
    const blank = await client.submit(form, "Create Shipment", { name: " \t\u00a0\u3000" });
    for (const response of [withoutField, blank])
      expect([response.status, response.headers.get("Location")]).toEqual([303, "/portal"]);
    expect((await client.follow(blank)).toasts).toEqual([]);
  });
  expect(calls.filter((call) => !call.startsWith("GET "))).toEqual([]);
  expect(await listShipments()).toEqual(before);
});

test.each([
  ["name", { name: "n".repeat(121), awb: "176-1" }, `Use at most 120 characters for the name. ${describeCut(120)}`],
  [
    "awb",
    { name: "Solar panels", awb: "1".repeat(65) },
    `Use at most 64 characters for the AWB/BL. ${describeCut(64)}`,
  ],
])(
  "A text in the field %s that is too long causes an error at the field. The form shows the typed texts up to the maximum.",
  async (field, fields, message) => {
    const before = await listShipments();
    const page = await parsePage(await submitForm(fields));
    expect(page.status).toBe(400);
    expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    expect(page.title).toMatch(/^Error: Create Shipment/);
    expect(page.toasts).toEqual(createFailedToast(message));
    expect(page.problems.map(({ text }) => text)).toEqual([message]);
    expect(page.all(`[id=${page.problems[0]?.id}]`).map((input) => input.getAttribute("name"))).toEqual([field]);
    expect(page.getDescriptions(field)).toContain(message);
    expect([page.value("name"), page.value("awb")]).toEqual([fields.name.slice(0, 120), fields.awb.slice(0, 64)]);
    expect(await listShipments()).toEqual(before);

    const corrected = await client.submit(page, "Create Shipment", {
      name: `  ${"n".repeat(119)}é  `,
      awb: " 176-12345675 ",
    });
    const shipment = await client.follow(corrected);
    expect(shipment.h1).toBe(`${"n".repeat(119)}é`);
    expect(shipment.text).toContain("AWB/BL 176-12345675 ");
  },
);

test("HTML in a shipment's name is plain text in the list, on the page and in the title.", async () => {
  const name = `<img src=x onerror="alert(1)"> & </title><script>alert('2')</script>`;
  const page = await client.follow(await submitForm({ name }));
  expect(page.h1).toBe(name);
  expect(page.title.startsWith(name)).toBe(true);
  expect(page.text.split(name)).toHaveLength(3);
  for (const shown of [page, await client.open("/portal")]) {
    expect(shown.all("img")).toEqual([]);
    expect(shown.html).not.toContain("<script>alert");
    expect(shown.html).not.toContain("<img");
  }
});

test("An AWB/BL that was copied from another app is stored without invisible characters and with ASCII hyphens and digits.", async () => {
  const created = await submitForm({ name: "Solar", awb: "\u202a١٧٦\u201112345675\u202c" });
  expect((await client.follow(created)).text).toContain("AWB/BL 176-12345675 ");
});

test("A form that arrives three times in parallel creates one shipment, and every response redirects to this shipment.", async () => {
  const before = await listShipments();
  const page = await client.open("/portal/new");
  const submit = () => client.submit(page, "Create Shipment", { name: "Sent three times" });
  const responses = await Promise.all(Array.from({ length: 3 }, submit));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([303]));
  expect(new Set(responses.map(({ headers }) => headers.get("Location"))).size).toBe(1);
  const after = await listShipments();
  expect(after).toHaveLength(before.length + 1);
  expect(after.find(({ name }) => name === "Sent three times")?.documents).toHaveLength(4);
  expect(
    (await submitForm({ name: "Sent three times" })).headers.get("Location"),
    "the shipment of a newly opened form",
  ).not.toBe(responses[0]?.headers.get("Location"));
});

test("A form for a new shipment without its idempotency key is rejected, and the form in the response works.", async () => {
  const before = await listShipments();
  let page: ParsedPage | undefined;
  for (const fields of [{}, { idempotencyKey: "1" }, { idempotencyKey: "' or 1=1 --" }] as Record<string, string>[]) {
    page = await parsePage(await client.post("/portal/new", { name: "No key", ...fields }));
    expect([page.status, page.title.startsWith("Error: "), page.value("name")]).toEqual([400, true, "No key"]);
    const message = "We received only part of the form. Reload the page, then send the form again.";
    expect(page.toasts).toEqual(createFailedToast(message));
    for (const { id } of page.problems) expect(page.has(id), `the link to #${id}`).toBe(true);
  }
  expect(await listShipments()).toEqual(before);
  expect((await client.follow(await client.submit(page as ParsedPage, "Create Shipment"))).h1).toBe("No key");
});
