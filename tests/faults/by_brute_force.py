"""Wrong edits of planning that the brute-force oracles must notice: three or more for each of them."""

from tests.faults.fault import Fault

STORED = "planning.test_brute_allocation:test_exactly_what_is_chosen_or_forced_is_stored"
SUBSTITUTED = "planning.test_brute_allocation:test_loops_read_and_compute_what_substitution_finds"
DEFAULT = "planning.test_brute_allocation:test_the_default_is_never_worse_than_a_preset_and_seldom_far_from_the_best"
GROUPS = "planning.test_brute_grouping:test_groups_are_legal_and_as_few_as_possible"
LAUNCHES = "planning.test_brute_grouping:test_every_launch_finds_what_it_needs"
LIVES = "planning.test_brute_memory:test_arrays_in_one_slot_never_meet"
SLOTS = "planning.test_brute_memory:test_slots_are_few"
BITS = "planning.test_brute_genome:test_each_bit_changes_its_own_choice_and_nothing_else"
SPACE = "planning.test_brute_genome:test_every_allocation_goes_there_and_back_and_differs_from_every_other"
WILD = "planning.test_brute_genome:test_any_bits_are_a_genome_that_its_plan_gives_back"

OF_BRUTE_FORCE = (
    # -- allocation
    Fault("what extend() looks at may be recomputed", "allocation", "planning.allocation",
          "**dict.fromkeys(extended,", "**dict.fromkeys(extended & set(stored),", STORED),
    Fault("a shifted value may be stored", "allocation", "planning.allocation",
          'return Storage.DELAYED, "a shifted value is a read at an offset; store the value itself"',
          'return None, ""', STORED),
    Fault("a choice to recompute is not heard", "allocation", "planning.allocation",
          "Storage.DELAYED if delayed else None", "None", STORED),
    Fault("what costs more than it saves is stored", "allocation", "planning.search",
          "if gained > 1e-9", "if gained < 1e-9", DEFAULT),
    Fault("what is computed again costs nothing", "allocation", "planning.walking",
          "work += times * weights[index]", "work += 0.0", DEFAULT),
    Fault("a Shift of a formula goes the wrong way", "allocation", "planning.emission",
          "tuple(a - b for a, b in zip(offset, node.instruction.offset, strict=True))",
          "tuple(abs(a - b) for a, b in zip(offset, node.instruction.offset, strict=True))", SUBSTITUTED),
    Fault("a stored value is recomputed where it is read", "allocation", "planning.emission",
          "storage[index] in STORED and not by_formula", "storage[index] is Storage.EXISTING and not by_formula",
          SUBSTITUTED),
    # -- grouping
    Fault("a value joins the first group there is", "grouping", "planning.grouping",
          "first = earliest(root)", "first = 0", GROUPS),
    Fault("every value has a group of its own", "grouping", "planning.grouping",
          "outside[g] == own and", "outside[g] == own and not roots[g] and", GROUPS),
    Fault("what an Extend needs is not waited for", "grouping", "planning.grouping",
          "return max(_made(kernel, storage, n, position) for n in direct_needs(kernel, storage, need))",
          "return -1", GROUPS),
    # -- launch order
    Fault("loops join whatever they read", "launch order", "planning.schedules.stepwise",
          "return self.makes.isdisjoint(reads)", "return True", LAUNCHES),
    Fault("a loop does not wait for its numbers", "launch order", "planning.schedules.stepwise",
          "            self._finish(numbers)\n            if needed:", "            if needed:", LAUNCHES),
    Fault("ghost cells are filled after the loop that reads them", "launch order", "planning.schedules.stepwise",
          "                self._fill()\n            self.open.append(index)",
          "                self.open.append(index)\n                self._close()\n                self._fill()\n"
          "                continue\n            self.open.append(index)",
          LAUNCHES),
    # -- memory
    Fault("a slot is free while it is read", "memory", "planning.memory",
          "return old.last < first or in_place", "return old.last <= first or in_place", LIVES),
    Fault("in place although neighbours are read", "memory", "planning.memory",
          "offsets.get(node, in_frame) and not any(offset)", "offsets.get(node, in_frame) or not any(offset)", LIVES),
    Fault("a field's new array is given away", "memory", "planning.memory",
          'end.way in ("rotate", "home") and end.node is not None',
          'end.way == "rotate" and end.node is not None', LIVES),
    Fault("no slot is used twice", "memory", "planning.memory",
          "return old.last < first or in_place", "return in_place", SLOTS),
    # -- genome
    Fault("before and after change places when written", "genome", "planning.genome",
          '"before": choices.barriers.before, "after": choices.barriers.after}',
          '"before": choices.barriers.after, "after": choices.barriers.before}', WILD),
    Fault("hints outvote a genome", "genome", "planning.genome",
          "return plan.changed(hints=False)", "return plan", WILD),
    Fault("a cleared bit leaves the value to the cost model", "genome", "planning.genome",
          "plan = plan.changed(manifest=manifest, delayed=delayed)", "plan = plan.changed(manifest=manifest)", SPACE),
    Fault("the numbers overlap by a bit", "genome", "planning.genome",
          "_setting(row, bits[: _width(row)])", "_setting(row, bits[: _width(row) + 1])", BITS),
    Fault("a barrier before is one after as well", "genome", "planning.genome",
          'after=frozenset(barriers["after"])', 'after=frozenset(barriers["after"] | barriers["before"])', BITS),
)  # fmt: skip
