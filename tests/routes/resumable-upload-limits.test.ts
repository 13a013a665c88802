import { describe, expect, test, vi } from "vitest";
import { getUploadFolder } from "../../app/models/resumable-upload.server.ts";
import { startBackgroundJobs } from "../../app/server/web/background-jobs.ts";
import { createPatternedPdf, createUploadStream } from "../support/resumable-upload.ts";
import {
  chunkSize,
  completed,
  fileSize,
  MiB,
  received,
  rejected,
  setUpResumableUploads,
} from "../support/resumable-upload-suite.ts";
import { allDocuments } from "../support/route-fixtures.ts";
import { createPdf } from "../support/test-app.ts";

const { app, owner, invoice, readDocument, createUpload, listStored } = await setUpResumableUploads();
const { sql } = app;
const createFileUpload = (size = fileSize) => createUpload(createPatternedPdf("a.pdf", size));
const countChunks = async () => (await listStored()).chunks.length;
/** Checks that the storage contains only the file of the finished upload. */
const expectStoredOnce = async () =>
  expect(await listStored()).toEqual({ files: [(await readDocument()).storage_path], chunks: [] });

describe("Failures of the storage", () => {
  test("If the storage fails, no stored bytes are lost, and the upload continues afterwards.", async () => {
    const upload = await createFileUpload();
    const stream = createUploadStream(upload.content.slice(0, chunkSize));
    const sending = upload.stream(0, stream.body);
    await expect.poll(countChunks).toBe(1);
    app.proxy.fail("close", /^POST .*object\/upload-chunks/);
    stream.send(upload.content.slice(chunkSize));
    stream.end();
    const unavailable = rejected(503, expect.stringMatching("^Our system is not responding"));
    expect(await sending).toMatchObject(unavailable);
    app.proxy.fail("none");
    expect(await upload.ask()).toMatchObject(received(chunkSize));
    expect(await upload.send(chunkSize)).toMatchObject(received(fileSize));
    for (const calls of [/^GET .*object\/upload-chunks/, /^POST .*object\/documents/]) {
      app.proxy.fail("close", calls);
      expect(await upload.finish()).toMatchObject(unavailable);
    }
    expect(await readDocument()).toMatchObject({ uploaded: false });
    app.proxy.fail("none");
    expect(await upload.finish()).toMatchObject(completed);
  });

  test("A chunk that is sent again after a lost response is stored once.", async () => {
    const upload = await createFileUpload();
    app.proxy.fail("lost answer", /^POST .*object\/upload-chunks/);
    expect((await upload.send(0)).status).toBe(503);
    app.proxy.fail("none");
    expect(await upload.ask()).toMatchObject(received(chunkSize));
    expect(await upload.send(chunkSize)).toMatchObject(received(fileSize));
    expect(await countChunks()).toBe(5);
    expect(await upload.finish()).toMatchObject(completed);
  });
});

describe("Parallel requests of an upload", () => {
  test("If the last request of an upload is sent again, the file is stored once.", async () => {
    const upload = await createFileUpload();
    await upload.send(0);
    expect(await Promise.all([upload.finish(), upload.finish()])).toMatchObject([completed, completed]);
    for (const step of ["ask", "finish", "send"] as const) expect(await upload[step](0)).toMatchObject(completed);
    await expectStoredOnce();
  });

  test("Two tabs can send the same file successfully, and the file is stored once.", async () => {
    const [first, second] = [await createFileUpload(), await createFileUpload()];
    const stream = createUploadStream(first.content.slice(0, 300_000));
    const sending = first.stream(0, stream.body);
    await expect.poll(countChunks).toBe(1);
    expect(await second.ask()).toMatchObject(received(chunkSize));
    // The second tab's request makes the site store the received bytes of the first tab's request and end that request.
    expect(await second.send(chunkSize)).toMatchObject(received(300_000, 409));
    expect(await second.send(300_000)).toMatchObject(received(fileSize));
    expect(await sending).toMatchObject({ status: 200 });
    expect(await Promise.all([first.finish(), second.finish()])).toMatchObject([completed, completed]);
    await expectStoredOnce();
  });

  test("An upload does not fail if another process has stored the same chunk.", async () => {
    const upload = await createFileUpload();
    await upload.send(0, chunkSize);
    const [firstChunk = ""] = (await listStored()).chunks;
    const stream = createUploadStream(upload.content.slice(chunkSize, chunkSize + 100));
    const countLists = () => app.proxy.calls.filter((call) => call.includes("list_upload_chunks")).length;
    const before = countLists();
    const sending = upload.stream(chunkSize, stream.body);
    // Waits until the site has listed the chunks twice, because both lists must be read before the chunk below is
    // stored.
    await expect.poll(countLists).toBe(before + 2);
    const name = firstChunk.replace(/0-\d+$/, `${chunkSize}-${chunkSize}`);
    const options = { contentType: "application/octet-stream" };
    const bytes = upload.content.slice(chunkSize, 2 * chunkSize);
    const { error } = await app.company.storage.from("upload-chunks").upload(name, bytes, options);
    expect(error).toBeNull();
    stream.send(upload.content.slice(chunkSize + 100));
    stream.end();
    expect(await sending).toMatchObject(received(fileSize));
    expect(await upload.finish()).toMatchObject(completed);
  });

  test("A fourth parallel upload of one account is rejected.", async () => {
    const file = createPatternedPdf("a.pdf", fileSize);
    const uploads = await Promise.all(allDocuments.map((document) => createUpload(file, { document })));
    const streams = uploads.slice(0, 3).map((upload) => createUploadStream(upload.content.slice(0, chunkSize)));
    const sending = streams.map((stream, index) => uploads[index]?.stream(0, stream.body));
    await expect.poll(countChunks).toBe(3);
    const tooMany = rejected(429, "Your other files are still uploading. Try again in a minute.");
    expect(await uploads[3]?.send(0)).toMatchObject(tooMany);
    expect(await uploads[3]?.finish()).toMatchObject(tooMany);
    // A new request for the same file ends the file's open request, which releases an upload slot.
    expect(await uploads[0]?.send(chunkSize)).toMatchObject(received(fileSize));
    for (const stream of streams.slice(1)) stream.end();
    await Promise.all(sending);
    expect(await uploads[3]?.send(0)).toMatchObject(received(fileSize));
  });
});

