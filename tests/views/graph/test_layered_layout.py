"""The layered layout, by brute force where that is small enough."""

import itertools
import random

import pytest

from workbench.views.graph.layered_layout import _apart, _crossings, arrange

GAP = (30.0, 10.0)


def random_graph(seed, count, edges):
    chance = random.Random(seed)
    return [tuple(sorted(chance.sample(range(count), 2))) for _ in range(edges)]


@pytest.mark.parametrize("seed", range(20))
def test_edges_lead_right_and_boxes_stay_apart(seed):
    edges = random_graph(seed, 30, 45)
    chance = random.Random(seed)
    boxes = [(chance.uniform(10, 80), chance.uniform(10, 80)) for _ in range(30)]
    arranged = arrange(boxes, edges, GAP)
    places = arranged.places
    for start, end in edges:
        assert places[start][0] + boxes[start][0] / 2 <= places[end][0] - boxes[end][0] / 2
    for a, b in itertools.combinations(range(30), 2):
        apart_x = abs(places[a][0] - places[b][0]) - (boxes[a][0] + boxes[b][0]) / 2
        apart_y = abs(places[a][1] - places[b][1]) - (boxes[a][1] + boxes[b][1]) / 2
        assert apart_x > -1e-6 or apart_y > -1e-6
    for (x, y), (width, height) in zip(places, boxes, strict=True):
        assert x - width / 2 >= -1e-6
        assert x + width / 2 <= arranged.size[0] + 1e-6
        assert y - height / 2 >= -1e-6
        assert y + height / 2 <= arranged.size[1] + 1e-6


def test_long_edge_bends_once_a_layer_and_in_order():
    arranged = arrange([(20.0, 20.0)] * 4, [(0, 1), (1, 2), (2, 3), (0, 3)], GAP)
    bends = arranged.bends[3]
    assert [x for x, _ in bends] == [arranged.places[1][0], arranged.places[2][0]]
    assert all(abs(y - arranged.places[1][1]) >= 15 for _, y in bends)
    assert arranged.bends[:3] == ((), (), ())


def test_two_crossed_edges_are_uncrossed():
    arranged = arrange([(10.0, 10.0)] * 4, [(0, 3), (1, 2)], GAP)
    assert (arranged.places[0][1] - arranged.places[1][1]) * (arranged.places[3][1] - arranged.places[2][1]) > 0


@pytest.mark.parametrize("seed", range(10))
def test_crossings_are_counted_as_pairs(seed):
    chance = random.Random(seed)
    rows = [list(range(6)), list(range(6, 12))]
    right = [sorted(chance.sample(range(6, 12), 2)) if v < 6 else [] for v in range(12)]
    rank = [chance.random() for _ in range(12)]
    pairs = [(a, b) for a in range(6) for b in right[a]]
    expected = sum(
        1 for (a, b), (c, d) in itertools.combinations(pairs, 2) if (rank[a] - rank[c]) * (rank[b] - rank[d]) < 0
    )
    assert _crossings(rows, right, rank) == expected


def test_wanted_places_are_kept_where_they_fit_and_shared_where_not():
    assert _apart([0.0, 100.0], [10.0, 10.0], 5.0) == [0.0, 100.0]
    assert _apart([50.0, 50.0], [10.0, 10.0], 5.0) == [42.5, 57.5]


def test_what_nobody_feeds_stands_beside_its_reader():
    arranged = arrange([(10.0, 10.0)] * 4, [(0, 1), (1, 2), (3, 2)], GAP)
    assert arranged.places[3][0] == arranged.places[1][0]


def test_nothing_is_nowhere():
    assert arrange([], [], GAP).size == (0.0, 0.0)


def test_thousands_of_vertices_are_arranged():
    arranged = arrange([(46.0, 46.0)] * 4000, random_graph(1, 4000, 7000), GAP)
    assert len(arranged.places) == 4000
