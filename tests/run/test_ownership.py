"""Ownership: who may touch a state, and when."""

import threading

import pytest

from workbench.errors import RunError
from workbench.run.ownership import Owner

PATIENCE = 60


def in_thread(action):
    """Start `action` in a thread; returns the thread and the list that takes its result or error."""
    results = []

    def body():
        try:
            results.append(action())
        except Exception as error:
            results.append(error)

    thread = threading.Thread(target=body, daemon=True)
    thread.start()
    return thread, results


def wait_until_posted(owner):
    while not owner.waiting:
        owner.sleep(0.01)


def test_idle_actions_run_at_once():
    assert Owner().do(lambda: 3) == 3


def test_owner_runs_its_own_actions_at_once():
    owner = Owner()
    owner.reserve("it")
    owner.adopt()
    assert owner.do(lambda: owner.do(lambda: 3)) == 3


def test_other_threads_wait_to_be_served():
    owner, done = Owner(), []
    owner.reserve("it")
    owner.adopt()
    thread, results = in_thread(lambda: owner.do(lambda: done.append(threading.get_ident())))
    wait_until_posted(owner)
    assert not done
    owner.serve()
    thread.join(PATIENCE)
    assert done == [threading.get_ident()]
    assert results == [None]


def test_commands_keep_their_order():
    owner, done, threads = Owner(), [], []
    owner.reserve("it")
    owner.adopt()
    for number in range(5):
        threads.append(in_thread(lambda number=number: owner.do(lambda: done.append(number)))[0])
        while len(owner._commands) <= number:
            owner.sleep(0.01)
    owner.release()
    for thread in threads:
        thread.join(PATIENCE)
    assert done == [0, 1, 2, 3, 4]


def test_error_of_an_action_goes_to_who_posted_it():
    owner = Owner()
    owner.reserve("it")
    owner.adopt()
    thread, results = in_thread(lambda: owner.do(lambda: 1 // 0))
    wait_until_posted(owner)
    owner.serve()
    thread.join(PATIENCE)
    assert isinstance(results[0], ZeroDivisionError)


def test_one_owner_at_a_time():
    owner = Owner()
    owner.reserve("it")
    with pytest.raises(RunError, match="it is running already"):
        owner.reserve("it")
    owner.release()
    assert not owner.owned
    owner.reserve("it")


def test_the_owner_cannot_reserve_again():
    owner = Owner()
    owner.reserve("it")
    owner.adopt()
    with pytest.raises(RunError, match="it is running, and this is called during that run") as caught:
        owner.reserve("it")
    assert str(caught.value).endswith("Call it after the run has ended; set() and reading work in the callback.")


def test_what_is_wanted_at_once_ends_the_slice():
    owner = Owner()
    owner.reserve("it")
    owner.adopt()
    first, _ = in_thread(lambda: owner.do(lambda: None))
    wait_until_posted(owner)
    assert not owner.slice_end.is_set()
    second, _ = in_thread(lambda: owner.do(lambda: None, at_once=True))
    while not owner.slice_end.is_set():
        owner.sleep(0.01)
    owner.serve()
    assert not owner.slice_end.is_set()
    first.join(PATIENCE)
    second.join(PATIENCE)
