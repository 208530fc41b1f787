"""Searches: one driver, several places, and a strategy that goes on in the state in which it was."""

import heapq
import random
import subprocess
import sys
import threading

import pytest

from workbench.tuning.search import Search, Threads, Told, drive
from workbench.tuning.search_space import SearchSpace, TuningParameter
from workbench.tuning.strategies.base import PointOrigin
from workbench.tuning.strategies.registry import STRATEGIES

SPACE = SearchSpace(tuple(TuningParameter(name, tuple(map(str, range(6))), ordered=True) for name in "ABCD"))


def score(point):
    return None if sum(point) % 7 == 0 else 1.0 / (1 + sum((at - 2) ** 2 for at in point) + 0.3 * point[0] * point[1])


class Virtual:
    """Places whose clock is a number: each point takes as long as `seconds` says."""

    def __init__(self, count, seconds):
        self.count, self.seconds, self.now, self.running = count, seconds, 0.0, []

    @property
    def under_way(self):
        return len(self.running)

    def begin(self, begun):
        heapq.heappush(self.running, (self.now + self.seconds(begun), begun.asked, begun))

    def finished(self):
        self.now, _, begun = heapq.heappop(self.running)
        return begun, score(begun.point)


def driven(name, places, budget, history=(), seed=3):
    """Told rows of a search, the earlier ones included."""
    rows = list(history)
    search = Search(STRATEGIES[name].make(SPACE, ((0, 0, 0, 0),), seed))
    search.go_on(rows)

    def take(begun, result):
        rows.append(Told(begun.point, result, begun.asked, begun.after))
        return result, ()

    drive(search, places, take, lambda idle: len(rows) + places.under_way < budget)
    return rows


@pytest.mark.parametrize("name", ["random", "paraiso", "portfolio"])
def test_two_workers_are_nearly_twice_as_fast(name):
    """Tasks that only sleep, some three times as long as others, on a clock that is a number."""

    def seconds(begun):
        return 1.0 + 2.0 * random.Random(begun.asked).random()

    clocks = []
    for count in (1, 2):
        places = Virtual(count, seconds)
        assert len(driven(name, places, 100)) == 100
        clocks.append(places.now)
    assert clocks[0] / clocks[1] >= 1.8


def test_two_threads_measure_at_the_same_time():
    """Each waits for the other, so that one alone would never end."""
    meeting = threading.Barrier(2, timeout=60)

    def work(begun):
        meeting.wait()
        return score(begun.point)

    places = Threads(work, 2)
    try:
        assert len(driven("exhaustive", places, 10)) == 10
    finally:
        places.close()


def test_a_place_is_one_thread_until_it_is_closed():
    """What it starts ends with it: a worker process would have to be started anew for each point."""
    seen = []
    places = Threads(lambda begun: seen.append(threading.get_ident()) or score(begun.point), 1)
    try:
        assert len(driven("exhaustive", places, 10)) == 10
        assert len(set(seen)) == 1
    finally:
        places.close()
    assert threading.active_count() == len([thread for thread in threading.enumerate() if thread.name != "measure"])


def test_script_that_ends_waits_for_no_measurement():
    """As after Ctrl-C: a candidate that hangs would hold the terminal for a minute."""
    script = """
import time
from workbench.tuning.search import Begun, Threads
from workbench.tuning.strategies.base import PointOrigin

Threads(lambda begun: time.sleep(600), 1).begin(Begun((0,), 1, 0, PointOrigin()))
print("the end")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout == "the end\n"


def test_what_a_measurement_raises_ends_the_search():
    places = Threads(lambda begun: 1 / 0, 2)
    with pytest.raises(ZeroDivisionError):
        driven("random", places, 10)
    places.close()


@pytest.mark.parametrize("name", STRATEGIES)
def test_no_point_is_measured_twice(name):
    rows = driven(name, Virtual(3, lambda begun: 1.0 + begun.asked % 3), 150)
    assert len({row.point for row in rows}) == len(rows) == 150


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("kept", [0, 1, 7, 40])
def test_search_goes_on_in_the_state_in_which_it_was(name, kept):
    """With one worker the rest is what it would have been, wherever the first run ended."""
    whole = driven(name, Virtual(1, lambda begun: 1.0), 60)
    assert driven(name, Virtual(1, lambda begun: 1.0), 60, whole[:kept]) == whole


@pytest.mark.parametrize("name", ["random", "paraiso", "portfolio"])
def test_points_that_were_under_way_are_begun_again_first(name):
    """With three workers: what had no score when the first run ended is measured once."""
    whole = driven(name, Virtual(3, lambda begun: 1.0 + begun.asked % 3), 40)
    kept = whole[:20]
    lost = [row for row in whole[20:] if row.asked <= max(row.asked for row in kept)]
    assert lost
    again = driven(name, Virtual(3, lambda begun: 1.0), 40, kept)
    assert len({row.point for row in again}) == 40
    first = {row.point for row in again[20:23]}
    assert {row.point for row in lost} <= first


@pytest.mark.parametrize("lost", range(5, 15))
def test_lost_point_is_proposed_again_by_a_strategy_that_goes_by_what_it_was_told(lost):
    """How many scores were told when a lost point was begun is in no row, but all three places were busy."""

    class ByScores:
        """Proposes a point of its own for each number of scores that it was told of and of points it was asked for."""

        told = asked = 0

        def ask(self):
            self.asked += 1
            return (self.told, self.asked)

        def tell(self, point, score, costs=()):
            self.told += 1

        def origin(self, point):
            return PointOrigin()

    whole, search = [], Search(ByScores())
    under_way = [search.begin() for _ in range(3)]
    while len(whole) < 15:
        ended = next(begun for begun in under_way if begun.asked != lost)
        under_way.remove(ended)
        whole.append(Told(ended.point, 1.0, ended.asked, ended.after))
        search.end(ended, 1.0)
        under_way.append(search.begin())
    again = Search(ByScores())
    again.go_on(whole)
    assert again.begin().point == next(begun.point for begun in under_way if begun.asked == lost)


def test_points_known_before_are_answered_at_once():
    known = {point: score(point) for point in list(SPACE)[:50]}
    search = Search(STRATEGIES["exhaustive"].make(SPACE, (), 0), known)
    assert search.begin().point == list(SPACE)[50]


def test_strategy_without_new_points_ends():
    one = SearchSpace((TuningParameter("A", ("x",)),))
    search = Search(STRATEGIES["paraiso"].make(one, ((0,),), 0))
    search.end(search.begin(), 1.0)
    assert search.begin() is None


def test_looking_for_a_new_point_ends_with_the_budget():
    """Exhaustive search met twenty thousand points of one program, one after the other, long after its time."""

    class Same:
        axes = (3,)

        def of(self, point):
            return (0.0,)

        def key(self, point):
            return 0

    asked = []
    search = Search(STRATEGIES["exhaustive"].make(SPACE, (), 0), outlook=Same())
    search.end(search.begin(), 1.0)
    assert search.begin(lambda: bool(asked.append(1))) is None
    assert asked == [1]
