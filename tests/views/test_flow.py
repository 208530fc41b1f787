"""Back-pressure, on a clock of its own."""

import itertools

import pytest

from workbench.views.flow import BLIND_SECONDS, FRAME_SECONDS, SILENCE_SECONDS, UNDER_WAY, Flow


def test_never_more_under_way_than_allowed_while_the_page_answers():
    flow, now = Flow(), 100.0
    for _ in range(50):
        while flow.seconds_to_wait(now) == 0:
            flow.send(now)
            now += FRAME_SECONDS
        assert flow.sent - flow.acknowledged <= UNDER_WAY
        now += SILENCE_SECONDS / 5
        flow.acknowledge(flow.acknowledged + 1, now)


def test_frames_keep_their_distance():
    flow = Flow()
    flow.send(10.0)
    assert flow.seconds_to_wait(10.0) == pytest.approx(FRAME_SECONDS)


def test_silent_page_gets_frames_at_the_blind_rate():
    flow, now, times = Flow(), 0.0, []
    while now < 10.0:
        now += flow.seconds_to_wait(now) + 1e-9
        flow.send(now)
        times.append(now)
    gaps = [later - earlier for earlier, later in itertools.pairwise(times[3:])]
    assert min(gaps) >= BLIND_SECONDS
    assert max(gaps) <= BLIND_SECONDS + 1e-6
    assert times[UNDER_WAY] - times[0] >= SILENCE_SECONDS


def test_silence_counts_from_the_first_unanswered_frame_not_from_an_old_answer():
    flow = Flow()
    flow.acknowledge(flow.send(0.0), 0.01)
    for _ in range(UNDER_WAY):
        flow.send(100.0)
    assert flow.seconds_to_wait(100.1) == pytest.approx(SILENCE_SECONDS - 0.1)


def test_answers_to_frames_never_sent_change_nothing():
    flow = Flow()
    flow.send(0.0)
    flow.acknowledge(7, 0.0)
    flow.acknowledge(-1, 0.0)
    assert flow.acknowledged == 0
