"""Samples on a busy machine: what disturbs a while is in some pieces of a measurement and not in others."""

from types import SimpleNamespace

import pytest

from workbench.tuning import sample as module
from workbench.tuning.sample import PIECE_SECONDS, SAMPLE_SECONDS, sample, steps_of_a_piece

STEP, SLICE, EVERY = 0.0001, 0.008, 0.012  # seconds: a step; how long another process runs; how often it begins


class Busy:
    """Steps beside a process that takes the processor away, again and again; the clock is what they take."""

    def __init__(self, monkeypatch, step=STEP, every=EVERY):
        self.now, self.step, self.every, self.next, self.calls = 0.0, step, every, 0.001, 0
        monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: self.now))

    def run(self, steps):
        begin, self.calls = self.now, self.calls + 1
        for _ in range(steps):
            self.now += self.step
            if self.now > self.next:
                self.now += SLICE
                self.next = self.now + self.every - SLICE
        return self.now - begin


def test_pieces_fall_between_disturbances(monkeypatch):
    """One march of 30 ms never does: it takes at least twice of what a step takes by itself."""
    busy = Busy(monkeypatch)
    steps = steps_of_a_piece(busy.run, 1, PIECE_SECONDS)
    assert PIECE_SECONDS <= steps * STEP <= 2 * PIECE_SECONDS
    assert [sample(busy.run, steps) for _ in range(7)] == pytest.approx([STEP] * 7)
    assert min(busy.run(300) / 300 for _ in range(7)) > 2 * STEP


def test_a_disturbed_look_does_not_make_pieces_short(monkeypatch):
    """The first step meets the other process and takes longer than a piece."""
    busy = Busy(monkeypatch)
    busy.next = 0.0
    assert steps_of_a_piece(busy.run, 1, PIECE_SECONDS) * STEP >= PIECE_SECONDS


def test_long_steps_are_run_once(monkeypatch):
    busy = Busy(monkeypatch, step=0.2)
    assert steps_of_a_piece(busy.run, 8, PIECE_SECONDS) == 8
    assert busy.calls == 1
    assert sample(busy.run, 8) == pytest.approx(0.2, rel=0.1)
    assert busy.calls == 2


def test_a_sample_on_a_device_is_one_piece(monkeypatch):
    quiet = Busy(monkeypatch, every=1e9)
    quiet.next = 1e9
    steps = steps_of_a_piece(quiet.run, 1, SAMPLE_SECONDS)
    assert steps * STEP >= SAMPLE_SECONDS
    before = quiet.calls
    assert sample(quiet.run, steps) == pytest.approx(STEP)
    assert quiet.calls == before + 1
