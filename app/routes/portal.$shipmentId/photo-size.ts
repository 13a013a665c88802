/** In pixels. Enough to read the small print of a photographed A4 page. */
const longestSide = 2400;
/**
 * In pixels. The short side of a long screenshot is not reduced below this size, because the text would be unreadable.
 */
const shortestSide = 1000;
const quality = 0.82;
/** The maximum size of a shrunk photo as a share of the original's bytes. */
const maxSizeRatio = 0.8;

/** The check for random colours compares a grid of square samples. Sizes are in pixels. */
const samplesPerSide = 4;
const sampleSize = 16;
const gridSize = samplesPerSide * sampleSize;
/** The mean difference per colour, from 0 to 255. JPEG changes a photo by about 5, and random colours change it by 60. */
const maxDifference = 12;

/**
 * Returns an upright JPEG. Returns null if shrinking saves too few bytes, or if the JPEG has random colours. Browsers
 * that protect visitors from tracking may change the pixels of a canvas. Throws if the browser cannot read the photo.
 */
export async function shrinkPhoto(photo: File): Promise<File | null> {
  const picture = await createImageBitmap(photo, { imageOrientation: "from-image" });
  try {
    return await shrinkPicture(picture, photo);
  } finally {
    picture.close();
  }
}

async function shrinkPicture(picture: ImageBitmap, photo: File): Promise<File | null> {
  const { width, height } = picture;
  const scale = Math.min(1, Math.max(longestSide / Math.max(width, height), shortestSide / Math.min(width, height)));
  const { canvas, context } = createCanvas(Math.round(width * scale), Math.round(height * scale));
  context.fillStyle = "white";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.imageSmoothingQuality = "high";
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/jpeg", quality));
  if (!blob || blob.size > photo.size * maxSizeRatio) return null;
  const shrunk = await createImageBitmap(blob);
  try {
    if (!isSamePicture(picture, shrunk)) return null;
  } finally {
    shrunk.close();
  }
  return new File([blob], photo.name.replace(/\.[^.]*$/, ".jpg"), { type: "image/jpeg" });
}

function createCanvas(width: number, height: number) {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  if (!context) throw new Error("The browser does not support canvas.");
  return { canvas, context };
}

function isSamePicture(original: ImageBitmap, shrunk: ImageBitmap): boolean {
  const first = readSamples(original, shrunk);
  const second = readSamples(shrunk, shrunk);
  if (!first || !second) return false;
  const difference = first.reduce((sum, value, index) => sum + Math.abs(value - (second[index] ?? 0)), 0);
  return difference / first.length <= maxDifference;
}

/** Returns the colours of the samples at the scale of `target`, or null if the canvas changes a known colour. */
function readSamples(picture: ImageBitmap, target: ImageBitmap): Uint8ClampedArray | null {
  const { context } = createCanvas(gridSize + 1, gridSize);
  context.imageSmoothingQuality = "high";
  context.fillStyle = "white";
  context.fillRect(0, 0, gridSize, gridSize);
  context.fillStyle = "#2060a0";
  context.fillRect(gridSize, 0, 1, gridSize);
  for (let row = 0; row < samplesPerSide; row += 1) {
    for (let column = 0; column < samplesPerSide; column += 1) {
      const [left, width] = findSample(column, picture.width, target.width);
      const [top, height] = findSample(row, picture.height, target.height);
      const [x, y] = [column * sampleSize, row * sampleSize];
      context.drawImage(picture, left, top, width, height, x, y, sampleSize, sampleSize);
    }
  }
  const known = context.getImageData(gridSize, 0, 1, gridSize).data;
  const isRight = known.every((value, index) => Math.abs(value - ([0x20, 0x60, 0xa0, 0xff][index % 4] ?? 0)) < 8);
  return isRight ? context.getImageData(0, 0, gridSize, gridSize).data : null;
}

/** Returns the start and the length of a sample in pixels of the picture. A sample never exceeds the picture. */
function findSample(index: number, pictureSide: number, targetSide: number): [start: number, length: number] {
  const length = Math.min(pictureSide, (sampleSize * pictureSide) / targetSide);
  return [((pictureSide - length) * (index + 0.5)) / samplesPerSide, length];
}
