import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { mayHavePdfScript } from "./pdf-script.server.ts";

const action = "<</S/JavaScript/JS(app.alert\\(1\\))>>";
const createPdf = (...parts: (string | Buffer)[]) =>
  Buffer.concat(["%PDF-1.7\n", ...parts, "\nstartxref\n0\n%%EOF\n"].map((part) => Buffer.from(part)));
const createObjectStream = (objects: string, entries = "/Filter/FlateDecode", type = "/Type/ObjStm") => {
  const content = deflateSync(`1 0 ${objects}`);
  return createPdf(`7 0 obj\n<<${type}${entries}/N 1>>\nstream\r\n`, content, "\nendstream\nendobj");
};

test.each([
  ["without a script", createPdf("1 0 obj\n<</Type/Catalog>>\nendobj")],
  ["with the word JavaScript in a text", createPdf("1 0 obj\n(JavaScript /JSON)\nendobj")],
  ["with an object stream without a script", createObjectStream("<</Type/Catalog>>")],
])("A PDF %s can be shown.", async (_content, pdf) => {
  expect(await mayHavePdfScript(pdf)).toBe(false);
});

test.each([
  ["with a script", createPdf(`1 0 obj\n${action}\nendobj`)],
  ["with a script under an escaped name", createPdf("1 0 obj\n<</S/J#61vaScript/J#53 5 0 R>>\nendobj")],
  ["with a script in an object stream", createObjectStream(action)],
  ["with a script in an object stream of an escaped type", createObjectStream(action, undefined, "/Type/Obj#53tm")],
  ["with an object stream of an unknown filter", createObjectStream("<<>>", "/Filter[/ASCIIHexDecode/FlateDecode]")],
  ["with an object stream with parameters", createObjectStream("<<>>", "/Filter/FlateDecode/DecodeParms<<>>")],
  ["with a damaged object stream", createPdf("7 0 obj<</Type/ObjStm/Filter/FlateDecode>>stream\nxxxx\nendstream")],
  ["with an object stream that has no start", createPdf("7 0 obj<</Type/ObjStm/Filter/FlateDecode>>streamx")],
  ["with 200,000 streams without objects", createPdf("/ObjStm\n", "stream\n".repeat(200_000))],
  ["with 200,000 object streams that have no end", createPdf("7 0 obj<</ObjStm>>stream\n".repeat(200_000))],
  ["with 20,000 streams", createPdf("7 0 obj<<>>stream\n\nendstream\n".repeat(20_000), createObjectStream("<<>>"))],
  ["with 60,000 escaped letters", createPdf("/".concat("#41".repeat(60_000)))],
  ["that is encrypted and has an object stream", createPdf("/Encrypt 5 0 R", createObjectStream("<<>>"))],
])("A PDF %s is not shown.", async (_content, pdf) => {
  expect(await mayHavePdfScript(pdf)).toBe(true);
});
