"""Wrong edits of everything but code generation; [P] marks the known faults of Paraiso's generator.

Faults of single planning passes that are no textual edits stand in tests/planning/faults.py, those of code generation
in tests/faults_in_code.py.
"""

from tests.backends.test_build_cache import damage_one_byte
from tests.fault import Fault
from workbench.graph.types import F32, F64

RETYPE = "planning.test_retype"
SIMPLIFY = "planning.test_simplify"
PLANS = "planning.test_plans_mean_the_graph:test_every_read_of_a_random_plan_sees_the_right_value"
GENOME = "planning.test_genome"
INTERPRETER = "backends.test_interpreter"
PLAN = "planning.test_plan_graph"
MEMORY = "planning.test_memory"
COST = "planning.test_cost"
ROLLING = "planning.test_rolling"

OF_PASSES = (
    # -- retype
    Fault("a field keeps its type", "retype", "planning.retype",
          "replace(s, type=types.get(s.name, s.type))", "replace(s, type=s.type)",
          f"{RETYPE}:test_a_field_in_single_precision_takes_everything_along"),
    Fault("the narrower of two widths wins", "retype", "planning.retype",
          "key=lambda t: t.bits", "key=lambda t: -t.bits",
          f"{RETYPE}:test_where_two_widths_meet_the_operator_computes_in_the_wider"),
    Fault("a named value is not rounded", "retype", "planning.retype",
          "return _round(builder, value, asked[-1])", "return value",
          f"{RETYPE}:test_a_named_value_is_rounded_where_it_is_made"),
    Fault("a region gets operands of another type", "retype", "planning.retype",
          "_round(builder, operands[0], region.parameters[0].type)", "operands[0]",
          f"{RETYPE}:test_a_region_keeps_its_type_and_its_operand_is_rounded_to_it"),
    # -- simplify
    Fault("x + 0.0 becomes x", "simplify", "planning.identities",
          "return is_negative_zero if is_float else is_zero", "return is_zero",
          f"{SIMPLIFY}:test_what_would_change_a_zero_or_nan_stays", ("add", 0.0)),
    Fault("select by a constant takes the other side", "simplify", "planning.identities",
          "operands[1] if condition else operands[2]", "operands[2] if condition else operands[1]",
          "planning.test_meaning_kept:test_random_programs"),
    Fault("x * 0.0 becomes 0.0", "simplify", "planning.identities",
          'operator == "multiply" and not is_float and 0 in constants', 'operator == "multiply" and 0 in constants',
          "planning.test_meaning_kept:test_random_programs"),
    Fault("[P] no constant folding", "simplify", "planning.identities",
          "if row.ulp or not all(", "if row or not all(",
          f"{SIMPLIFY}:test_exact_operators_on_constants_fold_and_others_do_not"),
    Fault("functions with a bound in ulp are folded", "simplify", "planning.identities",
          "if row.ulp or not all(", "if not all(",
          f"{SIMPLIFY}:test_exact_operators_on_constants_fold_and_others_do_not"),
    Fault("[P] no common subexpressions", "simplify", "graph.builder",
          "        if found is None:\n", "        if found is None or operands:\n",
          f"{SIMPLIFY}:test_equal_values_become_one"),
    Fault("a neutral constant stays and the other operand goes", "simplify", "planning.identities",
          "right=False):\n        return right", "right=False):\n        return left",
          f"{SIMPLIFY}:test_neutral_constants_vanish", ("multiply", 1.0, 0)),
    # -- allocation
    Fault("presets are swapped", "allocation", "planning.allocation",
          'case "as_delayed":', 'case "as_manifest":',
          f"{PLAN}:test_table_3_delayed_is_one_loop_and_one_more_array"),
    Fault("a hint wins over a choice", "allocation", "planning.allocation",
          "asked = choice or hint", "asked = hint or choice",
          "planning.test_allocation:test_a_hint_wins_over_the_preset_and_a_choice_over_the_hint"),
    Fault("a stored value may be Delayed", "allocation", "planning.allocation",
          "elif index in stored:", "elif index in stored and False:",
          f"{PLAN}:test_table_3_delayed_is_one_loop_and_one_more_array"),
    Fault("a Load may be recomputed", "allocation", "planning.allocation",
          "elif isinstance(node.instruction, Load):", "elif isinstance(node.instruction, Load) and index:",
          PLANS, (0,)),
    # -- reach
    Fault("[P] a halo without nesting: each Shift counts from the domain", "reach", "planning.reach",
          "return (moved(margins, offset),)", "return (moved(nothing, offset),)", PLANS, (1,)),
    Fault("Reduce asks for ghost cells", "reach", "planning.reach",
          "case Store() | Reduce() | Broadcast():\n            return (nothing,)",
          "case Store() | Reduce() | Broadcast():\n            return (((1, 1),) * len(margins),)",
          "planning.test_reach:test_margins_are_the_union_over_all_paths"),
    Fault("a read outside without a rule is let pass", "reach", "planning.reach",
          "if pair[side] and _undefined(node, axis, side)", "if pair[side] > 99 and _undefined(node, axis, side)",
          "planning.test_reach:test_a_read_outside_without_a_rule_names_field_side_and_line",
          ((-1,), "1 cell outside", "x+")),
    # -- variants
    Fault("an accumulating scalar is left out of plain steps", "variants", "graph.diagnostics",
          "name in scalars and name not in read", "name in scalars",
          "graph.test_diagnostics:test_an_accumulating_scalar_is_evaluated_every_step"),
    Fault("a scalar without a reduction is left out of plain steps", "variants", "graph.diagnostics",
          "if any(isinstance(kernel.nodes[i].instruction, Reduce) for i in below):", "if below:",
          "graph.test_diagnostics:test_time_is_not_diagnostic_because_it_saves_nothing"),
    Fault("a scalar that somebody watches is left out", "variants", "planning.variants",
          " - frozenset(always))", ")", f"{MEMORY}:test_a_scalar_that_somebody_watches_is_no_diagnostic"),
    Fault("observed steps leave diagnostics out too", "variants", "planning.passes",
          "StepDraft(live_nodes(kernel))", "StepDraft(plain.live)",
          f"{PLAN}:test_wave_steps_in_place_unless_somebody_looks_at_the_energy"),
    # -- grouping
    Fault("[P] reductions run over ghost cells", "grouping", "planning.grouping",
          "margins[root] if is_manifest else no_margins(dim)",
          "margins[root] if is_manifest else ((1, 1),) * dim", PLANS, (0,)),
    Fault("values with other margins share a loop", "grouping", "planning.grouping",
          "if groups[g].margins == own and", "if True and", PLANS, (0,)),
    Fault("reductions are computed in groups of their own", "grouping", "planning.grouping",
          "        first = earliest(root)\n", "        first = earliest(root) if is_manifest else len(groups)\n",
          "planning.test_grouping:test_a_reduction_joins_the_loop_of_a_store"),
    # -- memory
    Fault("[P] Store copies instead of rotating", "memory", "planning.fields",
          '"rotate" if free else "copy"', '"copy"',
          f"{MEMORY}:test_two_fields_swap_without_a_sub_kernel"),
    Fault("results never go in place", "memory", "planning.memory",
          "return old.last < first or in_place", "return old.last < first",
          f"{MEMORY}:test_a_value_goes_in_place_where_the_old_one_is_read_at_the_same_cell"),
    Fault("arrays of other types are taken", "memory", "planning.memory",
          "if t.name == type_name]", "if type_name]",
          f"{MEMORY}:test_slots_fit_whatever_they_hold"),
    # -- launch order
    Fault("barriers that were asked for are dropped", "launch order", "planning.schedules.stepwise",
          "if index in self.apart or any(g in self.apart for g in self.open):", "if False:",
          "planning.test_stepwise:test_a_barrier_keeps_a_loop_apart"),
    Fault("loops that could share a launch do not", "launch order", "planning.schedules.stepwise",
          "return not made & reads", "return False", "planning.test_stepwise:test_independent_loops_share_a_launch"),
    Fault("every step of a march is observed", "launch order", "planning.schedules.stepwise",
          "kernel.observed if number in observed else kernel.plain", "kernel.observed",
          "planning.test_stepwise:test_only_observed_steps_evaluate_diagnostics"),
    # -- rolling
    Fault("a value that others need rolls", "rolling", "planning.rolling",
          "return node not in self.kept and self.readers.get(node, set()) <= members",
          "return self.readers.get(node, set()) <= members",
          f"{ROLLING}:test_a_chain_keeps_what_only_its_members_read"),
    Fault("members do not grow", "rolling", "planning.rolling",
          "self.grown[maker] = union(self.grown[maker], needed)", "pass",
          f"{ROLLING}:test_members_grow_by_what_later_ones_read_and_run_ahead"),
    Fault("a plane too few is kept", "rolling", "planning.rolling",
          "(self.ahead[reader] + offset[0]) + 1", "(self.ahead[reader] + offset[0])",
          f"{ROLLING}:test_members_grow_by_what_later_ones_read_and_run_ahead"),
    Fault("members do not run ahead", "rolling", "planning.rolling",
          "self.ahead[maker] = max(self.ahead[maker], self.ahead[reader] + offset[0])", "pass",
          f"{ROLLING}:test_members_grow_by_what_later_ones_read_and_run_ahead"),
    Fault("what rolls is moved", "rolling", "planning.passes",
          "[home for home in reads if home.node not in rolling]", "reads", f"{ROLLING}:test_what_rolls_is_not_moved"),
    # -- cost
    Fault("a value read at several offsets counts once", "cost", "planning.cost",
          "float(len(emission.reads))", "float(len({n for n, _ in emission.reads}))",
          f"{COST}:test_cost_of_a_loop_against_counting"),
    Fault("bytes count reads only", "cost", "planning.cost",
          "float(sum(moved.values()) + written)", "float(sum(moved.values()))",
          f"{COST}:test_cost_of_a_loop_against_counting"),
    Fault("the bound forgets recomputed ghost cells", "cost", "planning.cost",
          "cells *= below + extent + above\n        total += cells", "cells *= extent\n        total += cells",
          f"{COST}:test_bound_of_a_step_against_counting"),
    Fault("operations weigh nothing", "cost", "planning.emission",
          "return OPERATORS[instruction.operator].flops if isinstance(instruction, Arith) else 0.0", "return 0.0",
          f"{COST}:test_cost_of_a_loop_against_counting"),
    Fault("halo bytes count the domain", "cost", "planning.cost",
          "total += (volume - domain)", "total += volume", f"{COST}:test_halo_bytes_against_counting"),
    # -- genome
    Fault("the bits of synchronisation are swapped", "genome", "planning.genome",
          'f"{before:d}{after:d}"', 'f"{after:d}{before:d}"',
          f"{GENOME}:test_table_3_manifest_with_a_barrier_differs_in_two_letters"),
    Fault("numbers stand with the lowest bit first", "genome", "planning.genome",
          'return f"{value:0{_NUMBER_BITS}b}"', 'return f"{value:0{_NUMBER_BITS}b}"[::-1]',
          f"{GENOME}:test_table_3_delayed"),
    Fault("forced values have bits as well", "genome", "planning.genome",
          "            if not forced\n", "            if storage\n", f"{GENOME}:test_table_3_delayed"),
    Fault("the genome of another program is taken", "genome", "planning.genome",
          "if fingerprint != graph.fingerprint():", "if not fingerprint:",
          f"{GENOME}:test_a_genome_fits_every_size_but_no_other_program"),
)  # fmt: skip

