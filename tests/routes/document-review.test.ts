import sharp from "sharp";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { contents } from "../support/file-contents.ts";
import { getHref } from "../support/page-parts.ts";
import {
  createHugePicture,
  createPicture,
  createPolyglot,
  createScriptedPdf,
  createTwoPageTiff,
  heicPicture,
} from "../support/review-files.ts";
import {
  allDocuments,
  copyBrowser,
  expectRejectedForm,
  getDocument,
  getField,
  type LoggedInClient,
  listShipmentAuditEntries,
  newClient,
  newShipment,
  newStaffMember,
  replaceStoredFile,
  successToast,
  uploadDocument,
} from "../support/route-fixtures.ts";
import { verifyDocumentByName } from "../support/service-role.ts";
import { rejectDocument, resultOrThrow } from "../support/staff-actions.ts";
import { createPdf, getTestApp, noStorePattern, parsePage, startTestSite } from "../support/test-app.ts";

const app = await getTestApp();
const { company, sql } = app;
const clerk = (await newStaffMember(app, "clerk", "Akinyi Odhiambo")).browser;
const client: LoggedInClient = await newClient(app, "Review Owner");
const site = await startTestSite();
afterAll(() => site.close());
let shipment: Awaited<ReturnType<typeof newShipment>>;
beforeEach(async () => {
  shipment = await newShipment(app, client, "Pumps for Juba");
});
afterEach(() => {
  app.proxy.fail("none");
  clerk.cookies.delete("flash");
});

/** Uploads a packing list. Returns the URL path of its review page. */
async function uploadList(file: File = createPdf("list.pdf")): Promise<string> {
  await uploadDocument(client.browser, shipment.portal, "Packing List", file);
  return `${shipment.desk}/documents/${(await getDocument(company, shipment.id, "Packing List")).id}`;
}

