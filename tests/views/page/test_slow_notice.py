"""What takes long says so, and the result takes the notice's place."""

from contextvars import ContextVar

import pytest

from workbench.views.page import slow_notice
from workbench.views.page.slow_notice import SlowNotice


class Handle:
    def __init__(self, shown):
        self.shown = shown

    def update(self, value, raw=False):
        self.shown[-1] = value


@pytest.fixture
def shown(monkeypatch):
    found = []

    def display(value, raw=False, display_id=None):
        found.append(value)
        return Handle(found)

    monkeypatch.setattr(slow_notice, "display", display)
    return found


def wait_for(notice):
    notice._timer.join()  # the timer fires; no sleep


def test_a_quick_result_is_shown_alone(shown):
    with SlowNotice("compiling", seconds=1000) as notice:
        notice.replace("card")
    assert shown == ["card"]


def test_a_slow_result_replaces_the_notice(shown):
    with SlowNotice("compiling", seconds=1e-3) as notice:
        wait_for(notice)
        assert shown == [{"text/plain": "compiling"}]
        notice.replace("card")
    assert shown == ["card"]


def test_a_notice_is_shown_in_the_cell_that_waits(monkeypatch):
    cell, seen = ContextVar("cell", default="somebody else's"), []
    cell.set("this")
    monkeypatch.setattr(slow_notice, "display", lambda *_, **__: seen.append(cell.get()) or Handle([""]))
    with SlowNotice("compiling", seconds=1e-3) as notice:
        wait_for(notice)
    assert seen == ["this"]


def test_a_line_is_left_where_the_notice_was(shown):
    with SlowNotice("laying out", seconds=0) as notice:
        assert shown == [{"text/plain": "laying out"}]
        notice.leave("laid out")
    with SlowNotice("laying out", seconds=1000) as notice:
        notice.leave("laid out")
    assert shown == [{"text/plain": "laid out"}]


def test_an_error_leaves_no_notice(shown):
    def fail(notice):
        wait_for(notice)
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"), SlowNotice("compiling", seconds=1e-3) as notice:
        fail(notice)
    assert shown == [{"text/plain": ""}]


def test_a_quick_error_shows_nothing(shown):
    with pytest.raises(ValueError, match="broken"), SlowNotice("compiling", seconds=1000):
        raise ValueError("broken")
    assert shown == []
