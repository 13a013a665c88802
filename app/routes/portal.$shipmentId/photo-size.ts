/** At this length of the longer side, the small print on a photographed A4 page is readable. */
const longSidePx = 2400;
/** If the short side of a long screenshot had fewer pixels, the text would be unreadable. */
const shortSidePx = 1000;
const quality = 0.82;
/** The file size of a shrunk photo must be at most this fraction of the original's file size. */
const maxSizeRatio = 0.8;

/** To detect random colours, the code compares square samples of the original and the JPEG. Sizes are in pixels. */
const samplesPerSide = 4;
const sampleSize = 16;
const gridSize = samplesPerSide * sampleSize;
/**
 * The maximum mean difference between the colour values (0 to 255) of the original and the JPEG. JPEG compression
 * causes a difference of about 5. Random colours cause about 60.
 */
const maxDifference = 12;

/**
 * Returns an upright JPEG, or null if shrinking saves too few bytes or the JPEG has random colours. Browsers with
 * protection from tracking may put random colours into a canvas. Throws if the browser cannot read the photo.
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
  const scale = Math.min(1, Math.max(longSidePx / Math.max(width, height), shortSidePx / Math.min(width, height)));
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

/** Returns the colours of the samples at the scale of `target`. Returns null if the canvas changes a test colour. */
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

/** Returns where a sample starts on one side of the picture, and how long the sample is, in pixels. */
function findSample(index: number, pictureSide: number, targetSide: number): [start: number, length: number] {
  const length = Math.min(pictureSide, (sampleSize * pictureSide) / targetSide);
  return [((pictureSide - length) * (index + 0.5)) / samplesPerSide, length];
}
