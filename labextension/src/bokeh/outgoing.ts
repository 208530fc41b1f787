// What a drawing tells the kernel process: of many changes of one property only the last, a few times a second; taps
// and other events at once. Knows neither Bokeh nor Jupyter.

const MILLISECONDS = 60;

export interface Change {
  sync?: boolean;
  kind: string;
  attr?: string;
  model?: { id: string; type: string };
}

/** Properties of the page's own layout are nobody else's business: only ranges and selections are. */
export function isTold(change: Change): boolean {
  if (change.sync === false) {
    return false;
  }
  if (change.kind === 'MessageSent') {
    return true;
  }
  const type = change.model?.type ?? '';
  return change.kind === 'ModelChanged' && (/Range1d$/.test(type) || type === 'Selection');
}

export class Outgoing<Told extends Change> {
  constructor(
    private readonly tell: (changes: Told[]) => void,
    private readonly later: (callback: () => void, milliseconds: number) => void
  ) {}

  put(change: Told): void {
    if (!isTold(change)) {
      return;
    }
    if (change.kind === 'MessageSent') {
      this.flush();
      this.tell([change]);
      return;
    }
    this.waiting.set(`${change.model?.id} ${change.attr}`, change);
    if (!this.armed) {
      this.armed = true;
      this.later(() => {
        this.armed = false;
        this.flush();
      }, MILLISECONDS);
    }
  }

  private flush(): void {
    const changes = [...this.waiting.values()];
    this.waiting.clear();
    if (changes.length) {
      this.tell(changes);
    }
  }

  private readonly waiting = new Map<string, Told>();
  private armed = false;
}
