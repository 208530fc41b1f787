"""Threads that do one thing at the same time."""

import threading


def at_the_same_time(work, arguments):
    """Call `work` with each argument, in a thread of its own, and wait for all."""
    threads = [threading.Thread(target=work, args=(each,)) for each in arguments]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
