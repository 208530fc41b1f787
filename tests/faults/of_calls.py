"""Wrong edits of what a later call of a function of arrays does and leaves out."""

from tests.faults.fault import Fault
from tests.kit.lines import Line

LATER = "run.test_later_calls"

OF_CALLS = (
    Fault("numbers that are returned are those of the last call", "calls", "backends.openmp_call",
          ".reshape(()).copy", ".reshape(()).view",
          f"{LATER}:test_numbers_that_are_returned_stay_as_they_are"),
    Fault("records of numbers are known by their types", "calls", "array_function",
          "and not _holds_array(value):", "and False:",
          f"{LATER}:test_records_of_numbers_are_known_while_a_function_is_traced", (Line,)),
    Fault("records of two classes are one call", "calls", "array_function",
          "return (_class(value), *map(_exact, value)) if", "return tuple(map(_exact, value)) if",
          f"{LATER}:test_records_of_other_classes_are_other_calls"),
    Fault("an array that begins between two words is lent", "calls", "backends.openmp_call",
          "if address & 7:", "if address == 1:",
          f"{LATER}:test_an_array_between_two_words_is_copied"),
    Fault("a forked process waits for its parent's threads", "calls", "backends.openmp_call",
          "each.march.threads = 1", "pass",
          f"{LATER}:test_parts_have_one_thread_in_a_forked_process"),
    Fault("a loop that goes on too long just ends", "calls", "backends.called_loops",
          "raise too_long(self._graph, each.loop)", "break",
          f"{LATER}:test_a_call_after_one_that_failed_in_a_turn"),
    Fault("loops in turns are left out", "calls", "backends.called_loops",
          "                    self._run(each.inside)\n", "",
          f"{LATER}:test_loops_in_turns_of_loops"),
    Fault("a turn is a request of its own", "calls", "backends.called_loops",
          "each.turn.run(most - turns)", "each.turn.run(1)",
          f"{LATER}:test_a_later_call_runs_few_functions_however_often_a_loop_turns", (60,)),
    Fault("named tuples are read at each call", "calls", "array_function",
          'elif kind is not tuple and not hasattr(kind, "_fields"):', "elif kind is not tuple:",
          f"{LATER}:test_named_tuples_are_read_once"),
    Fault("each name is looked at for what it means", "calls", "frontend.captured",
          "return self._is_told_by_identity and", "return False and",
          f"{LATER}:test_a_later_call_of_a_program_of_the_library_plans_and_looks_nothing_up"),
    Fault("a list that was changed in place is the same", "calls", "frontend.captured",
          "not any(each.text for each in traced.captured)", "True",
          f"{LATER}:test_names_that_change_are_told_of"),
)  # fmt: skip
