// Drawing of planes: codes become pixels of canvases, on animation frames. Imports nothing.

/** A canvas of the page, or what a page hands to its worker instead. */
export type Sheet = HTMLCanvasElement | OffscreenCanvas;

type Context = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

/** One picture of a frame. */
export interface Codes {
  rows: number;
  columns: number;
  packed: boolean;
  /** One byte a cell, rows from top, or packed. */
  codes: Uint8Array<ArrayBuffer>;
}

export type ToDrawing =
  | { type: 'sheets'; view: number; sheets: Sheet[] }
  | { type: 'table'; view: number; table: Uint32Array }
  | { type: 'frame'; view: number; number: number; pictures: Codes[] }
  | { type: 'close'; view: number };

/** The last frame of a view that is on its sheets, since when (as Date.now() tells it), or why it cannot draw. */
export type FromDrawing = { view: number; drawn: number; at: number } | { view: number; trouble: string };

export type Unpack = (body: Uint8Array<ArrayBuffer>, cells: number) => Promise<Uint8Array | null>;
export type Paint = (codes: Uint8Array, table: Uint32Array, pixels: Uint32Array) => void;

/**
 * What draws for any number of views, each with sheets and a table of colours of its own; returns what hears messages.
 * Frames of a view are drawn in their order, the pictures of one frame together, and of those that come between two
 * animation frames only the last. Codes that are damaged leave the picture before. Goes to the worker as text
 * (sharing.ts): it may use nothing but its arguments and what browsers give to workers and pages alike.
 */
export function drawing(unpack: Unpack, paint: Paint, answer: (message: FromDrawing) => void): (message: ToDrawing) => void {
  interface View {
    sheets: { sheet: Sheet; context: Context }[];
    images: (ImageData | null)[];
    table: Uint32Array | null;
    waiting: number; // the frame that its images hold and its sheets do not, or 0
    before: Promise<void>;
  }
  const views = new Map<number, View>();

  function viewOf(number: number): View {
    const view = views.get(number) ?? { sheets: [], images: [], table: null, waiting: 0, before: Promise.resolve() };
    views.set(number, view);
    return view;
  }

  async function take(number: number, view: View, frame: number, pictures: Codes[]): Promise<void> {
    const unpacked = await Promise.all(
      pictures.map(({ rows, columns, packed, codes }) => (packed ? unpack(codes, rows * columns) : codes))
    );
    unpacked.forEach((codes, index) => {
      const { rows, columns } = pictures[index] as Codes;
      let image = view.images[index];
      if (!codes || !view.table || codes.length !== rows * columns || codes.length === 0) {
        return;
      }
      if (!image || image.width !== columns || image.height !== rows) {
        image = new ImageData(columns, rows);
        view.images[index] = image;
      }
      paint(codes, view.table, new Uint32Array(image.data.buffer));
    });
    const asked = view.waiting > 0;
    view.waiting = frame;
    if (!asked) {
      requestAnimationFrame(() => {
        const latest = view.waiting;
        view.waiting = 0; // first, so that a frame that cannot be shown does not stop those after it
        if (views.get(number) === view) {
          show(view);
          answer({ view: number, drawn: latest, at: Date.now() });
        }
      });
    }
  }

  function show(view: View): void {
    view.sheets.forEach(({ sheet, context }, index) => {
      const image = view.images[index];
      if (image) {
        if (sheet.width !== image.width || sheet.height !== image.height) {
          sheet.width = image.width;
          sheet.height = image.height;
        }
        context.putImageData(image, 0, 0);
      }
    });
  }

  return message => {
    const { view: number } = message;
    if (message.type === 'close') {
      views.delete(number);
      return;
    }
    const view = viewOf(number);
    if (message.type === 'sheets') {
      // Once: Firefox refuses a worker that asks for the context again.
      view.sheets = message.sheets.map(sheet => ({ sheet, context: sheet.getContext('2d') as Context }));
      view.images = [];
    } else if (message.type === 'table') {
      view.table = message.table;
    } else {
      view.before = view.before
        .then(() => take(number, view, message.number, message.pictures))
        .catch((error: unknown) => answer({ view: number, trouble: String(error) }));
    }
  };
}
