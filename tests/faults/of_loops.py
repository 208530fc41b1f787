"""Wrong edits of loops over whole arrays: of their front end and of what drives them."""

from tests.faults.fault import Fault

OF_LOOPS = (
    Fault("a step that was broken off goes on after a write", "while loops", "backends.looping",
          "        self._turns.progress = None\n        self.instance.write_field(name, values)",
          "        self.instance.write_field(name, values)",
          "run.test_while_loops:test_a_step_that_is_broken_off_goes_on_where_it_was_unless_something_is_written",
          ("reference", 0)),
    Fault("a carried value loses its outside", "while loops", "frontend.while_loops",
          "        return term.trace.emit(lambda pool: pool.extend(term.index, sides, given)).in_order(term.order)",
          "        return term",
          "run.test_while_loops:test_turns_inside_a_step_are_steps_of_a_field_with_its_boundary",
          ('"periodic"', "reflect(-1)")),
    Fault("what init reads may be made by a loop of step", "while loops", "frontend.lowering",
          "made[name].before not in homes", "False",
          "run.test_while_loops:test_what_a_loop_ends_with_belongs_to_its_kernel"),
    Fault("numbers of before a loop are reduced in each turn", "while loops", "frontend.while_loops",
          "for part in parts:\n                part.kept", "for part in [self.begin]:\n                part.kept",
          "run.test_while_loops:test_numbers_of_before_the_loop_are_reduced_once"),
    Fault("numbers of before two loops are reduced in turns of the outer one", "while loops", "frontend.while_loops",
          "parts = self.trace.pool, self.trace.loops[self.place :], self.parts",
          "parts = self.trace.pool, [], [self.turn]",
          "run.test_nested_loops:test_numbers_of_before_the_outer_loop_are_reduced_once"),
    Fault("what a branch inside of a loop needs is computed before the loop", "while loops", "frontend.while_loops",
          "part.in_branch = True", "part.in_branch = False",
          "run.test_nested_loops:test_a_function_that_is_not_chosen_in_a_turn_does_not_run", ("openmp",)),
    Fault("the next turn of a loop goes on with inner loops that have ended", "while loops", "backends.looping",
          "progress.turns, progress.inside = progress.turns + 1, None", "progress.turns += 1",
          "run.test_nested_loops:test_the_axes_of_values_are_found_for_both_loops"),
)  # fmt: skip
