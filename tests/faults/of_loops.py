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
          "home.get(kernel.name) != made[name].before", "False",
          "run.test_while_loops:test_what_a_loop_ends_with_belongs_to_its_kernel"),
    Fault("numbers of before a loop are reduced in each turn", "while loops", "frontend.while_loops",
          "self.turn.kept[index] = kept.name", "self.begin.kept[index] = kept.name",
          "run.test_while_loops:test_numbers_of_before_the_loop_are_reduced_once"),
)  # fmt: skip
