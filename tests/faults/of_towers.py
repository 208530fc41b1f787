"""Wrong edits of the towers of DiamondTorre, noticed by the proof on symbols, by bits and by the simulator's checks."""

from tests.faults.fault import Fault

ORDER = "planning.test_towers:test_each_tower_finds_what_it_needs"
ANY = "planning.test_towers:test_towers_of_any_grid_find_what_they_need"
REFUSED = "planning.test_towers:test_what_towers_cannot_do_is_refused"
BITS = "run.test_diamondtorre:test_towers_have_the_bits_of_steps"
WATCHED = "run.test_diamondtorre:test_observed_steps_and_what_remains_run_one_by_one"
TORRE, PLANS = "planning.schedules.torre", "planning.schedules.diamondtorre"
LINE, RING = ((False, False), True), ((True, True), True)
MIXED, ROUND = (2, 1, "mixed", True), (2, 2, "periodic", True)

OF_TOWERS = (
    # -- the order of towers
    Fault("stages go to the right", "towers", TORRE,
          "for number in range(2 * max(ends) * many // cells + 3, last, -1):",
          "for number in reversed(range(2 * max(ends) * many // cells + 3, last, -1)):", ORDER, LINE),
    Fault("stages are shifted along one axis only", "towers", TORRE,
          "u, v = self.cut(p), self.cut(q)", "u, v = self.cut(p), self.cut(q - 1)", ORDER, LINE),
    Fault("towers do not lean", "towers", TORRE,
          "return tower.x + (a + b) // 2 + self.reach * level, tower.y", "return tower.x + (a + b) // 2, tower.y",
          ORDER, LINE),
    Fault("the first stage is left out", "towers", TORRE,
          "for edge in (sweep.cells(t)[0], sweep.cells(t)[1] - 1)", "for edge in (sweep.cells(t)[0],)", ORDER, LINE),
    Fault("the last tower of a row is left out", "towers", TORRE,
          "// self.width - first + 1", "// self.width - first", ORDER, LINE),
    Fault("towers begin a turn too late", "towers", TORRE,
          "return (found[0] // 2 * 2,", "return (found[0] // 2 * 2 + 2,", ORDER, LINE),
    Fault("what others read is kept", "towers", TORRE,
          "if a < 2 * self.reach or b < 2 * self.reach or level", "if a < 2 * self.reach or level", ORDER, LINE),
    Fault("the last level alone is stored", "towers", TORRE,
          "level >= self.levels - WHOLE_TURN:", "level >= self.levels - 1:", ORDER, LINE),
    Fault("what the wedge reads is kept", "towers", TORRE, "return not low <= x < high", "return False", ORDER, RING),
    Fault("the cut of a ring does not lean", "towers", TORRE,
          "return TowerSweep(0, lean, self.rows, -lean),", "return TowerSweep(0, 0, self.rows, 0),", ORDER, RING),
    Fault("the wedge is half as wide", "towers", TORRE,
          "TowerSweep(self.rows, -lean, self.rows, lean)", "TowerSweep(self.rows, -lean, self.rows, 0)", ORDER, RING),
    Fault("towers lean further than a ring is long", "towers", TORRE,
          "min(depth, rows // (2 * reach)) if rings[0]", "min(depth, rows // reach) if rings[0]", ANY),
    Fault("cuts of a ring do not repeat", "towers", TORRE,
          "return number // many * cells + number % many * self.width", "return number * self.width",
          "planning.test_towers:test_cuts_of_a_ring_repeat_with_its_cells"),
    # -- plans
    Fault("diagonal reads reach no further", "towers", PLANS,
          "max(1, *(abs(x) + abs(y) for x, y, _ in offsets))", "max(1, *(abs(x) for x, y, _ in offsets))",
          "planning.test_towers:test_reads_along_both_axes_reach_further"),
    Fault("values outside may change in time", "towers", PLANS, "if _changes(", "if False and _changes(", REFUSED,
          ('t = scalar("t")\nt.next = t + 1\nu = field("u", boundary=constant(t))\nu.next = u[+1, 0, 0]\n', 3,
           "u has values outside that change in time")),
    Fault("signs of a ring are forgotten", "towers", PLANS,
          "low != Periodic()", "not isinstance(low, Periodic)", REFUSED,
          ('u = field("u", boundary=periodic(sign=-1))\nu.next = u[+1, 0, 0]\n', 3,
           "u has sides that are neither constant nor periodic")),
    Fault("a corner that two towers of a row read counts twice", "towers", "planning.schedules.tower_table",
          "shared = levels if row else 0", "shared = 0",
          "planning.test_towers:test_the_table_of_towers_is_what_a_count_of_all_values_gives", ("wave", 1)),
    Fault("stages of the next move follow too closely", "towers", TORRE,
          "(-self.reach * self.levels // self.width) + 1", "(-self.reach * self.levels // self.width)",
          "planning.test_towers:test_stages_of_several_moves_may_run_at_the_same_time", (1, 1, 2)),
    # -- generated code
    Fault("a stage of the header is shifted too little", "towers", "templates",
          "v = cut(stage, q);", "v = cut(stage, q - 1);", BITS, MIXED, in_each_run=True),
    Fault("threads do not wait for their column", "towers", "templates",
          "            stencil::barrier();\n{% endif %}\n            STENCIL_UNROLL",
          "{% endif %}\n            STENCIL_UNROLL", BITS, MIXED, in_each_run=True),
    Fault("towers at a side compute what lies outside", "towers", "templates",
          "at < high_of(level) && inside;\n    }\n    // Whether the level",
          "at < high_of(level);\n    }\n    // Whether the level",
          BITS, (4, 1, "constant", False)),
    Fault("ghost cells of one array are missing", "towers", "codegen.cuda.towers",
          "for slot in (towers.even, towers.odd))", "for slot in (towers.even,))", BITS, MIXED),
    Fault("all levels of a tower have the scalars of the first", "towers", "templates",
          "globals = {blocks, t * stage.words};", "globals = {blocks, 0 * t * stage.words};", WATCHED),
)  # fmt: skip

MORE_OF_TOWERS = (
    Fault("groups of cells share one buffer", "towers", "templates",
          "const int side = (first / GROUP + decltype(turn)::value * GROUPS) % 2;", "const int side = 0;", BITS, MIXED),
    Fault("towers at a side take themselves for inner ones", "towers", "templates",
          "y >= half && y + half < columns", "y >= 0 && y < columns", BITS, MIXED),
    Fault("towers at a side keep what others read", "towers", "templates",
          "return at < low_of(level + 2) || at >= high_of(level + 2);", "return false;", BITS, ROUND),
    Fault("a move runs beyond an observed step", "towers", "backends.device_instance",
          "while move is not None and count >= move.steps:", "while move is not None and count > 0:", WATCHED),
)  # fmt: skip
"""Noticed as well, each after a compilation of its own: a proof."""
