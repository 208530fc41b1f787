// Latest wins: whatever arrives between two animation frames, only the last one is drawn. Imports nothing.

export class Latest<Value> {
  /** `request` calls back before the next painting, as requestAnimationFrame does. */
  constructor(
    private readonly draw: (value: Value) => void,
    private readonly request: (callback: () => void) => void
  ) {}

  /** Draw this one at the next painting, unless another comes before. */
  put(value: Value): void {
    const asked = this.waiting !== null;
    this.waiting = { value };
    if (!asked) {
      this.request(() => {
        const next = this.waiting;
        this.waiting = null;
        if (next) {
          this.draw(next.value);
        }
      });
    }
  }

  /** Forget what waits. */
  clear(): void {
    this.waiting = null;
  }

  private waiting: { value: Value } | null = null;
}

/** A request for Latest: calls back at once, or so many `milliseconds` after the last time if that is later. */
export function atMostEvery(
  milliseconds: number,
  later: (callback: () => void, milliseconds: number) => void,
  now: () => number
): (callback: () => void) => void {
  let last = -Infinity;
  return callback => {
    const act = (): void => {
      last = now();
      callback();
    };
    const wait = last + milliseconds - now();
    if (wait > 0) {
      later(act, wait);
    } else {
      act();
    }
  };
}
