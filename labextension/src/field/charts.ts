// Charts and files that the kernel process drew: put on the page, or handed to the user's disk. Knows no kernel.

import { element } from '../element';
import type { ChartDrawing, HandedFile } from '../kernel/protocol';

/** Show these charts, each with words for those who do not see it. */
export function showCharts(node: HTMLElement, charts: readonly ChartDrawing[]): void {
  node.replaceChildren(
    ...charts.map(chart => {
      const figure = element('div', 'swb-chart');
      figure.setAttribute('role', 'img');
      figure.setAttribute('aria-label', chart.words);
      const parsed = new DOMParser().parseFromString(chart.svg, 'image/svg+xml').documentElement;
      parsed.setAttribute('aria-hidden', 'true');
      parsed.removeAttribute('role');
      figure.append(document.importNode(parsed, true));
      return figure;
    })
  );
}

/** Let the browser keep the file. */
export function keepFile(name: string, content: Blob): void {
  const link = element('a', '');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A PNG file, with all text, of an SVG one; at twice its size, for paper and sharp screens. */
export async function rasterise(file: HandedFile): Promise<Blob> {
  const source = URL.createObjectURL(new Blob([file.data.slice()], { type: file.kind }));
  try {
    const image = new Image();
    image.src = source;
    await image.decode();
    const canvas = element('canvas', '');
    canvas.width = 2 * image.naturalWidth;
    canvas.height = 2 * image.naturalHeight;
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) =>
      canvas.toBlob(blob => (blob ? resolve(blob) : reject(new Error('the picture is too large'))), 'image/png')
    );
  } finally {
    URL.revokeObjectURL(source);
  }
}
