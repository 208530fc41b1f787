// Receipts: of which drawn frames the kernel process is told. Imports nothing.
//
// Each message to the kernel process takes time there, and makes it send two more to every page, that it is busy and that
// it is idle, which the page then shows. Five frames may be under way (workbench/views/page/flow.py), so of those that
// follow each other quickly the third one is answered for all three; two alone only if no third follows. To a page that
// draws slowly two are sent, and it answers each at once.

const TOGETHER = 3;
const QUICK = 60; // milliseconds from one frame to the next; they follow each other in 25
const PATIENCE = 35; // milliseconds

export class Receipts {
  constructor(
    private readonly send: (number: number) => void,
    private readonly later: (callback: () => void, milliseconds: number) => void,
    private readonly now: () => number
  ) {}

  /** This frame is on the screen, and those before it are or never will be. */
  drawn(number: number): void {
    const at = this.now();
    const quick = at - this.before < QUICK;
    this.before = at;
    this.last = number;
    if (quick && number > this.told && number < this.told + TOGETHER) {
      this.later(() => this.tell(number), PATIENCE);
    } else {
      this.tell(number);
    }
  }

  /** Unless another was drawn since, which is or will be answered for this one too. */
  private tell(number: number): void {
    if (number === this.last) {
      this.told = number;
      this.send(number);
    }
  }

  private told = 0;
  private last = 0;
  private before = -Infinity;
}
