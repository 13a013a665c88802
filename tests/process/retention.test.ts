import { afterAll, beforeAll, expect, test } from "vitest";
import { newClient, newShipment } from "../support/client.ts";
import { companyOf } from "../support/company.ts";
import { aPlace } from "../support/place.ts";
import { read } from "../support/routes.ts";
import type { SiteProcess } from "../support/site-process.ts";

let place: Awaited<ReturnType<typeof aPlace>>;
let site: SiteProcess;
beforeAll(async () => {
  place = await aPlace();
  site = place.start();
  await site.answers();
});
afterAll(() => place.leave());

test("staff see what is past its time, delete it under the running site, and keep what they say", async () => {
  const email = "past@client.example";
  const browser = await newClient(place, email);
  const past = await newShipment(browser, "Old tea", 2000);
  const disputed = await newShipment(browser, "Disputed tea", 2000);
  const idOf = (address: string) => address.split("/").at(-1) ?? "";
  for (const address of [past, disputed]) {
    const aged = await companyOf(place.dataDir)
      .from("shipments")
      .update({ retain_until: "2020-01-31" })
      .eq("id", idOf(address));
    expect(aged.error).toBeNull();
  }
  expect((await place.staff(["shipment", "keep", idOf(disputed), "2099-12-31"])).code).toBe(0);
  expect((await place.staff(["shipment", "keep", idOf(disputed), "2099-02-30"])).code).toBe(1);

  const looked = await place.staff(["retention"]);
  expect(looked.printed.split("\n")).toEqual([
    `shipment ${idOf(past)}, kept until 2020-01-31: Old tea`,
    expect.stringMatching(new RegExp(`^file [0-9a-f-]{36}/${idOf(past)}/packing-list-[0-9a-f]{12}-list\\.pdf$`)),
    "--delete deletes it.",
    "",
  ]);
  expect(looked.told).toBe("");
  expect((await browser.get(past)).status).toBe(200);

  const done = await place.staff(["retention", "--delete"]);
  expect(done.code).toBe(0);
  const acts = done.told
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  expect(acts).toEqual([
    expect.objectContaining({ event: "staff act", act: "retention", shipment: idOf(past) }),
    expect.objectContaining({ event: "staff act", act: "retention", after: { files: 1 } }),
  ]);
  const logged = JSON.parse((await place.staff(["log", "--json"])).printed);
  expect(logged.slice(0, 2).reverse()).toEqual([
    expect.objectContaining({ act: "retention", shipment: idOf(past) }),
    expect.objectContaining({ act: "retention", after: { files: 1 } }),
  ]);
  expect((await browser.get(past)).status).toBe(404);
  expect((await read(await browser.get(disputed))).text).toContain("Packing List Uploaded, we check it next");
  expect((await place.staff(["retention", "--delete"])).printed).toBe("Nothing is past its time.\n");

  const kept = await place.staff(["account", "erase", email]);
  expect(kept.code).toBe(1);
  expect(kept.told).toBe(
    `${email}: This account has shipments that have to be kept, the last until 2099-12-31: nothing was deleted.\n`,
  );
  expect((await browser.get("/portal")).status).toBe(200);
});

test("staff verify a document, name the bill, move a shipment on and take a lost factor off, by the beginning of an id", async () => {
  const email = "moved.on@client.example";
  const browser = await newClient(place, email);
  const address = await newShipment(browser, "Tiles", 2000);
  const beginning = address.split("/").at(-1)?.slice(0, 13) ?? "";
  const acts = [
    ["document", "verify", beginning, "Packing List"],
    ["shipment", "set-awb", beginning, "MSCU 7788990"],
    ["shipment", "advance", beginning, "--location", "Kilindini"],
    ["account", "reset-2fa", email],
  ];
  const done = await Promise.all(acts.map((words) => place.staff(words)));
  expect(done.map(({ code }) => code)).toEqual([0, 0, 0, 1]);
  expect(done.at(-1)?.told).toContain("has no second factor.");
  const { text } = await read(await browser.get(address));
  for (const shown of ["Verified", "MSCU 7788990", "Stage 2/10", "Kilindini"]) expect(text).toContain(shown);
});
