// The worker that draws the fields of a page, shared by all of them: neither unpacking nor painting waits for the page,
// and a memory of its own is collected without stopping it.

import { paint } from './colours';
import { drawing, type Codes, type FromDrawing, type ToDrawing } from './drawing';
import { unpack } from './unpacking';

const START_TIMEOUT = 2000; // milliseconds; a page whose rules forbid workers may never hear from one

// As text, and its address holds all of it, because VS Code's pages allow no other worker. A browser that lacks
// something says false.
const SOURCE = `
const hear = (${drawing})(${unpack}, ${paint}, message => postMessage(message));
onmessage = event => hear(event.data);
postMessage([typeof OffscreenCanvas, typeof requestAnimationFrame, typeof DecompressionStream].every(kind => kind === 'function'));
`;

/** Draws the frames of one view. */
export interface Painter {
  /** On these canvases from now on, which hold nothing yet. */
  sheets(canvases: readonly HTMLCanvasElement[]): void;
  /** With these 256 pixels. */
  table(table: Uint32Array): void;
  /** One picture for each canvas. Takes the memory of the codes, unless `shared`. */
  frame(number: number, pictures: readonly Codes[], shared: boolean): void;
  close(): void;
}

interface Place {
  post(message: ToDrawing, transfer: Transferable[]): void;
  end(): void;
  /** Whether it draws on what canvases hand over, in a thread of its own. */
  apart: boolean;
}

const hearers = new Map<number, (message: FromDrawing) => void>();
let place: Promise<Place> | null = null;
let views = 0;

function tell(message: FromDrawing): void {
  hearers.get(message.view)?.(message);
}

/** `drawn` is told which frame is on the canvases and since when, and `trouble` why none is. */
export async function openPainter(drawn: (number: number, at: number) => void, trouble: (text: string) => void): Promise<Painter> {
  const view = ++views;
  hearers.set(view, message => ('drawn' in message ? drawn(message.drawn, message.at) : trouble(message.trouble)));
  place ??= startPlace();
  const { post, end, apart } = await place;
  return {
    sheets: canvases => {
      const sheets = apart ? canvases.map(canvas => canvas.transferControlToOffscreen()) : [...canvases];
      post({ type: 'sheets', view, sheets }, apart ? (sheets as OffscreenCanvas[]) : []);
    },
    table: table => post({ type: 'table', view, table }, []),
    frame: (number, pictures, shared) => {
      const given = pictures.map(({ rows, columns, packed, codes }) => {
        const whole = !shared && codes.byteLength === codes.buffer.byteLength;
        return { rows, columns, packed, codes: whole ? codes : codes.slice() };
      });
      post({ type: 'frame', view, number, pictures: given }, given.map(picture => picture.codes.buffer));
    },
    close: () => {
      post({ type: 'close', view }, []);
      if (hearers.delete(view) && hearers.size === 0) {
        end();
        place = null;
      }
    }
  };
}

/** A worker, or the page itself where there can be none. */
async function startPlace(): Promise<Place> {
  const worker = await startWorker();
  if (worker) {
    worker.onmessage = event => tell(event.data as FromDrawing);
    worker.onerror = event => [...hearers.keys()].forEach(view => tell({ view, trouble: event.message }));
    return { post: (message, transfer) => worker.postMessage(message, transfer), end: () => worker.terminate(), apart: true };
  }
  return { post: drawing(unpack, paint, tell), end: () => undefined, apart: false };
}

async function startWorker(): Promise<Worker | null> {
  try {
    const worker = new Worker(`data:text/javascript,${encodeURIComponent(SOURCE)}`);
    const able = await new Promise<boolean>(resolve => {
      worker.onmessage = event => resolve(event.data === true);
      worker.onerror = () => resolve(false);
      setTimeout(() => resolve(false), START_TIMEOUT);
    });
    if (able && 'transferControlToOffscreen' in HTMLCanvasElement.prototype) {
      return worker;
    }
    worker.terminate();
  } catch {
    // the page's rules forbid it
  }
  return null;
}
