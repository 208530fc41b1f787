// Frames whose picture is not on the screen yet; their words wait for it. Imports nothing.

/**
 * Hands on each frame once its picture is drawn, whichever of the two is known first. A frame is never handed on when a
 * later picture is there, so that what is said of a picture is never older than what was said before.
 */
export class Undrawn<Frame extends { number: number }> {
  constructor(private readonly show: (frame: Frame) => void) {}

  /** A frame has come; its picture may have come before it, by another way. */
  take(frame: Frame): void {
    if (frame.number === this.last) {
      this.show(frame);
    } else if (frame.number > this.last) {
      this.waiting.push(frame);
    }
  }

  /** The picture of this number is on the screen, and those before it are or never will be. */
  drawn(number: number): void {
    this.last = number;
    const frame = this.waiting.find(each => each.number === number);
    this.waiting = this.waiting.filter(each => each.number > number);
    if (frame) {
      this.show(frame);
    }
  }

  private waiting: Frame[] = [];
  private last = 0;
}
