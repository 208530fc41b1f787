"""Wrong edits of the analysis of dependences and of the lattice of tiles, noticed by the proof on symbols."""

from tests.fault import Fault
from tests.planning.random_tileable import HEAT, TURNING, WATCHED, WAVE

STEPS = "planning.test_tiling:test_tiles_give_what_steps_give"
RANDOM = "planning.test_tiling:test_tiles_of_random_machines_give_what_steps_give"
ONE_TILE = "planning.test_tiling:test_each_row_of_each_level_belongs_to_one_tile"
CELLS = "planning.test_dependence:test_random_programs_have_the_dependences_of_their_cells"
BITS = "run.test_diamond:test_tiles_have_the_bits_of_steps"
DEPENDENCE, DIAMOND, TILING = "planning.dependence", "planning.schedules.diamond", "planning.schedules.tiling"

OF_TILES = (
    # -- dependences
    Fault("no slope", "tiles", DEPENDENCE, "max(s, -(-r // each.gap))", "s", RANDOM, (0,)),
    Fault("slopes are a cell too small", "tiles", DEPENDENCE,
          "max(s, -(-r // each.gap))", "max(s, -(-r // each.gap) - 1)", RANDOM, (0,)),
    Fault("anti dependences look the same way as flow", "tiles", DEPENDENCE,
          "tuple((-high, -low) for low, high in source.box)", "source.box", CELLS, (0,)),
    Fault("only flow counts", "tiles", DEPENDENCE,
          "if source.writes or sink.writes:", "if source.writes and not sink.writes:", CELLS, (0,)),
    Fault("arrays stay in their slots", "tiles", DEPENDENCE,
          "slot = slots[steps % len(slots)]", "slot = slots[0]", CELLS, (0,)),
    Fault("an orbit runs backwards", "tiles", DEPENDENCE,
          "{source: target for target, source in enumerate(rotation)}", "dict(enumerate(rotation))",
          "planning.test_dependence:test_an_array_comes_back_to_its_slot"),
    # -- the lattice
    Fault("even tiles begin a row too late", "tiles", DIAMOND,
          "max(centre - half, 0)", "max(centre - half + 1, 0)", ONE_TILE, (1,)),
    Fault("even tiles end a row too late", "tiles", DIAMOND,
          "min(centre + half, self.rows)", "min(centre + half + 1, self.rows)", ONE_TILE, (1,)),
    Fault("odd tiles do not reach the next centre's tile", "tiles", DIAMOND,
          "self._centre(tile + 1) - half", "self._centre(tile + 1) - half - 1", ONE_TILE, (1,)),
    Fault("tiles lean by a row too little", "tiles", DIAMOND,
          "return self.slope * (phase", "return max(self.slope - 1, 1) * (phase", STEPS, (TURNING, 1)),
    Fault("spaces between centres are too narrow", "tiles", DIAMOND,
          "max(rows // (2 * slope * height), 1)", "max(rows // (2 * slope * height), 1) + 1", STEPS, (WAVE, 1)),
    Fault("odd tiles end a level too early", "tiles", DIAMOND, "(0 if band % 2 else 1)", "1", ONE_TILE, (3,)),
    Fault("a band begins a level too late", "tiles", DIAMOND, "max(first, 0)", "max(first + 1, 0)", ONE_TILE, (1,)),
    Fault("the last band is left out", "tiles", DIAMOND,
          "(self.depth - 1) // self.height + 1))", "(self.depth - 1) // self.height))", ONE_TILE, (1,)),
    Fault("even tiles come first", "tiles", DIAMOND,
          "return iter(range(-1, (self.depth - 1) // self.height + 1))",
          "return iter(sorted(range(-1, (self.depth - 1) // self.height + 1), key=lambda b: b % 2))",
          STEPS, (WAVE, 1)),
    Fault("waves do not lag", "tiles", DIAMOND,
          "low = start - (level - first) * skew", "low = start", STEPS, (WAVE, 2)),
    Fault("a wave ends before its last planes", "tiles", DIAMOND,
          "planes + (last - first - 1) * skew, chunk", "planes, chunk", STEPS, (WAVE, 2)),
    # -- generated code
    Fault("all levels work on the arrays of the first", "tiles", "codegen.tiles",
          "while (following := tuple(turns[-1][source] for source in rotation)) != turns[0]:",
          "while (following := turns[0]) != turns[0]:", BITS, (WAVE, 1)),
    Fault("only the first array has ghost cells", "tiles", "codegen.tiles",
          "for slot in orbit(step.rotation, fill.target):", "for slot in (fill.target,):", BITS, (WATCHED, 2)),
    Fault("even tiles of the header are a row too narrow", "tiles", "templates",
          "at_most(centre(tile) + half, rows)", "at_most(centre(tile) + half - 1, rows)", BITS, (HEAT, 1)),
    Fault("waves of the header do not lag", "tiles", "templates",
          "const int64_t low = start - (level - levels.low) * skew;", "const int64_t low = start;", BITS, (HEAT, 2)),
    Fault("a step that is observed runs in a tile", "tiles", "templates",
          "march.steps - march.done - (march.observe_last ? 1 : 0)", "march.steps - march.done", BITS, (WATCHED, 2)),
    Fault("tiles run beyond a recorded step", "tiles", "templates",
          "march.observe_every - number % march.observe_every", "march.observe_every",
          BITS, (WATCHED, 2)),
    Fault("tiles turn the arrays once", "tiles", "templates",
          "for (int64_t level = 0; level < run.levels; ++level) {", "for (int64_t level = 0; level < 1; ++level) {",
          BITS, (HEAT, 1)),
    # -- refusals
    Fault("different ghost cells may change places", "tiles", TILING,
          "if first & second and", "if first & second == {-1} and",
          "planning.test_tiling:test_ghost_cells_that_would_have_to_change_are_refused"),
    Fault("a sum that a step needs is no obstacle", "tiles", TILING,
          "for finisher in step.finishers:", "for finisher in ():",
          "planning.test_tiling:test_a_refusal_names_the_line_of_the_cell"),
    Fault("rules that look inside are tiled", "tiles", TILING,
          "if not isinstance(rule, Value | Undefined):", "if isinstance(rule, int):",
          "planning.test_tiling:test_what_is_not_built_is_refused",
          ('u = field("u", boundary="outflow")\nu.next = u[+1]\n', "u has the boundary rule 'outflow' along x")),
)  # fmt: skip
