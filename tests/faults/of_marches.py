"""Wrong edits of what ends a march: a step that is left undone, and who hears of it."""

from tests.faults.fault import Fault

LEAVING = "run.test_leaving"
AS_BEFORE = f"{LEAVING}:test_a_step_is_left_as_if_it_had_not_begun"
AGAIN = f"{LEAVING}:test_a_run_that_is_left_again_and_again_has_the_bits_of_one_that_is_not"
ENDED = f"{LEAVING}:test_steps_in_tiles_that_are_left_count_and_are_ended_when_somebody_looks"
AT_ONCE = f"{LEAVING}:test_an_interrupt_does_not_wait_for_the_end_of_a_step"

OF_MARCHES = (
    Fault("nobody looks whether a step shall be left", "march", "templates",
          "if (leaves(team)) return;\n        do_task(team,", "do_task(team,", AS_BEFORE, ("heat", 1)),
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
    Fault("a paused band of tiles begins anew", "march", "templates",
          "run.team.counters[k].next = march.paused_tasks[k];", "run.team.counters[k].next = 0;", AGAIN,
          ("wave in tiles", 2)),
    Fault("tiles that are paused go on with their first band", "march", "templates",
          "resumed ? run.march.paused_band : -1", "-1", AGAIN, ("wave in tiles", 2)),
    Fault("one thread does the first band of tiles alone", "march", "templates",
          "    if (team.size == 1) {\n        forget_tasks(team);\n", "    if (team.size == 1) {\n", AGAIN,
          ("heat in tiles", 1)),
    Fault("tiles are not paused", "march", "templates",
          "            if (leaves(team)) return;\n", "", ENDED, ("heat", 1)),
    Fault("numbers after paused tiles are those of before", "march", "backends.openmp_instance",
          "words = self._globals if to_come is None else to_come", "words = self._globals", ENDED, ("time", 1)),
    Fault("fields are looked at amid steps", "march", "backends.openmp_instance",
          "        self._end_steps()\n        slot = next(", "        slot = next(", ENDED, ("heat", 1)),
    Fault("a param is set amid steps", "march", "backends.openmp_instance",
          "        self._end_steps()\n        self._globals[slot.index", "        self._globals[slot.index", ENDED,
          ("heat", 1)),
    Fault("a run goes on amid steps", "march", "backends.openmp_instance",
          "if not self._end_steps(None if self.files is None else request.stop):", "if False:", ENDED,
          ("time", 1)),
    Fault("conditions that hold after paused tiles are not told of", "march", "templates",
          "are_met(march, run.globals_of(run.levels)) ? UNTIL : march.done", "march.done",
          f"{LEAVING}:test_a_condition_that_holds_after_steps_that_are_left_has_ended_the_run"),
)  # fmt: skip
