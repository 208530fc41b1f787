// Pictures that come from the notebook server straight to the worker (workbench/notebook/direct_frames.py): what the page
// is busy with does not keep them from the screen. Imports nothing that runs.

import type { Codes, Pictures } from './drawing';

export type ToStreaming =
  /** Draw the pictures of this model, which come from this address. */
  | { type: 'stream'; view: number; model: string; address: string }
  | { type: 'close'; view: number };

/** What a frame's message says, as far as a picture needs it (workbench/views/field/messages.py). */
interface Said {
  comm_id: string;
  data: { content: { number: number; palette: string; planes: Omit<Codes, 'codes'>[] } };
}

/**
 * Keeps one connection to each address while a view needs it; returns what hears messages. An address that never
 * answers has no such thing, and the pictures come by the page; one that did is tried again. Goes to the worker as text
 * (sharing.ts): it may use nothing but its argument and what browsers give to workers.
 */
export function streaming(draw: (view: number, pictures: Pictures) => void): (message: ToStreaming) => void {
  interface Stream {
    models: Map<number, string>; // of views
    socket: WebSocket;
    tries: number; // that are left, 0 until it was open once
  }
  const [TRIES, FIRST] = [7, 1000]; // milliseconds until the first one, twice as many until the next
  const streams = new Map<string, Stream>();

  /** The content of a message, then its bodies. It begins with the number of its offsets and these, of 64 bits each. */
  function parts(data: ArrayBuffer): Uint8Array<ArrayBuffer>[] {
    const view = new DataView(data);
    const [count = 0, ...offsets] = Array.from({ length: 1 + Number(view.getBigUint64(0, true)) }, (_, index) =>
      Number(view.getBigUint64(8 * index, true))
    );
    return offsets.slice(4, count - 1).map((offset, index) => new Uint8Array(data, offset, (offsets[index + 5] as number) - offset));
  }

  function hear(stream: Stream, data: ArrayBuffer): void {
    const [content, ...bodies] = parts(data);
    const { comm_id: model, data: said } = JSON.parse(new TextDecoder().decode(content)) as Said;
    const { number, palette, planes } = said.content;
    const pictures = planes.map(({ rows, columns, packed, particles }, index) => {
      return { rows, columns, packed, particles, codes: bodies[index] ?? new Uint8Array(0) };
    });
    stream.models.forEach((shown, view) => {
      if (shown === model) {
        draw(view, { number, palette, pictures });
      }
    });
  }

  function connect(address: string): WebSocket {
    const socket = new WebSocket(address);
    const own = (): Stream | null => {
      const stream = streams.get(address);
      return stream?.socket === socket ? stream : null;
    };
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => Object.assign(own() ?? {}, { tries: TRIES });
    socket.onmessage = event => {
      const stream = own();
      if (stream) {
        hear(stream, event.data as ArrayBuffer);
      }
    };
    socket.onclose = () => {
      const stream = own();
      if (stream && stream.tries > 0) {
        const wait = FIRST * 2 ** (TRIES - stream.tries--);
        setTimeout(() => {
          if (own()) {
            stream.socket = connect(address);
          }
        }, wait);
      }
    };
    return socket;
  }

  return message => {
    const { view } = message;
    if (message.type === 'stream') {
      const { address, model } = message;
      const stream = streams.get(address) ?? { models: new Map(), socket: connect(address), tries: 0 };
      stream.models.set(view, model);
      streams.set(address, stream);
      return;
    }
    streams.forEach(({ models, socket }, address) => {
      if (models.delete(view) && models.size === 0) {
        streams.delete(address);
        socket.close();
      }
    });
  };
}
