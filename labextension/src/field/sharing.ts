// What draws the fields of a page, shared by all of them: the page itself, or, where the notebook server sends pictures
// straight to it (kernel/channel.ts), a worker, so that neither pictures nor unpacking and painting wait for the page.

import { paint } from './colours';
import { drawing, type FromDrawing, type Pictures, type ToDrawing } from './drawing';
import { scatter } from './scatter';
import { streaming, type ToStreaming } from './streaming';
import { unpack } from './unpacking';

const START_TIMEOUT = 2000; // milliseconds; a page whose rules forbid workers may never hear from one

// As text. A browser that lacks something says false.
const SOURCE = `
const hear = (${drawing})(${unpack}, ${paint}, ${scatter}, message => postMessage(message));
const stream = (${streaming})((view, pictures) => hear({ type: 'frame', view, ...pictures }));
onmessage = ({ data }) => {
  if (data.type === 'stream' || data.type === 'close') {
    stream(data);
  }
  if (data.type !== 'stream') {
    hear(data);
  }
};
postMessage([typeof OffscreenCanvas, typeof requestAnimationFrame, typeof DecompressionStream].every(kind => kind === 'function'));
`;

/** Draws the frames of one view. */
export interface Painter {
  /** From this frame on, on these canvases, which hold nothing yet. */
  sheets(number: number, canvases: readonly HTMLCanvasElement[]): void;
  /** With these palettes, of 256 pixels each. */
  tables(tables: Record<string, Uint32Array>): void;
  /** One picture for each canvas. Takes the memory of the codes, unless `shared`. */
  frame(pictures: Pictures, shared: boolean): void;
  close(): void;
}

/** Where the pictures of a model come from, if not by the page. */
export interface Source {
  model: string;
  address: string;
}

interface Place {
  post(message: ToDrawing | ToStreaming, transfer: Transferable[]): void;
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
export async function openPainter(
  source: Source | null,
  drawn: (number: number, at: number) => void,
  trouble: (text: string) => void
): Promise<Painter> {
  const view = ++views;
  hearers.set(view, message => ('drawn' in message ? drawn(message.drawn, message.at) : trouble(message.trouble)));
  place ??= startPlace(source !== null);
  const { post, end, apart } = await place;
  if (source && apart) {
    post({ type: 'stream', view, ...source }, []);
  }
  return {
    sheets: (number, canvases) => {
      const sheets = apart ? canvases.map(canvas => canvas.transferControlToOffscreen()) : [...canvases];
      post({ type: 'sheets', view, number, sheets }, apart ? (sheets as OffscreenCanvas[]) : []);
    },
    tables: tables => post({ type: 'tables', view, tables }, []),
    frame: ({ number, palette, pictures }, shared) => {
      const given = pictures.map(({ rows, columns, packed, particles, codes }) => {
        const whole = !shared && codes.byteLength === codes.buffer.byteLength;
        return { rows, columns, packed, particles, codes: whole ? codes : codes.slice() };
      });
      post({ type: 'frame', view, number, palette, pictures: given }, given.map(picture => picture.codes.buffer));
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

/** A worker if it will stream, or the page itself; so too where the page's rules forbid workers that are text. */
async function startPlace(streams: boolean): Promise<Place> {
  const worker = streams ? await startWorker() : null;
  if (worker) {
    worker.onmessage = event => tell(event.data as FromDrawing);
    worker.onerror = event => [...hearers.keys()].forEach(view => tell({ view, trouble: event.message }));
    return { post: (message, transfer) => worker.postMessage(message, transfer), end: () => worker.terminate(), apart: true };
  }
  const draw = drawing(unpack, paint, scatter, tell);
  return { post: message => message.type !== 'stream' && draw(message), end: () => undefined, apart: false };
}

async function startWorker(): Promise<Worker | null> {
  const address = URL.createObjectURL(new Blob([SOURCE], { type: 'text/javascript' }));
  try {
    const worker = new Worker(address);
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
  } finally {
    URL.revokeObjectURL(address);
  }
  return null;
}
