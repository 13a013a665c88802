import { connect, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createPdf, getTestSite, origin, parsePage } from "../support/test-app.ts";

const sockets: Socket[] = [];
const site = await getTestSite();
const client = site.browser();
await client.signUpAndLogIn("Requester");
const shipment = await client.createShipment("Requests");
const closeSockets = () => {
  for (const socket of sockets.splice(0)) socket.destroy();
};
afterEach(closeSockets);

/** Sends the first half of a form with a file. The returned `rest` is the second half. */
function startUpload(path: string, from: string, cookie = "") {
  const half = "m".repeat(5000);
  const start = `--x\r\nContent-Disposition: form-data; name="cv"; filename="a.pdf"\r\n\r\n${half}`;
  const rest = `${half}\r\n--x--\r\n`;
  const socket = connect(site.port, "127.0.0.1").on("error", () => undefined);
  socket.resume();
  sockets.push(socket);
  const head = `Host: x\r\nX-Forwarded-For: ${from}\r\nOrigin: ${origin}\r\nCookie: ${cookie}`;
  const type = `Content-Type: multipart/form-data; boundary=x\r\nContent-Length: ${start.length + rest.length}`;
  socket.write(`POST ${path} HTTP/1.1\r\n${head}\r\n${type}\r\n\r\n${start}`);
  return { socket, rest };
}

/** Sends an application without a name. The response has status 400, or 429 if no upload slot is free. */
function sendApplication(from: string): Promise<Response> {
  const form = new FormData();
  form.append("cv", createPdf("cv.pdf", 1000));
  return site.browser().post("/careers", form, { "X-Forwarded-For": from });
}
const getApplicationStatus = async (from: string) => (await sendApplication(from)).status;

test.each<[string, string, (upload: ReturnType<typeof startUpload>) => void]>([
  ["is complete", "192.0.2.1", ({ socket, rest }) => socket.write(rest)],
  ["is damaged", "192.0.2.2", ({ socket, rest }) => socket.write(rest.replaceAll("-", "m"))],
  ["loses its connection", "192.0.2.3", ({ socket }) => socket.destroy()],
])(
  "Visitors with the same IP address can have six parallel uploads, and start a seventh as soon as one of the six %s.",
  async (_how, from, end) => {
    const [first] = Array.from({ length: 6 }, () => startUpload("/careers", from));
    await expect.poll(() => getApplicationStatus(from)).toBe(429);
    expect(await getApplicationStatus("198.51.100.1")).toBe(400);

    const page = await parsePage(await sendApplication(from));
    expect(page.headers.get("Retry-After")).toBe("60");
    expect(page.getDescriptions("cv")).toContain(
      "Too many files are uploading from your network. Try again in a minute.",
    );

    if (first) end(first);
    await expect.poll(() => getApplicationStatus(from)).toBe(400);
    startUpload("/careers", from);
    await expect.poll(() => getApplicationStatus(from)).toBe(429);
  },
);

test("A client can have three parallel uploads from any IP addresses, and occupies no upload slots of other clients or visitors.", async () => {
  const cookie = `session=${client.cookies.get("session")}`;
  for (const address of ["203.0.113.1", "203.0.113.2", "203.0.113.3"])
    startUpload(`${shipment}/documents`, address, cookie);
  const form = new FormData();
  form.append("document", "none");
  form.append("file", createPdf());
  const headers = { Accept: "application/json", "X-Forwarded-For": "203.0.113.4" };
  const sendFile = () => client.post(`${shipment}/documents`, form, headers);
  await expect.poll(async () => (await sendFile()).status).toBe(429);
  const rejected = await sendFile();
  expect(rejected.headers.get("Retry-After")).toBe("60");
  const description = "Your other files are still uploading. Try again in a minute.";
  expect(await rejected.json()).toEqual({ toast: { title: "Upload failed", description, variant: "destructive" } });
  const page = await parsePage(await client.post(shipment, form));
  expect([page.status, page.toasts.at(-1)?.title]).toEqual([429, "Upload failed"]);
  expect(await getApplicationStatus("203.0.113.1")).toBe(400);

  const otherClient = site.browser();
  await otherClient.signUpAndLogIn("Other");
  const otherPath = await otherClient.createShipment("Theirs");
  expect((await otherClient.post(`${otherPath}/documents`, form, headers)).status).toBe(400);
  closeSockets();
  await expect.poll(async () => (await sendFile()).status).toBe(400);
});