PROMOTION = "frontend.test_promotion"
BOUNDARIES = "frontend.test_boundaries"
CELL = "frontend.test_cell"
RULES = (("x", "y"),)

OF_THE_REST = (
    # -- front end: promotion
    Fault("the narrower of two floats wins", "promotion", "frontend.promotion",
          "max(a, b, key=lambda t: t.bits)", "min(a, b, key=lambda t: t.bits)",
          f"{PROMOTION}:test_promotion", ('a = field("a", "f32")\nb = field("b")', "a * b", F64)),
    Fault("a Global widens a Local", "promotion", "frontend.promotion",
          "            elif BOOL in (type_, other):\n                join(type_, other)  # both bool, or an error",
          "            else:\n                type_ = join(type_, other)",
          f"{PROMOTION}:test_promotion", ('a = field("a", "f32")\ng = param("g", 1)', "a * g", F32)),
    Fault("a Global is cast in every cell", "promotion", "frontend.promotion",
          "    term = cast_term(operand, type_)\n    return spread(term) if local else term",
          "    return cast_term(spread(operand) if local else operand, type_)",
          f"{PROMOTION}:test_globals_are_cast_before_they_are_broadcast"),
    # -- front end: boundaries
    Fault("mirror means reflect", "boundaries", "frontend.boundaries",
          'return Reflect(rule.sign) if rule.kind == "reflect" else Mirror(rule.sign)', "return Reflect(rule.sign)",
          "frontend.test_meaning:test_leapfrog_rotates"),
    Fault("a rule for one side holds for the other", "boundaries", "frontend.boundaries",
          '((0,) if key.endswith("-") else (1,))', '((1,) if key.endswith("-") else (0,))',
          "frontend.test_meaning:test_value_rules_hold_at_their_sides"),
    Fault("a face field reflects about the face of a cell", "boundaries", "frontend.boundaries",
          "if axis in face_axes:", "if axis in ():", f"{BOUNDARIES}:test_face_field_reflects_about_the_wall"),
    Fault("fixed holds in the ghost cell", "boundaries", "frontend.boundaries",
          "return Fixed(number)", "return ValueRule(number)",
          "frontend.test_meaning:test_value_rules_hold_at_their_sides"),
    # -- front end: naming and offsets
    Fault("lines are counted from the first of the body", "naming", "frontend.source",
          "ast.increment_lineno(tree, source.first_line - 1)", "ast.increment_lineno(tree, 0)",
          f"{CELL}:test_wave_has_its_statics_names_and_lines"),
    Fault("[P] the sign of a Shift is flipped", "naming", "frontend.operations",
          "tuple(-o for o in offsets)", "tuple(o for o in offsets)",
          f"{BOUNDARIES}:test_relative_reads_are_shifts_by_the_opposite", ("u[+1, -2]",)),
    Fault("assigned values get no name", "naming", "frontend.source",
          "return [node, *_name_calls(node.targets, node)]", "return [node]",
          f"{CELL}:test_wave_has_its_statics_names_and_lines"),
    # -- interpreter
    Fault("a sum goes from left to right", "interpreter", "graph.reduction",
          "    while values.shape[-1] > 1:\n",
          "    while values.shape[-1] > 2:\n"
          "        values = np.concatenate([combine(values[..., :1], values[..., 1:2]), values[..., 2:]], axis=-1)\n"
          "    while values.shape[-1] > 1:\n",
          f"{INTERPRETER}:test_reductions_of_many_sizes", ((1025,),)),
    Fault("a chunk is cut by its position, not by the index", "interpreter", "graph.reduction",
          "whole = length - length % CHUNK", "whole = 0 * CHUNK",
          f"{INTERPRETER}:test_reductions_of_many_sizes", ((2049,),)),
    Fault("the lower axis does not go first", "interpreter", "backends.interpreter",
          "if isinstance(r, VALUE_RULES)), outside[0])", "if isinstance(r, VALUE_RULES)), outside[-1])",
          f"{INTERPRETER}:test_rules_of_two_axes_meet_in_the_corners", ((2, 3),)),
    Fault("value rules do not win over maps", "interpreter", "backends.interpreter",
          "next(((a, r) for a, r in outside if isinstance(r, VALUE_RULES)), outside[0])", "outside[0]",
          f"{INTERPRETER}:test_rules_of_two_axes_meet_in_the_corners", ((2, 3),)),
    Fault("a reflection reaches once only", "interpreter", "backends.interpreter",
          "return -1 - i if i < 0 else 2 * n - 1 - i",
          "return min(-1 - i, n - 1) if i < 0 else max(2 * n - 1 - i, 0)",
          f"{INTERPRETER}:test_every_pair_of_rules_with_reach_7", (2, F64)),
    Fault("[P] a Shift moves the wrong way", "interpreter", "backends.interpreter",
          "(low - o, high - o)", "(low + o, high + o)", f"{INTERPRETER}:test_random_programs"),
    # -- build cache
    Fault("flags are not in the key", "build cache", "backends.build_cache",
          "self.source, self.flags, self.compiler", "self.source, self.compiler",
          "backends.test_build_cache:test_flags_are_in_the_key_one_by_one_and_the_name_is_not"),
    Fault("the CPU is not in the key", "build cache", "backends.build_cache",
          "self.compiler, self.target, self.generator", "self.compiler, self.generator",
          "backends.test_build_cache:test_every_part_of_a_recipe_is_in_the_key", ("target",)),
    Fault("headers are not in the key", "build cache", "backends.compile_pool",
          "for name, header in source.headers) + source.text", "for name, header in ()) + source.text",
          "backends.test_compile_pool:test_flags_and_headers_are_part_of_the_source"),
    Fault("a damaged entry is taken", "build cache", "backends.build_cache",
          '!= record["sha256"]:', '!= record["sha256"] and not path.exists():',
          "backends.test_build_cache:test_a_damaged_entry_is_built_again", (damage_one_byte,)),
)  # fmt: skip
