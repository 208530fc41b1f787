// Receipts: of which drawn frames the kernel process is told. Imports nothing.
//
// Each message to the kernel process takes time there, and makes it send two more to every page, that it is busy and that
// it is idle. Two frames may be under way (workbench/views/page/flow.py), so the second one is answered for both, and the first
// alone only if no second follows.

const UNDER_WAY = 2;
const PATIENCE = 50; // milliseconds; frames follow each other in 25

export class Receipts {
  constructor(
    private readonly send: (number: number) => void,
    private readonly later: (callback: () => void, milliseconds: number) => void
  ) {}

  /** This frame is on the screen, and those before it are or never will be. */
  drawn(number: number): void {
    this.last = number;
    if (number > this.told && number < this.told + UNDER_WAY) {
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
}
