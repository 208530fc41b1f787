"""Back-pressure, on a clock of its own."""

import itertools

import pytest

from workbench.views.page.flow import (
    BLIND_SECONDS,
    FEW_UNDER_WAY,
    FRAME_SECONDS,
    LATE_SECONDS,
    NEXT_SECONDS,
    SILENCE_SECONDS,
    SLOW_SECONDS,
    UNDER_WAY,
    Flow,
)


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


def times_of(late):
    """When frames go to a page that answers at once, each so much later than the flow allows it."""
    flow, now, times = Flow(), 10.0, []
    for seconds in late:
        now += flow.seconds_to_wait(now) + seconds
        times.append(now)
        flow.acknowledge(flow.send(now), now)
    return times


def test_a_frame_that_is_late_delays_none_after_it():
    late = [0.0, *[0.3 * FRAME_SECONDS, 0.1 * FRAME_SECONDS, 0.5 * FRAME_SECONDS] * 20, *[0.0] * 3]
    times = times_of(late)
    assert times[-1] - times[0] == pytest.approx(FRAME_SECONDS * (len(late) - 1))
    assert min(later - earlier for earlier, later in itertools.pairwise(times)) >= NEXT_SECONDS


def test_after_a_rest_frames_keep_their_distance():
    times = times_of([0.0, 2 * LATE_SECONDS, 0.0])
    assert times[2] - times[1] == pytest.approx(FRAME_SECONDS)


def test_silent_page_gets_frames_at_the_blind_rate():
    times = unanswered(Flow(), 0.0, 2.5)
    gaps = [later - earlier for earlier, later in itertools.pairwise(times[UNDER_WAY + 1 :])]
    assert min(gaps) >= BLIND_SECONDS
    assert max(gaps) <= BLIND_SECONDS + 1e-6
    assert times[UNDER_WAY] - times[0] >= SILENCE_SECONDS


def unanswered(flow, begin, end):
    """When frames go that nobody answers."""
    now, times = begin, []
    while (now := now + flow.seconds_to_wait(now) + 1e-9) < end:
        flow.send(now)
        times.append(now)
    return times


def test_page_that_never_reads_gets_few_frames_in_a_night():
    times = unanswered(Flow(), 0.0, 8 * 3600.0)
    assert len(times) < 350
    gaps = [(later, later - earlier) for earlier, later in itertools.pairwise(times[UNDER_WAY + 1 :])]
    assert all(gap <= max(BLIND_SECONDS, later / 30) + 1e-6 for later, gap in gaps)


def test_page_that_comes_back_after_hours_is_shown_something_at_once():
    flow = Flow()
    last = unanswered(flow, 0.0, 8 * 3600.0)[-1]
    flow.ask(last + 1.0)
    assert flow.seconds_to_wait(last + 1.0) == 0.0
    again = unanswered(flow, last + 1.0, last + 3.0)
    assert len(again) == pytest.approx(2.0 / BLIND_SECONDS, abs=2)


def page_of(seconds_a_frame, until):
    """Frames sent to and drawn by a page that takes so long for each, and answers in order."""
    flow, now, free, answers = Flow(), 0.0, 0.0, []
    while now < until:
        now += min(flow.seconds_to_wait(now), answers[0][0] - now if answers else 1e9) + 1e-9
        while answers and answers[0][0] <= now:
            flow.acknowledge(answers.pop(0)[1], now)
        if flow.seconds_to_wait(now) == 0:
            free = max(free, now) + seconds_a_frame
            answers.append((free, flow.send(now)))
    return flow


def test_way_there_and_back_costs_a_page_no_frames():
    """One answer for three frames, as pages give them, 60 ms after the last one went."""
    flow, now, answers = Flow(), 0.0, []
    while now < 10.0:
        now += min(flow.seconds_to_wait(now), answers[0][0] - now if answers else 1e9) + 1e-9
        while answers and answers[0][0] <= now:
            flow.acknowledge(answers.pop(0)[1], now)
        if flow.seconds_to_wait(now) == 0:
            number = flow.send(now)
            answers += [(now + 0.06, number)] if number % 3 == 0 else []
    assert flow.acknowledged > 30 * 10.0


@pytest.mark.parametrize("seconds_a_frame", [0.03, 0.1, 0.2, 0.4])
def test_page_slower_than_the_blind_rate_is_not_left_behind(seconds_a_frame):
    flow = page_of(seconds_a_frame, 30.0)
    slow = seconds_a_frame > SLOW_SECONDS
    assert flow.sent - flow.acknowledged <= (FEW_UNDER_WAY if slow else UNDER_WAY)
    assert flow.acknowledged > 0.8 * 30.0 / max(seconds_a_frame, FRAME_SECONDS)


def test_page_that_was_busy_for_a_while_is_not_taken_for_a_slow_one_for_ever():
    flow = Flow()
    for number in range(UNDER_WAY):
        flow.send(number * FRAME_SECONDS)
    flow.acknowledge(1, 0.1)
    flow.acknowledge(2, 1.0)  # and the others wait
    flow.acknowledge(UNDER_WAY, 1.3)
    assert unanswered(flow, 2.0, 2.1) == pytest.approx([2.0, 2.0 + FRAME_SECONDS])
    flow.acknowledge(flow.sent, 2.1)
    assert len(unanswered(flow, 2.1, 2.3)) == UNDER_WAY


def test_way_there_and_back_of_one_frame_makes_no_slow_page():
    flow = Flow()
    for number in range(UNDER_WAY):
        flow.send(number * FRAME_SECONDS)
    flow.acknowledge(1, 0.2)
    assert flow.seconds_to_wait(0.2) == 0


def test_answers_held_up_by_a_long_cell_do_not_make_the_page_seem_slow():
    flow = Flow()
    for number in range(1, 101):
        flow.send(number * BLIND_SECONDS)
    for number in range(1, 101 - UNDER_WAY):  # all at once, as the cell ends
        flow.acknowledge(number, 60.0 + number * 1e-3)
    assert flow.seconds_to_wait(60.2) == pytest.approx(SILENCE_SECONDS, abs=0.11)


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
