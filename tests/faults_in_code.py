"""Wrong edits of code generation, most noticed by running small programs on a compiled backend; [P] as in faults.py."""

from tests.fault import Fault

SMALL = "test_agreement:test_small_programs_have_the_bits_of_the_reference"
GOLDEN = "codegen.test_golden"
HOST = ("openmp",)
DEVICE = ("cuda-sim",)

OF_CODE = (
    # -- spelling
    Fault("[P] the operands of a difference are swapped", "spelling", "codegen.spelling",
          'Text(f"{left.within(precedence)} {symbol} {right.within(precedence + 1)}"',
          'Text(f"{right.within(precedence)} {symbol} {left.within(precedence + 1)}"',
          SMALL, HOST),
    Fault("right operands lose their parentheses", "spelling", "codegen.spelling",
          "{symbol} {right.within(precedence + 1)}", "{symbol} {right.text}",
          "codegen.test_spelling:test_parentheses_follow_the_tree"),
    Fault("minus zero is written as zero", "spelling", "codegen.spelling",
          "negative = math.copysign(1.0, value) < 0", "negative = value < 0", SMALL, HOST),
    Fault("NaN loses in maximum", "spelling", "templates",
          "    const T greater = a > b ? a : b;\n    return a != a ? a : greater;",
          "    return a > b ? a : b;", SMALL, HOST),
    Fault("integer division truncates", "spelling", "templates",
          "(b < T(0))) ? T(quotient - 1) : quotient", "(b < T(0))) ? quotient : quotient", SMALL, HOST),
    Fault("float to integer does not saturate", "spelling", "templates",
          "a >= above ? integer_range<To>::high : inside", "a >= above ? To(0) : inside", SMALL, HOST),
    # -- expressions
    Fault("[P] the sign of a Shift is flipped", "expressions", "codegen.expressions",
          "                offset = tuple(a - b for a, b in zip(offset, node.instruction.offset, strict=True))",
          "                offset = tuple(a + b for a, b in zip(offset, node.instruction.offset, strict=True))",
          SMALL, HOST),
    Fault("a neighbouring row is read as this one", "expressions", "codegen.expressions",
          "row = (index, (*offset[:-1], 0))", "row = (index, (0,) * len(offset))", SMALL, HOST),
    Fault("the index of a cell forgets its offset", "expressions", "codegen.expressions",
          "        return _plus(name, offset)\n\n    def _read(", "        return _plus(name, 0)\n\n    def _read(",
          SMALL, HOST),
    Fault("an operand is read after its cell was written", "expressions", "codegen.expressions",
          "if is_outer or (len(keys) > 1 and (key in self.unnamed or is_element)):", "if is_outer:", SMALL, HOST),
    Fault("[P] a value used twice is written twice", "expressions", "codegen.expressions",
          "self.uses.get(key, 0) > 1", "self.uses.get(key, 0) > 99",
          f"{GOLDEN}:test_text_is_the_golden_one", ("wave",)),
    Fault("[P] % N on every cyclic access", "expressions", "codegen.expressions",
          """return Text(f"{self.pointers[row].name}[{_plus('i', offset[-1]).text}]")""",
          """return Text(f"{self.pointers[row].name}[({_plus('i', offset[-1]).text}) % shape.extents[0]]")""",
          "codegen.test_vectorised:test_inner_loops_are_vectorised", ("wave",)),
    # -- fills
    Fault("the higher axis goes first", "fills", "templates",
          "if (axis < 0 || by_value) {", "if (true) {", SMALL, HOST),
    Fault("value rules do not win over maps", "fills", "templates",
          "const bool by_value = rules[k][s].kind >= VALUE;", "const bool by_value = false;", SMALL, HOST),
    Fault("reflections forget their sign", "fills", "templates",
          "if (reflected && rule.sign < 0) kind = NEGATE;", "", SMALL, HOST),
    Fault("periodic turns round below", "fills", "templates",
          "return rest < 0 ? rest + n : rest;", "return rest < 0 ? -rest - 1 : rest;", SMALL, HOST),
    Fault("mirror repeats the last cell", "fills", "templates",
          "side == 0 ? -i : 2 * n - 2 - i;", "side == 0 ? -i : 2 * n - 1 - i;", SMALL, HOST),
    Fault("fills are one cell too narrow", "fills", "codegen.kernel",
          'type_name(node.value_type), table, fill.margins, most, operands)',
          'type_name(node.value_type), table, tuple((max(a - 1, 0), b) for a, b in fill.margins), most, operands)',
          SMALL, HOST),
    # -- reductions
    Fault("the last cells of a chunk go to other lanes", "reductions", "templates",
          "for (int l = 0; c < count; ++c, ++l)", "for (int l = LANES - 1; c < count; ++c, --l)", SMALL, HOST),
    Fault("chunks are cut at half the length", "reductions", "templates",
          "constexpr int64_t CHUNK = 1024;", "constexpr int64_t CHUNK = 512;", SMALL, HOST),
    Fault("an odd last one is lost in the tree", "reductions", "templates",
          "if (count % 2) values[pairs] = values[count - 1];", "", SMALL, HOST),
    Fault("[P] every reduction starts from an integer 0", "reductions", "codegen.kernel",
          "self._combine(node), literal(start, type_).text)", 'self._combine(node), "0")', SMALL, HOST),
    # -- rotation
    Fault("slots stay as they are", "rotation", "templates",
          "march.slots[s] = before[rotation[s]];", "march.slots[s] = before[s];", SMALL, HOST),
    Fault("slots rotate the other way", "rotation", "templates",
          "march.slots[s] = before[rotation[s]];", "march.slots[rotation[s]] = before[s];", SMALL, HOST),
    Fault("scalars are written one by one", "rotation", "codegen.kernel",
          "        return (*statements, *written)\n",
          "        return tuple(x for pair in zip(statements[-len(written):], written) for x in pair)\n", SMALL, HOST),
    # -- line map
    Fault("lines are counted from 0", "line map", "codegen.render",
          'enumerate(marked.split("\\n"), start=1)', 'enumerate(marked.split("\\n"))',
          f"{GOLDEN}:test_line_map_leads_from_text_to_cell_and_back"),
    Fault("a line knows only the value that it makes", "line map", "codegen.expressions",
          "*(n for o in operands for n in self.inside[o])}))", "}))", f"{GOLDEN}:test_every_live_node_has_a_line"),
    Fault("lines of other kernels' nodes are shown", "line map", "codegen.render",
          "sorted({s.line for n in nodes for s in all_nodes[n].spans if s.line})",
          "sorted({s.line for n in range(len(all_nodes)) for s in all_nodes[n].spans if s.line})",
          f"{GOLDEN}:test_line_map_leads_from_text_to_cell_and_back"),
)  # fmt: skip

OF_DEVICE_CODE = (
    Fault("[P] a barrier in a divergent loop", "device", "templates",
          "                const Index cell = row.start + i;\n{% for",
          "                const Index cell = row.start + i;\n                stencil::barrier();\n{% for",
          SMALL, DEVICE),
    Fault("threads beyond the row write too", "device", "templates",
          "if (number < tiles.rows && i < tiles.high) {", "if (number < tiles.rows) {", SMALL, DEVICE),
    Fault("the tree does not wait for its level", "device", "templates",
          "            }\n            stencil::barrier();\n        }\n    }\n    if (slot",
          "            }\n        }\n    }\n    if (slot", SMALL, DEVICE),
)  # fmt: skip
