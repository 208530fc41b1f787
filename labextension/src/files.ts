// Files that the kernel process made, handed to the user's disk. Knows no kernel.

import { element } from './element';
import type { HandedFile } from './kernel/protocol';

/** Let the browser keep the file. VS Code keeps it too, if it sees the click on its page. */
export function keepFile(name: string, content: Blob): void {
  const link = element('a', '');
  link.href = URL.createObjectURL(content);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A PNG file, with all text, of an SVG one; at twice its size, for paper and sharp screens. */
export async function rasterise(file: HandedFile): Promise<Blob> {
  const image = new Image();
  image.src = `data:${file.kind},${encodeURIComponent(new TextDecoder().decode(file.data))}`; // some pages allow no blob here
  await image.decode();
  const canvas = element('canvas', '');
  canvas.width = 2 * image.naturalWidth;
  canvas.height = 2 * image.naturalHeight;
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return await new Promise((resolve, reject) =>
    canvas.toBlob(blob => (blob ? resolve(blob) : reject(new Error('the picture is too large'))), 'image/png')
  );
}
