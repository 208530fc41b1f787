"""Flow: when the next frame may be sent, so that a slow page is never behind: few frames under way, the latest wins."""

from __future__ import annotations

from dataclasses import dataclass

UNDER_WAY = 5  # frames sent and not yet acknowledged; labextension/src/field/receipts.ts answers for three at once
FEW_UNDER_WAY = 2  # of a page that draws slowly, where frames under way wait for each other
SLOW_SECONDS = 1 / 16  # a frame, of such a page
FRAME_SECONDS = 1 / 40  # no screen needs more of a field
NEXT_SECONDS = 1 / 60  # between two frames at least: a page draws no more
LATE_SECONDS = 2 * FRAME_SECONDS  # that a frame may be late and those after it still come when they are due
SILENCE_SECONDS = 0.25  # without an acknowledgement: its messages wait behind a cell that runs
BLIND_SECONDS = 1 / 12  # between frames sent without acknowledgements, a rate that most pages draw
SLOWEST_SECONDS = 0.5  # a frame, of a page that is slow; what takes longer is no page's doing
SILENT_SHARE = 1 / 30  # of the time without an answer lies between two frames: hours of it are few hundreds
PATIENCE = 4  # frames of a slow page that make a silence


@dataclass(slots=True)
class Flow:
    """Counts frames from 1. Times are seconds of one monotonic clock; the caller holds a lock."""

    sent: int = 0
    acknowledged: int = 0
    _last_sent: float = -1e9
    _due: float = -1e9  # when the next frame is
    _last_heard: float = -1e9
    _asked: float = -1e9  # when a page has asked for something
    _pace: float = 0.0  # seconds a frame that the page took for the last one it answered
    _slow: bool = False  # whether the page draws slowly
    _rested: bool = False  # whether no frame was under way since the last one that it answered

    def seconds_to_wait(self, now: float) -> float:
        """0 if a frame may go now, else how long not, unless an acknowledgement comes."""
        next_frame = max(self._due, self._last_sent + NEXT_SECONDS)
        if self.sent - self.acknowledged >= (FEW_UNDER_WAY if self._slow else UNDER_WAY):
            silence = self._last_heard + max(SILENCE_SECONDS, PATIENCE * self._pace)
            alone = SILENT_SHARE * (self._last_sent - max(self._last_heard, self._asked))
            next_frame = max(silence, self._last_sent + max(BLIND_SECONDS, self._pace, alone))
        return max(0.0, next_frame - now)

    def ask(self, now: float) -> None:
        """A frame is asked for, so a page may be there again."""
        self._asked = now

    def send(self, now: float) -> int:
        """A frame goes; returns its number."""
        if self.sent == self.acknowledged:
            self._last_heard = max(self._last_heard, now)  # silence counts from the first frame without an answer
            self._rested = True
        self._due = (self._due if now < self._due + LATE_SECONDS else now) + FRAME_SECONDS
        self._last_sent = now
        self.sent += 1
        return self.sent

    def acknowledge(self, number: int, now: float) -> None:
        """The page has drawn frame `number`; numbers that were never sent, or are old, change nothing."""
        if self.acknowledged < number <= self.sent:
            self._pace = min((now - self._last_heard) / (number - self.acknowledged), SLOWEST_SECONDS)
            if number > self.acknowledged + 1 or not self._rested:  # else that was the way there and back
                self._slow = self._pace > SLOW_SECONDS
            self._rested = False
            self.acknowledged = number
            self._last_heard = now
