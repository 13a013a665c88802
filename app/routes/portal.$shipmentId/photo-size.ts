/** Photos in fewer bytes, made in the browser. */

/** The longest side of a photo that is sent, in pixels: small print on an A4 page can still be read. */
const longestSide = 2400;
const quality = 0.82;
/** Below this share of its bytes a smaller photo is worth its loss. */
const maxSizeRatio = 0.8;

/**
 * A photo as a JPEG of at most 2400 pixels a side, upright, on white; null when that saves less than a fifth.
 * Rejects when the browser cannot read the photo.
 */
export async function shrinkPhoto(photo: File): Promise<File | null> {
  const picture = await createImageBitmap(photo, { imageOrientation: "from-image" });
  const scale = Math.min(1, longestSide / Math.max(picture.width, picture.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(picture.width * scale);
  canvas.height = Math.round(picture.height * scale);
  const context = canvas.getContext("2d");
  if (!context) return null;
  context.fillStyle = "white";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.imageSmoothingQuality = "high";
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  picture.close();
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/jpeg", quality));
  if (!blob || blob.size > photo.size * maxSizeRatio) return null;
  return new File([blob], photo.name.replace(/\.[^.]*$/, ".jpg"), { type: "image/jpeg" });
}
