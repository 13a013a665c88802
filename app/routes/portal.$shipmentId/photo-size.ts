/** In pixels. Enough to read the small print of a photographed A4 page. */
const longestSide = 2400;
const quality = 0.82;
/** The maximum size of a shrunk photo as a share of the original's bytes. */
const maxSizeRatio = 0.8;

/** Returns an upright JPEG, or null if shrinking saves too few bytes. Throws if the browser cannot read the photo. */
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
