"""What changed between two programs, in sentences."""

from workbench.frontend.cell import trace_cell
from workbench.notebook.changes import captured_changes, genome_changes, graph_changes

HEAT = """
u = field("u", boundary="periodic")
k = param("k", 0.2)
flux = u[+1] - u
u.next = u + k * (flux - flux[-1])
"""


def graph(text, **options):
    return trace_cell(text, name="heat", **options).graph


def test_equal_programs_have_no_changes():
    assert graph_changes(graph(HEAT), graph(HEAT + "# a comment\n")) == ()


def test_an_added_term_names_what_became_different():
    (change,) = graph_changes(graph(HEAT), graph(HEAT.replace("u[+1] - u", "u[+1] - u + u * u")))
    assert change.startswith("kernel step: 2 nodes added, 0 removed")
    assert "other flux" in change


def test_an_edited_constant_is_one_node_for_another():
    before = HEAT.replace("k * (", "2.0 * k * (")
    (change,) = graph_changes(graph(before), graph(before.replace("2.0", "3.0")))
    assert change.startswith("kernel step: 1 node added, 1 removed")


def test_a_param_s_default_changes_no_node():
    assert graph_changes(graph(HEAT), graph(HEAT.replace("0.2", "0.1"))) == ("param k: default 0.2 → 0.1",)


def test_fields_and_their_boundaries():
    changes = graph_changes(graph(HEAT), graph(HEAT.replace("periodic", "outflow")))
    assert "field u: boundary periodic → outflow" in changes
    more = graph_changes(graph(HEAT), graph(HEAT + 'w = field("w")\nw.next = w + 1\n'))
    assert "field w added" in more
    assert graph_changes(graph(HEAT + 'w = field("w")\nw.next = w + 1\n'), graph(HEAT))[0] == "field w removed"


def test_kernels_come_and_go():
    more = HEAT + "@kernel\ndef init():\n    u.next = 1.0 * index(0)\n"
    assert "kernel init added" in graph_changes(graph(HEAT), graph(more))
    assert "kernel init removed" in graph_changes(graph(more), graph(HEAT))


def test_letters_of_the_genome_are_counted():
    assert genome_changes("v2-ab:M=AC/S=GT", "v2-ab:M=AC/S=GT") == ()
    assert genome_changes("v2-ab:M=AC/S=ACGT", "v2-ab:M=CC/S=ACTA") == ("genome: M at letter 1, S at letters 3, 4",)
    assert genome_changes("v2-ab:M=AC", "v2-cd:M=ACG") == ("genome: M from 2 letters to 3",)
    assert genome_changes("v2-ab:M=A", "v2-ab:M=A/B=flags:-O2") == ("genome: B from nothing to flags:-O2",)


def test_captured_values_are_compared():
    assert captured_changes({"a": 1}, {"a": 1}) == ()
    assert captured_changes({"a": 1}, {"a": 2}) == ("a from the notebook: 1 → 2",)
    assert captured_changes({"a": 1}, {"b": 1}) == (
        "b is taken from the notebook now",
        "a is no longer taken from the notebook",
    )
