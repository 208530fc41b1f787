"""Waiting for what another thread does."""

import threading

PATIENCE = 60


def wait_for(condition):
    pause = threading.Event()
    for _ in range(PATIENCE * 100):
        if condition():
            return
        pause.wait(0.01)
    raise AssertionError("it never happened")
