// Drawing of planes and points: codes become pixels of canvases, on animation frames. Imports nothing.

/** A canvas of the page, or what a page hands to its worker instead. */
export type Sheet = HTMLCanvasElement | OffscreenCanvas;

type Context = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

/** How many particles there are, and the radius of each one's disc in pixels. */
export interface Discs {
  count: number;
  radius: number;
}

/** One picture of a frame. */
export interface Codes {
  rows: number;
  columns: number;
  packed: boolean;
  /** null for a plane; `rows` and `columns` of points are pixels. */
  particles: Discs | null;
  /**
   * One byte a cell, rows from top, or packed. Of particles first all their places to the right and then all those up, in
   * 65,536ths of the picture's sides and with the low byte first, then the levels.
   */
  codes: Uint8Array<ArrayBuffer>;
}

/** The pictures of one step; `palette` names a table of colours. Numbers of a view grow. */
export interface Pictures {
  number: number;
  palette: string;
  pictures: Codes[];
}

export type ToDrawing =
  /** Made for this frame, and for those after it until others are made. */
  | { type: 'sheets'; view: number; sheets: Sheet[]; number: number }
  | { type: 'tables'; view: number; tables: Record<string, Uint32Array> }
  | ({ type: 'frame'; view: number } & Pictures)
  | { type: 'close'; view: number };

/** The last frame of a view that is on its sheets, since when (as Date.now() tells it), or why it cannot draw. */
export type FromDrawing = { view: number; drawn: number; at: number } | { view: number; trouble: string };

export type Unpack = (body: Uint8Array<ArrayBuffer>, cells: number) => Promise<Uint8Array | null>;
export type Paint = (codes: Uint8Array, table: Uint32Array, pixels: Uint32Array) => void;
export type Scatter = (body: Uint8Array, discs: Discs, columns: number, table: Uint32Array, pixels: Uint32Array) => void;

/**
 * What draws for any number of views, each with sheets and tables of colours of its own; returns what hears messages.
 * Frames of a view are drawn in their order, the pictures of one frame together, one frame an animation frame. Two often
 * come together, because a server's system holds a message back until the one before is confirmed (RFC 896): the second
 * one is drawn at the next animation frame, or of several the last; but where the first has long waited for its own, the
 * last takes its place. One that comes before its sheets, or its table, is drawn when they are there, and one that comes
 * again, or late by another way, never. Codes that are damaged leave the picture before. Goes to the worker as text
 * (sharing.ts): it may use nothing but its arguments and what browsers give to workers and pages alike.
 */
export function drawing(unpack: Unpack, paint: Paint, scatter: Scatter, answer: (message: FromDrawing) => void): (message: ToDrawing) => void {
  interface View {
    sheets: { sheet: Sheet; context: Context }[];
    images: (ImageData | null)[];
    tables: Record<string, Uint32Array>;
    latest: Pictures | null;
    painted: number; // the frame that its images hold, or 0
    waiting: number; // the same while its sheets do not hold it, or 0
    since: number; // when that one was painted
    next: Pictures | null; // to be drawn when the waiting one is on the sheets
    before: Promise<void>;
  }
  const LONG = 20; // milliseconds; animation frames are 17 apart
  const views = new Map<number, View>();

  function viewOf(number: number): View {
    const none = { latest: null, painted: 0, waiting: 0, since: 0, next: null };
    const view: View = views.get(number) ?? { sheets: [], images: [], tables: {}, before: Promise.resolve(), ...none };
    views.set(number, view);
    return view;
  }

  function draw(number: number, view: View, frame: Pictures): void {
    view.before = view.before
      .then(() => take(number, view, frame))
      .catch((error: unknown) => answer({ view: number, trouble: String(error) }));
  }

  async function take(number: number, view: View, frame: Pictures): Promise<void> {
    const { sheets } = view;
    const table = view.tables[frame.palette];
    if (!table || sheets.length !== frame.pictures.length || view.painted === frame.number) {
      return;
    }
    if (view.waiting > 0 && Date.now() - view.since < LONG) {
      view.next = frame;
      return;
    }
    view.next = null;
    view.painted = frame.number;
    const unpacked = await Promise.all(
      frame.pictures.map(({ rows, columns, packed, codes }) => (packed ? unpack(codes, rows * columns) : codes))
    );
    if (view.sheets !== sheets) {
      return; // others were made meanwhile, for another frame or for this one once more
    }
    unpacked.forEach((codes, index) => {
      const { rows, columns, particles } = frame.pictures[index] as Codes;
      let image = view.images[index];
      if (!codes || codes.length !== (particles ? 5 * particles.count : rows * columns) || rows * columns === 0) {
        return;
      }
      if (!image || image.width !== columns || image.height !== rows) {
        image = new ImageData(columns, rows);
        view.images[index] = image;
      }
      const pixels = new Uint32Array(image.data.buffer);
      if (particles) {
        scatter(codes, particles, columns, table, pixels);
      } else {
        paint(codes, table, pixels);
      }
    });
    const asked = view.waiting > 0;
    view.waiting = frame.number;
    if (!asked) {
      view.since = Date.now();
      requestAnimationFrame(() => {
        const { waiting: latest, next } = view;
        view.next = null;
        view.waiting = 0; // first, so that a frame that cannot be shown does not stop those after it
        if (views.get(number) === view) {
          show(view);
          answer({ view: number, drawn: latest, at: Date.now() });
          if (next) {
            draw(number, view, next);
          }
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
    const { latest } = view;
    if (message.type === 'sheets') {
      // Once: Firefox refuses a worker that asks for the context again.
      view.sheets = message.sheets.map(sheet => ({ sheet, context: sheet.getContext('2d') as Context }));
      view.images = [];
      view.painted = view.since = 0;
      view.next = null;
      if (latest && latest.number < message.number) {
        view.latest = null; // another picture, of before
      }
    } else if (message.type === 'tables') {
      view.tables = message.tables;
    } else if (!latest || message.number > latest.number) {
      view.latest = message;
    }
    const frame = view.latest;
    if (frame) {
      draw(number, view, frame);
    }
  };
}
