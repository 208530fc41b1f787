"""Wrong edits of what ends a march: a step that is left undone, and who hears of it."""

from tests.faults.fault import Fault

LEAVING = "run.test_leaving"
AS_BEFORE = f"{LEAVING}:test_a_step_is_left_as_if_it_had_not_begun"
AT_ONCE = f"{LEAVING}:test_an_interrupt_does_not_wait_for_the_end_of_a_step"

OF_MARCHES = (
    Fault("nobody looks whether a step shall be left", "march", "templates",
          "if (leaves(team)) return;\n        body(task);", "body(task);", AS_BEFORE, ("heat", 1)),
    Fault("threads look between the planes of no chain", "march", "templates",
          "        if (leaves(run.team)) return;\n", "",
          f"{LEAVING}:test_one_thread_leaves_a_chain_between_two_planes"),
    Fault("a step that updates a field where it lies is left", "march", "codegen.cpp.leaving",
          "return min(writes)", "return len(step.launches)",
          f"{LEAVING}:test_a_step_that_updates_a_field_where_it_lies_is_ended"),
    Fault("what a step that is left has noted stays", "march", "templates",
          "    memcpy(march.globals, run.kept, size_t(march.block_bytes));\n", "",
          f"{LEAVING}:test_indices_outside_of_a_step_that_is_left_are_no_error"),
    Fault("a step that is left counts as timed", "march", "templates",
          "march.timed[run.observed] -= run.levels;", "", AS_BEFORE, ("heat", 1)),
    Fault("a run that is stopped waits for the end of its step", "march", "run.marching",
          "self._slice_end.set_at_once()", "self._slice_end.set()", AT_ONCE),
    Fault("an interrupt is heard when compiled code returns", "march", "run.interruption",
          "with _heard(stop) if at_once else nullcontext():", "with nullcontext():", AT_ONCE),
)  # fmt: skip
