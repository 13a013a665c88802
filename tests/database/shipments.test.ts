import { afterAll, beforeAll, expect, test } from "vitest";
import { memoryBackend } from "../support/memory-backend.ts";

let world: Awaited<ReturnType<typeof memoryBackend>>;
beforeAll(async () => {
  world = await memoryBackend();
});
afterAll(() => world.close());

test("a new shipment has its four documents and stands at stage 1", async () => {
  const client = await world.newClient("owner@client.example");
  const made = await client.handle
    .from("shipments")
    .insert({ name: "Tea", user_id: client.id })
    .select("id, stage, status")
    .single();
  expect(made.data).toMatchObject({ stage: 1, status: "Client Onboarding" });
  const documents = await client.handle.from("documents").select("name, uploaded, verified");
  expect(documents.data).toHaveLength(4);
});