test("A client who has sent the daily maximum of 4,000 chunks can continue an upload on the next day.", async () => {
  const upload = await createFileUpload();
  await upload.send(0, chunkSize);
  const key = `parts of large files per day of ${owner.id}`;
  await sql`insert into private.rate_limit_hits (attempt_id, key, expires_at)
    select gen_random_uuid(), md5(${key}), now() + interval '1 day' from generate_series(1, 4000)`;
  const reason = "You have reached the limit of 4000 parts of large files in 24 hours. Try again tomorrow, or call us.";
  expect(await upload.send(chunkSize)).toMatchObject(rejected(429, reason));
  expect(await upload.ask()).toMatchObject(received(chunkSize));
  await sql`delete from private.rate_limit_hits where key = md5(${key})`;
  expect(await upload.send(chunkSize)).toMatchObject(received(fileSize));
});

describe("Limits of unfinished uploads", () => {
  /** Stores a chunk with a creation time `minutes` minutes ago. Returns the upload to which the chunk belongs. */
  async function createUnfinished(size: number, sha256: string, length: number, minutes: number) {
    const document = (await readDocument()).id;
    const shipment = invoice.shipmentId;
    const folder = getUploadFolder({ account: owner.id, shipment, document, size, sha256 });
    await sql`insert into storage.objects (bucket_id, name, created_at)
      values ('upload-chunks', ${`${folder}0-${length}`}, now() - make_interval(mins => ${minutes}))`;
    return createUpload(createPdf(), { header: { size: String(size), sha256 } });
  }

  test("If an account's unfinished uploads exceed 30 MB, the oldest unfinished upload is deleted.", async () => {
    const stored = 9 * MiB - chunkSize;
    const unfinished: Awaited<ReturnType<typeof createUnfinished>>[] = [];
    for (const [index, digit] of ["a", "b", "c"].entries())
      unfinished.push(await createUnfinished(9 * MiB, digit.repeat(64), stored, 10 - index));
    const readStored = () => Promise.all(unfinished.map(async (upload) => (await upload.ask()).storedBytes));
    expect(await readStored()).toEqual([stored, stored, stored]);
    const upload = await createFileUpload(6 * MiB);
    expect(await upload.send(0, chunkSize)).toMatchObject(received(chunkSize));
    expect(await readStored()).toEqual([0, stored, stored]);
  });

  test("If an account has more than 20 unfinished uploads, the longest inactive upload is deleted.", async () => {
    const unfinished: Awaited<ReturnType<typeof createUnfinished>>[] = [];
    for (let index = 0; index < 20; index += 1)
      unfinished.push(await createUnfinished(fileSize, index.toString(16).padStart(64, "0"), 20_000, 30 - index));
    const upload = await createFileUpload();
    expect(await upload.send(0, chunkSize)).toMatchObject(received(chunkSize));
    expect(await unfinished[0]?.ask()).toMatchObject(received(0));
    expect(await unfinished[1]?.ask()).toMatchObject(received(20_000));
    expect(await upload.send(chunkSize)).toMatchObject(received(fileSize));
    expect(await unfinished[1]?.ask()).toMatchObject(received(20_000));
    // Adds rows like those of chunks that another process has stored for 40 more files.
    await sql`insert into storage.objects (bucket_id, name)
      select 'upload-chunks', ${`${owner.id}/`} || file || '/0-20000' from generate_series(1, 40) as file`;
    expect(await upload.send(fileSize)).toMatchObject(received(fileSize));
    const { chunks } = await listStored();
    expect(new Set(chunks.map((name) => name.split("/")[1])).size).toBe(20);
    expect(await upload.finish()).toMatchObject(completed);
  });

  test("Chunks older than a day do not count towards the limits, and the account's next upload deletes these chunks.", async () => {
    const upload = await createFileUpload();
    await upload.send(0, 2 * chunkSize);
    await sql`update storage.objects set created_at = now() - interval '25 hours'
      where bucket_id = 'upload-chunks' and name like ${`${owner.id}/%`}`;
    expect(await upload.ask()).toMatchObject(received(0));
    expect(await countChunks()).toBe(2);
    expect(await upload.send(2 * chunkSize)).toMatchObject(received(0, 409));
    expect(await countChunks()).toBe(0);
  });

  test("Every hour, the site deletes chunks older than a day, even if sending shipment updates fails.", async () => {
    const [old, recent] = [await createFileUpload(), await createFileUpload(2 * MiB)];
    await old.send(0, chunkSize);
    const [oldChunk = ""] = (await listStored()).chunks;
    await recent.send(0, 2 * chunkSize);
    await sql`update storage.objects set created_at = now() - interval '25 hours'
      where bucket_id = 'upload-chunks' and name = ${oldChunk}`;
    app.proxy.fail(500, /claim_shipment_emails/);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const stop = startBackgroundJobs();
    try {
      expect(await countChunks()).toBe(3);
      vi.advanceTimersByTime(30_000);
      await expect.poll(countChunks).toBe(2);
      expect((await listStored()).chunks).not.toContain(oldChunk);
    } finally {
      vi.useRealTimers();
      await stop();
    }
    expect(await recent.ask()).toMatchObject(received(2 * chunkSize));
  });
});
