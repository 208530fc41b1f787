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
