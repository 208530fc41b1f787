"""Messages of a page become records, or nothing."""

import pytest

from workbench.views.field.controls import (
    ChooseLimits,
    Colours,
    Cutting,
    Pace,
    Pause,
    Play,
    Point,
    Reset,
    SetParam,
    StepOnce,
    Turn,
    read_control,
)


@pytest.mark.parametrize(
    ("message", "control"),
    [
        ({"type": "play"}, Play()),
        ({"type": "pause"}, Pause()),
        ({"type": "step"}, StepOnce()),
        ({"type": "reset"}, Reset()),
        ({"type": "pace", "value": None}, Pace(None)),
        ({"type": "pace", "value": 10}, Pace(10.0)),
        ({"type": "pace", "value": 0}, Pace(0.1)),
        ({"type": "set", "name": "c", "value": 2.5}, SetParam("c", 2.5)),
        ({"type": "set", "name": "on", "value": True}, SetParam("on", 1.0)),
        ({"type": "cut", "axis": 2, "index": 5}, Cutting(2, 5)),
        ({"type": "turn", "across": 1, "up": 2}, Turn(1, 2)),
        ({"type": "limits", "value": "free"}, ChooseLimits("free")),
        ({"type": "palette", "value": "cividis"}, Colours("cividis")),
        ({"type": "point", "column": 3, "row": 4}, Point(3, 4)),
    ],
)
def test_message_is_read(message, control):
    assert read_control(message) == control


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"type": 3},
        {"type": "explode"},
        {"type": "set", "name": "c"},
        {"type": "set", "name": "c", "value": "2"},
        {"type": "cut", "axis": "z", "index": 1},
        {"type": "pace"},
        {"type": "point", "column": 1.5, "row": 0},
    ],
)
def test_what_no_page_sends_is_ignored(message):
    assert read_control(message) is None
