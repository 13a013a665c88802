import process from "node:process";
import { buffer } from "node:stream/consumers";
import sharp, { type Sharp } from "sharp";
import { getMaxPixels, type PictureSize } from "../models/picture-size.server.ts";

const maxSide = 3600;
const maxWasmBytes = 384 * 1024 * 1024;

const [, , mediaType, page = "1"] = process.argv;
// Sharp selects the decoder by the content. A file must not select any decoder except that of its type.
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({ operation: ["VipsForeignLoadTiff"] });
sharp.concurrency(1);

const content = await buffer(process.stdin);
const picture = mediaType === "image/heic" ? await decodeHeic(content) : decodeTiff(content, Number(page));
const jpeg = await picture
  .flatten({ background: "white" })
  .resize({ width: maxSide, height: maxSide, fit: "inside", withoutEnlargement: true })
  .toColourspace("srgb")
  .jpeg({ quality: 80 })
  .toBuffer();
process.stdout.write(jpeg);

function decodeTiff(content: Buffer, page: number): Sharp {
  const options = {
    page: page - 1,
    limitInputPixels: getMaxPixels("image/tiff"),
    failOn: "error",
    sequentialRead: true,
  } as const;
  return sharp(content, options).autoOrient();
}

async function decodeHeic(content: Buffer): Promise<Sharp> {
  limitWasmMemory();
  const { default: decode } = await import("heic-decode");
  const [image] = (await decode.all({ buffer: content })) as (Awaited<ReturnType<typeof decode.all>>[0] &
    PictureSize)[];
  if (!image || image.width * image.height > getMaxPixels("image/heic"))
    throw new RangeError("The picture has no pixels or too many pixels.");
  const { width, height, data } = await image.decode();
  return sharp(data, { raw: { width, height, channels: 4 } });
}

/** A WebAssembly module asks JavaScript for more memory. V8 has no setting that limits this memory. */
function limitWasmMemory(): void {
  const { grow } = WebAssembly.Memory.prototype;
  WebAssembly.Memory.prototype.grow = function (pages) {
    if (this.buffer.byteLength + pages * 64 * 1024 > maxWasmBytes) throw new RangeError("Too much memory.");
    return grow.call(this, pages);
  };
}
