/** Twice the size it is shown at, for dense screens. */
const SIDE_PX = 80;

/** The middle of an image as a small square picture; nothing for what the browser cannot draw. */
export async function makeThumbnail(file: File): Promise<string | undefined> {
  if (!/^image\/(png|jpeg|gif|webp)$/.test(file.type)) return undefined;
  try {
    const image = await createImageBitmap(file);
    const side = Math.min(image.width, image.height);
    const canvas = document.createElement("canvas");
    canvas.width = SIDE_PX;
    canvas.height = SIDE_PX;
    const left = (image.width - side) / 2;
    const top = (image.height - side) / 2;
    canvas.getContext("2d")?.drawImage(image, left, top, side, side, 0, 0, SIDE_PX, SIDE_PX);
    image.close();
    return canvas.toDataURL("image/png");
  } catch {
    return undefined;
  }
}
