"""Processor seconds of tests, which other work on the machine does not change as it changes times by the clock."""

import os

import pytest


def processor_seconds():
    """Of this process and of its children that have ended, compilers among them."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class Times:
    """A pytest plugin: a line of seconds and node id for each test, in a file a worker in `folder`."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item, nextitem):
        before = processor_seconds()
        result = yield
        with (self.folder / f"{os.getpid()}.txt").open("a", encoding="utf-8") as file:
            file.write(f"{processor_seconds() - before:.2f} {item.nodeid}\n")
        return result
