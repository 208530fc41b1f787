"""Wrong edits of sums by a tree: of its nodes, their moments, the walk, and of what it refuses."""

from tests.faults.fault import Fault

WALK = "run.test_trees:test_the_walk_is_the_one_that_is_described"

OF_TREES = (
    Fault("moments are those of all that come before, too", "trees", "frontend.node_moments",
          "at(sums, end) - choose(begin > 0, at(sums, most(begin - 1, 0)), 0)", "at(sums, end)", WALK, (1,)),
    Fault("the covariance is about the corner of the cube", "trees", "frontend.node_moments",
          "(mean - middle[a] * middle[b])", "mean", WALK, (1,)),
    Fault("a contribution without the weight is taken", "trees", "frontend.pair_formulas",
          "not in (1, _NOTHING)", "not in (0, 1, _NOTHING)",
          "frontend.test_pair_formulas:test_a_contribution_is_a_multiple_of_the_weight", ("1",)),
    Fault("a node acts by its centre alone", "trees", "frontend.node_moments",
          "place + factor if sign > 0 else place - factor", "place",
          "run.test_trees:test_the_error_falls_with_the_angle_as_that_of_a_quadrupole_does", ("sphere", (5e-3, 3e-4))),
    Fault("weights of both signs act together", "trees", "frontend.node_moments",
          "(above > 0) & (below > 0)", "(above > 0) & (above < 0)",
          "run.test_trees:test_weights_of_one_sign_act_together_and_others_one_by_one"),
    Fault("the distance is that from the centre", "trees", "frontend.oct_tree",
          'radius = unary("sqrt", total_of(apart)) + ', "radius = ", WALK, (2,)),
    Fault("a node acts on targets inside of it", "trees", "frontend.oct_tree",
          'most(seen, 0.5 * unary("sqrt", diagonal2))', "seen",
          "run.test_trees:test_no_node_acts_on_a_target_inside_of_it", (2,)),
    Fault("what follows a node that acts is its first part", "trees", "frontend.oct_tree",
          "pair(first_part, skip)", "pair(first_part, choose(is_node, first_part, skip))", WALK, (2,)),
    Fault("the second part of a node is not entered", "trees", "frontend.oct_tree",
          "is_node & (is_second | is_root))", "is_node & is_root)", WALK, (2,)),
    Fault("a run of particles goes on into a node", "trees", "frontend.oct_tree",
          "least(node - index, together)", "least(n - index, together)", WALK, (2,)),
    Fault("particles of a run that is short are all taken", "trees", "frontend.tree_walk",
          "choose(run > k, taking, found[number])", "choose(run > 0, taking, found[number])", WALK, (2,)),
    Fault("a product of weights is taken", "trees", "frontend.pair_formulas",
          "else sum(known[:2])", "else max(known[:2])",
          "frontend.test_pair_formulas:test_a_contribution_is_a_multiple_of_the_weight", ("m * m",)),
    Fault("numbers are sorted by their low bits alone", "trees", "frontend.sorting",
          "for low in range(0, bits, width):", "for low in range(0, width, width):", WALK, (3,)),
)  # fmt: skip