const fetchMode = { "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "object" };
const getView = (path: string, search = "") => clerk.get(`${path}/view${search}`, fetchMode);
const listOpened = async () =>
  (await listShipmentAuditEntries(company, shipment.id)).filter(({ action }) => action === "document open");

describe("Review page of a document", () => {
  test("The page shows the file with its facts, and the only desk page whose policy allows an embedded file is this page.", async () => {
    await company.rpc("save_shipment_numbers", { shipment_id: shipment.id, awb: "MSCU7654321" });
    const path = await uploadList();
    const page = await clerk.open(path);
    expect([page.status, page.h1, page.title]).toEqual([
      200,
      "Packing List",
      expect.stringMatching(/^Packing List: Pumps/),
    ]);
    for (const fact of ["Client Review Owner", "AWB/BL MSCU7654321", "File list.pdf", "Size 2 KB", "Stage 1/10"])
      expect(page.text).toContain(fact);
    expect(page.all("object").map((file) => [file.getAttribute("data"), file.getAttribute("type")])).toEqual([
      [`${path}/view?version=1&page=1`, "application/pdf"],
    ]);
    expect(getHref(page, "Download")).toBe(`${path}/file`);
    expect(page.headers.get("Content-Security-Policy")).toContain("object-src 'self'");
    for (const other of ["/desk", shipment.desk])
      expect((await clerk.open(other)).headers.get("Content-Security-Policy"), other).not.toContain("object-src");
    expect(getHref(await clerk.open(shipment.desk), "Review: Packing List")).toBe(path);
    expect(await listOpened()).toEqual([]);
  });

  test("A navigation by script from another page loads the whole page, so that the page's own policy applies.", async () => {
    const path = await uploadList();
    for (const [referer, reloads] of [
      ["/desk", true],
      [shipment.desk, true],
      [path, false],
    ] as const) {
      const response = await clerk.get(`${path}.data`, { Referer: new URL(referer, "http://127.0.0.1:3000").href });
      expect([referer, (await response.text()).includes("reload")], referer).toEqual([referer, reloads]);
    }
  });

  test.each([
    ["docx", "a.docx", "Browsers cannot show a Word file. Download the file."],
    ["text", "a.txt", "Browsers cannot show a text file. Download the file."],
  ] as const)(
    "The page of a %s file says that browsers cannot show the file, and offers the download.",
    async (content, name, text) => {
      const path = await uploadList(new File([new Uint8Array(contents[content])], name));
      const page = await clerk.open(path);
      expect([page.text.includes(text), page.all("object").length, getHref(page, "Download")]).toEqual([
        true,
        0,
        `${path}/file`,
      ]);
      expect((await getView(path)).status).toBe(415);
    },
  );
});

describe("File in the review page", () => {
  test("A PDF and a picture are sent inline, with a policy that allows nothing, only to a page of this site.", async () => {
    for (const [file, type] of [
      [createPdf("list.pdf"), "application/pdf"],
      [await createPicture("png"), "image/png"],
      [await createPicture("jpeg"), "image/jpeg"],
      [await createPicture("webp"), "image/webp"],
    ] as const) {
      shipment = await newShipment(app, client, "Shown");
      const path = await uploadList(file);
      const response = await copyBrowser(site, clerk).get(`${path}/view`, fetchMode);
      const header = (name: string) => response.headers.get(name);
      expect([response.status, header("Content-Type")]).toEqual([200, type]);
      expect(header("Content-Disposition")).toMatch(/^inline; filename=(list|scan)\./);
      expect(header("Content-Security-Policy")).toBe("sandbox; default-src 'none'; frame-ancestors 'self'");
      expect(header("X-Frame-Options")).toBe("SAMEORIGIN");
      expect(header("X-Content-Type-Options")).toBe("nosniff");
      expect(header("Cross-Origin-Resource-Policy")).toBe("same-origin");
      expect(header("Cache-Control")).toMatch(noStorePattern);
      expect(new Uint8Array(await response.arrayBuffer())).toEqual(new Uint8Array(await file.arrayBuffer()));
      for (const headers of [
        { ...fetchMode, "Sec-Fetch-Site": "cross-site" },
        { ...fetchMode, "Sec-Fetch-Dest": "document" },
        { ...fetchMode, "Sec-Purpose": "prefetch" },
      ]) {
        const redirected = await clerk.get(`${path}/view`, headers);
        expect([redirected.status, redirected.headers.get("Location")]).toEqual([303, path]);
      }
    }
  });

  test("A file that is not what it claims to be is not shown: a web page with a PDF, another type, and a damaged file.", async () => {
    const expectHidden = async (path: string, text: string, status: number) => {
      const page = await clerk.open(path);
      expect(page.text).toContain(text);
      const response = await getView(path);
      expect([response.status, response.headers.get("Content-Type")]).toEqual([status, "text/plain;charset=UTF-8"]);
      expect(await response.text()).not.toMatch(/<|%PDF/);
    };
    const path = await uploadList(await createPolyglot("alert(1)"));
    await expectHidden(path, "This file is not an ordinary PDF file.", 415);
    const { storage_path } = await getDocument(company, shipment.id, "Packing List");
    const shown = async (content: string) => {
      const bucket = company.storage.from("documents");
      await bucket.upload(storage_path ?? "", content, { contentType: "application/pdf", upsert: true });
    };
    await shown("<svg xmlns='http://www.w3.org/2000/svg'/>");
    await expectHidden(path, "This file is not an ordinary PDF file.", 409);
    await replaceStoredFile(company, storage_path ?? "");
    expect((await getView(path)).status).toBe(409);
    await company.storage.from("documents").remove([storage_path ?? ""]);
    await expectHidden(path, "This file is damaged or missing.", 409);
  });

  test("A PDF with a script is not shown, because PDF viewers run the script.", async () => {
    const path = await uploadList(createScriptedPdf("app.alert(1)"));
    const page = await clerk.open(path);
    expect(page.all("object")[0]?.text).toContain("The file is damaged or contains a script");
    expect((await getView(path)).status).toBe(415);
    expect((await clerk.get(`${path}/file`)).status).toBe(200);
  });

  test("The views of one person within an hour are one audit entry, a download is another entry, and the page adds none.", async () => {
    const path = await uploadList(createPdf("list.pdf"));
    for (const address of [path, `${path}/view`, path, `${path}/view`]) await (await clerk.get(address)).arrayBuffer();
    expect(await listOpened()).toMatchObject([{ actor_name: "Akinyi Odhiambo" }]);
    const other = (await newStaffMember(app, "clerk", "Second Clerk")).browser;
    await (await other.get(`${path}/view`)).arrayBuffer();
    await (await clerk.get(`${path}/file`)).arrayBuffer();
    expect((await listOpened()).map(({ actor_name }) => actor_name)).toEqual([
      ...["Akinyi Odhiambo", "Second Clerk", "Akinyi Odhiambo"],
    ]);
  });
});

describe("Pictures that browsers cannot show", () => {
  const readPicture = async (response: Response) => {
    expect([response.status, response.headers.get("Content-Type")]).toEqual([200, "image/jpeg"]);
    const picture = sharp(await response.arrayBuffer());
    const { width, height, format } = await picture.metadata();
    const { data } = await picture.raw().toBuffer({ resolveWithObject: true });
    return { size: [format, width, height], first: [...data.subarray(0, 3)] };
  };

  test.each([
    ["HEIC", () => heicPicture],
    ["TIFF", () => createPicture("tiff")],
  ] as const)("A %s picture is shown as a JPEG.", async (_type, create) => {
    const path = await uploadList(await create());
    expect((await clerk.open(path)).all("main img")).toHaveLength(1);
    const { size, first } = await readPicture(await getView(path));
    expect(size).toEqual(["jpeg", 64, 32]);
    const [red = 0, green = 0, blue = 0] = first;
    expect([red > 150, green < 80, blue < 80]).toEqual([true, true, true]);
  });

  test("Each page of a TIFF file has a link and is shown as a JPEG.", async () => {
    const path = await uploadList(createTwoPageTiff());
    const page = await clerk.open(`${path}?page=2`);
    expect([getHref(page, "Page 1"), getHref(page, "Page 2")]).toEqual([`${path}?page=1`, `${path}?page=2`]);
    expect(page.all("main img")[0]?.getAttribute("src")).toBe(`${path}/view?version=1&page=2`);
    for (const [number, colour] of [
      [1, 0],
      [2, 255],
    ] as const) {
      const { size, first } = await readPicture(await getView(path, `?page=${number}`));
      expect([size, first[0]]).toEqual([["jpeg", 4, 2], colour]);
    }
    expect((await getView(path, "?page=3")).status).toBe(422);
  });

  test.each(["png", "tiff"] as const)(
    "A %s picture with 50,000 x 50,000 pixels is not decoded, and the page says why.",
    async (format) => {
      const path = await uploadList(await createHugePicture(format));
      const page = await clerk.open(path);
      expect(page.text).toContain("This picture has 50,000 × 50,000 pixels.");
      expect(page.all("main img")).toEqual([]);
      if (format === "tiff") expect((await getView(path)).status).toBe(422);
    },
  );

  test("A HEIC file without a readable picture gets an error. Afterwards, other pictures are shown.", async () => {
    const path = await uploadList(new File([new Uint8Array(contents.heic)], "x.heic"));
    const page = await clerk.open(path);
    expect(page.all("main img")[0]?.getAttribute("alt")).toContain("this page cannot show the picture");
    const response = await getView(path);
    expect([response.status, await response.text()]).toEqual([
      422,
      "We cannot show this picture. Download the file instead.",
    ]);
    shipment = await newShipment(app, client, "Readable");
    expect((await getView(await uploadList(heicPicture))).status).toBe(200);
  });
});

describe("Checking documents one after the other", () => {
  /** Gives the documents of this test the oldest upload times, because other tests share the list of documents. */
  async function makeOldest(ids: string[], day: string): Promise<void> {
    await sql.begin(async (session) => {
      await session`set local session_replication_role = replica`;
      for (const [index, id] of ids.entries())
        await session`update documents set uploaded_at = ${`${day}T00:00:${String(index).padStart(2, "0")}Z`} where id = ${id}`;
    });
  }

  test("A clerk checks ten documents of three shipments and rejects two of them, oldest first, with at most 22 clicks.", async () => {
    const queue: { id: string; path: string; name: string }[] = [];
    for (const names of [allDocuments, allDocuments, allDocuments.slice(0, 2)]) {
      const { id, desk } = await newShipment(app, client, "Tea for Kigali", names);
      for (const name of names) {
        const document = await getDocument(company, id, name);
        queue.push({ id: document.id, path: `${desk}/documents/${document.id}`, name });
      }
    }
    await makeOldest(
      queue.map(({ id }) => id),
      "2020-01-01",
    );
    let clicks = 1;
    const today = await clerk.open("/desk");
    const links = today.all("main li a").map((link) => link.getAttribute("href"));
    expect(links.filter((link) => link?.includes("/documents/"))).toEqual(queue.slice(0, 8).map(({ path }) => path));
    let path = queue[0]?.path ?? "";
    for (const [index, { name, path: expected }] of queue.entries()) {
      expect(path).toBe(expected);
      const page = await clerk.open(path);
      const next = queue[index + 1]?.path;
      if (next) expect(getHref(page, "Next to check")).toBe(next);
      const isRejected = index === 3 || index === 9;
      const response = isRejected
        ? await clerk.submit(page, "Request a new file", { choice: "A page is unreadable" })
        : await clerk.submit(page, "Verify");
      clicks += isRejected ? 2 : 1;
      path = response.headers.get("Location") ?? "";
      const toasts = (await clerk.follow(response)).toasts;
      const title = isRejected ? `${name}: new file requested` : `${name} verified`;
      expect(toasts).toEqual(successToast(title, expect.stringMatching(/^Tea for Kigali/) as never));
    }
    expect(clicks).toBeLessThanOrEqual(22);
    const states = await company
      .from("documents")
      .select("verified, rejection_reason")
      .in(
        "id",
        queue.map(({ id }) => id),
      );
    expect(states.data?.filter(({ verified }) => verified)).toHaveLength(8);
    expect(states.data?.filter((row) => row.rejection_reason === "A page is unreadable")).toHaveLength(2);
  });

  test("The client reads the chosen reason with the details. A form without a reason is rejected.", async () => {
    const path = await uploadList();
    const page = await clerk.open(path);
    const rejected = await parsePage(await clerk.submit(page, "Request a new file", { reason: " " }));
    expectRejectedForm(rejected, 400, "Choose a reason, or enter another reason.");
    const long = await parsePage(await clerk.submit(page, "Request a new file", { reason: "x".repeat(462) }));
    expect(long.status).toBe(400);
    await clerk.submit(page, "Request a new file", { choice: "A page is missing", reason: "page 3 of 4" });
    expect((await client.browser.open(shipment.portal)).text).toContain(
      "New file needed: A page is missing: page 3 of 4",
    );
    const after = await clerk.open(path);
    expect(after.text).toContain("Reason: A page is missing: page 3 of 4");
    expect(after.all("object")).toEqual([]);
  });

  test("If the document has changed, the page shows the present state and the typed reason.", async () => {
    const path = await uploadList();
    const page = await clerk.open(path);
    const id = path.split("/").at(-1) ?? "";
    resultOrThrow(await rejectDocument(company, id, "Blurred", {}));
    await uploadDocument(client.browser, shipment.portal, "Packing List", createPdf("second.pdf"));
    const typed = { choice: "A page is missing", reason: "page 3" };
    const conflict = await parsePage(await clerk.submit(page, "Request a new file", typed));
    expectRejectedForm(conflict, 409, "Someone has changed this document. Check the document, then try again.");
    expect(getField(conflict, "reject-reason").value).toBe("page 3");
    expect(conflict.all("[type=radio][checked]").map((radio) => radio.getAttribute("value"))).toContain(
      "A page is missing",
    );
    expect(conflict.text).toContain("File second.pdf");
    expect((await parsePage(await clerk.submit(page, "Verify"))).status).toBe(409);
    await verifyDocumentByName(company, shipment.id, "Packing List");
    const late = await parsePage(await clerk.submit(page, "Request a new file", typed));
    expect([late.status, getField(late, "reject-reason").value, late.text.includes("Undo verification")]).toEqual([
      409,
      "page 3",
      true,
    ]);
    const undone = await clerk.submit(late, "Undo verification", { reason: "By mistake" });
    expect(undone.headers.get("Location")).toBe(path);
  });
});
