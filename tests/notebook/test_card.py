"""The card says what the plan decided, in text and in HTML."""

from dataclasses import replace
from html.parser import HTMLParser

import pytest

from tests.programs.wave import TEXT as WAVE
from workbench.machine import trace
from workbench.notebook.card_html import card_html
from workbench.notebook.card_style import CARD_STYLE
from workbench.notebook.card_text import card_text
from workbench.notebook.defining import summary
from workbench.notebook.summary import halo_text
from workbench.planning.kernel_plan import Storage
from workbench.planning.plan_figures import memory_bytes

HELLO = """
density = field("density")
y = density * density
z = y + y
density.next = z
"""

TWO_KERNELS = """
a = field("a", boundary="periodic", unit="K")
b = field("b", dtype="f32")
total = scalar("total")
k = param("k", 2.0)
narrow = a * b
a.next = k * (a[+1] + narrow)
total.next = reduce_sum(a)

@kernel
def init():
    a.next = 1.0 * index(0)
"""


LOOP = """
u = field("u", boundary="periodic")
u.next = while_loop(lambda v: reduce_max(v) > 1, lambda v: (v[-1] + v[+1]) / 4, u, at_most=50)
"""


@pytest.fixture(autouse=True)
def nothing_measured(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))


def machine(text, **options):
    return replace(trace(text, name="hello", **options), backend="reference")


def test_counts_are_those_of_the_plan():
    hello = machine(HELLO)
    plan = hello.plan()
    (row,) = summary(hello).kernels
    kernel = plan.kernel("step")
    assert row.nodes == len(kernel.kernel.nodes)
    assert len(row.manifest) == sum(s is Storage.MANIFEST for s in kernel.storage)
    assert row.delayed == sum(s is Storage.DELAYED for s in kernel.storage)
    assert len(row.subkernels) == len(kernel.observed.subkernels)


def test_a_manifest_value_shows_up():
    hello = machine(HELLO)
    delayed = summary(hello.annotate("y", "delayed"))
    manifest = summary(hello.annotate("y", "manifest"), hello.annotate("y", "delayed"))
    assert len(manifest.kernels[0].manifest) == len(delayed.kernels[0].manifest) + 1  # Table 3 of the paper
    assert len(manifest.kernels[0].subkernels) == 2
    assert "y" in manifest.kernels[0].manifest
    assert manifest.kernels[0].bytes_moved > delayed.kernels[0].bytes_moved
    assert delayed.changed == ()
    assert manifest.changed == ("y: Delayed → Manifest", "genome: M at letter 1")


def test_a_value_without_an_array_is_named():
    text = """
u = field("u", boundary="periodic")
y = manifest(exp(-u * u))
u.next = 0.25 * (y[-1, 0] + y[+1, 0] + y[0, -1] + y[0, +1])
"""
    card = summary(replace(trace(text, 2, name="smooth"), backend="openmp"))
    for page in (card_text(card), card_html(card)):
        assert "y: kept in a rolling buffer of 4 planes; no array" in page
    assert "rolling" not in card_text(summary(replace(trace(text, 2, name="smooth"), backend="reference")))


def test_a_stored_value_without_a_name_is_called_by_its_formula():
    stars = machine("""\
(x,) = particles("x")
x.next = x + 0.5 * reduce_sum(x.source - x, over="source")
""")
    assert "sum of (x.source - x) over source (line 2)" in summary(stars).kernels[0].manifest


def test_extents_size_memory():
    card = summary(machine(HELLO), extents=(1000,))
    assert card.extents == (1000,)
    assert card.memory_bytes == memory_bytes(machine(HELLO).plan(), (1000,))


def test_halo_bytes_are_those_of_the_fills_at_the_extents_of_the_card():
    walls = machine('u = field("u", dtype="f32", boundary="outflow")\nu.next = u[+2, 0] + u[-1, 0] + u[0, +1]')
    card = summary(walls, extents=(100, 10))
    # 2 rows above and 1 below, 1 column to the right, with its corners, 4 bytes each
    assert card.kernels[0].halo_bytes == 4 * ((2 + 100 + 1) * (10 + 1) - 100 * 10)
    assert "ghost cells recomputed: none, filled: 532 bytes a step" in " ".join(card_text(card).split())
    assert "532\N{NO-BREAK SPACE}bytes a step" in card_html(card)
    assert "filled: none" in " ".join(card_text(summary(machine(HELLO))).split())
    large = summary(walls, extents=(1024, 1024))
    assert large.kernels[0].halo_bytes > card.kernels[0].halo_bytes


def test_a_step_that_computes_nothing_has_no_bound():
    card = summary(machine('inside = field("inside", dtype="bool")\ninside.next = inside'))
    assert "0 cells/s" not in card_html(card) + card_text(card)
    assert "nothing is computed" in card_html(card)
    assert "nothing is computed" in card_text(card)


def test_sums_by_a_tree_have_no_figures_of_pairs():
    """Their loops are over targets or sources, and a bound of pairs would promise what no loop does."""
    cell = machine("""
x, = targets("x")
xj, m = sources("x m")
t, = totals("t", tree=0.5, positions="x", weights="m")
t += m * abs(xj - x)
""")
    card = summary(cell)
    assert all(kernel.is_partial for kernel in card.kernels)
    for text in (card_text(card), card_html(card)):
        assert "no loop is over all axes" in text
        assert "pairs/s" not in text


def test_figures_of_a_while_loop_are_those_of_a_turn():
    """The step itself moves the result only: its bytes and its bound would promise what no step does."""
    card = summary(machine(LOOP))
    assert [kernel.part for kernel in card.kernels] == ["", "begin", "turn"]
    text = card_text(card)
    assert "kernel step_turn_1, an iteration of while_loop" in text
    assert "flops a cell and iteration" in text
    assert "launches an iteration: " in text
    assert "bound of an iteration" in text
    assert "bound of an iteration" in card_html(card)


def test_columns_keep_the_height_of_their_rows():
    (columns,) = [line for line in CARD_STYLE.splitlines() if ".swb-columns {" in line]
    assert "align-items: flex-start" in columns  # else a short table beside a long one has rows of any height


def test_fields_scalars_params_and_the_next_cell():
    card = summary(machine(TWO_KERNELS))
    assert [(r.name, r.type, r.note) for r in card.fields] == [
        ("a", "f64", "in K, periodic"),
        ("b", "f32", "no boundary rule, never changes"),
    ]
    assert card.scalars[0].note == "evaluated on observed steps only"
    assert card.params[0].note == "default 2.0"
    assert card.next_cell == "sim = hello.simulate(b=..., k=2.0)\nsim.run(1000)"
    assert {row.name for row in card.kernels} == {"step", "init"}
    assert len(card.promotions) == 1


def test_the_next_cell_can_be_run_as_it_is():
    text = (
        'u, t = field("u"), scalar("t")\nuntil, k = param("until", inf), param("k", 2.0)\nu.next, t.next = k * u, until'
    )
    assert summary(machine(text)).next_cell == "sim = hello.simulate(u=..., k=2.0)\nsim.run(1000)"


def test_sub_kernels_are_called_by_what_they_store_and_those_alike_have_numbers():
    text = """\
u = field("u", boundary="periodic")
def rates(u):
    return u[-1] - u
u.next = ssp_rk3(u, rates, 0.1, "periodic")
"""
    (kernel,) = summary(machine(text)).kernels
    assert kernel.subkernels == ("0_add", "1_add", "u")


def test_a_card_lists_few_of_many_names_and_says_how_many_more():
    card = summary(machine(TWO_KERNELS))
    names = tuple(f"value{number}" for number in range(112))
    (first, *others) = card.kernels
    few = replace(card, kernels=(replace(first, manifest=names[:24], subkernels=names[:24]), *others))
    many = replace(card, kernels=(replace(first, manifest=names, subkernels=names), *others))
    for written in (card_text, card_html):
        told = " ".join(written(many).split())
        assert told.count("value23 and 88 more: see the plan") == 2
        assert "value24" not in told
        assert "112" in told
        assert "more: see the plan" not in " ".join(written(few).split())


def test_text_fits_into_a_hundred_columns():
    card = replace(summary(machine(TWO_KERNELS)), warnings=("line 3: " + "word " * 60,), changed=("a", "b"))
    text = card_text(card)
    assert max(map(len, text.splitlines())) <= 100
    assert "1 promotion: line 6" in text
    assert text.count("changed") == 1


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.names = [], []

    def handle_starttag(self, tag, attributes):
        self.names.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_html_is_well_formed_escaped_and_without_scripts():
    evil = "</style><script>alert(1)</script>&\"'"
    base = summary(machine(TWO_KERNELS))
    card = replace(
        base, name=evil, warnings=(evil,), changed=(evil,), captured=((evil, evil),), next_cell=evil, backend=evil,
        backend_reason=evil, build=evil, promotions=(evil,), halo=evil, bound_source=evil,
        fields=(replace(base.fields[0], name=evil, type=evil, note=evil),),
        kernels=(replace(base.kernels[0], name=evil, manifest=(evil,), subkernels=(evil,)),),
        main=evil,
    )  # fmt: skip
    page = card_html(card)
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert "script" not in tags.names
    assert tags.names.count("style") == 1
    assert "http" not in page


def test_html_says_what_the_text_says():
    card = summary(machine(TWO_KERNELS))
    page = card_html(card)
    for text in (
        "evaluated on observed steps only",
        "never changes",
        "default 2.0",
        "kernel init",
        "hello.simulate(b=...",
    ):
        assert text in page
        assert text in card_text(card) or text == "kernel init"
    assert "estimated bound" in page


def test_numbers_of_a_tile_keep_their_signs_in_one_line():
    page = card_html(summary(machine(WAVE)))
    for text in ("launches a step:\N{NO-BREAK SPACE}3", "&lt;\N{NO-BREAK SPACE}0.01\N{NO-BREAK SPACE}% recomputed"):
        assert text in page
    assert "arrays beside fields" in page


def test_the_halo_is_told_in_cells():
    even = trace('u = field("u", boundary="periodic")\nu.next = u[+1] + u[-1]')
    assert halo_text(even.plan()) == "1 cell"
    upwind = trace('u = field("u", boundary="periodic")\nu.next = u[-1, 0] + u[0, +2]')
    assert halo_text(upwind.plan()) == "1+0, 0+2 cells"


RIPPLES = """
u, v = fields("u v", boundary="periodic")
energy = scalar("energy", unit="J")
c = param("c", 0.4, at_least=0, warn_above=0.7)
v1 = v + c * (u[+1] + u[-1] - 2 * u)
u1 = u + v1
u.next, v.next = u1, v1
energy.next = reduce_sum(v1**2 + (u1[+1] - u1)**2)
"""


def test_sub_kernels_are_those_of_a_usual_step_as_bytes_and_launches_are():
    ripples = replace(trace(RIPPLES, name="ripples"), backend="openmp")
    step, card = ripples.plan("openmp").main, summary(ripples)
    assert (len(step.plain.subkernels), len(step.observed.subkernels)) == (2, 3)
    assert "2 (3 where scalars are observed): v1, u1, energy" in card_html(card)
    assert "sub-kernels: 2 (3 where scalars are observed): v1, u1, energy" in card_text(card)
    assert '>sub-kernels</div><div class="swb-value">2</div>' in card_html(card)


def test_limits_of_params_and_units_are_told():
    card = summary(machine(RIPPLES))
    assert card.params[0].note == "default 0.4, at least 0, known to work up to 0.7"
    assert card.scalars[0].note == "in J, evaluated on observed steps only"


def test_a_program_that_reads_no_neighbours_has_no_halo():
    page = card_html(summary(machine(HELLO)))
    assert "no cell outside is read" in page
    assert "width 0 cells" not in page


def test_sums_within_a_cutoff_are_of_visited_pairs():
    """The card said 0 bytes and 0 flops a pair, and a bound, which has nothing to do with how many pairs lie near."""
    card = summary(trace(HELLO, name="near"))
    near = replace(card.main_kernel, near=(24.0, 25.0), flops=0.0, bytes_moved=0.0, bound=0.0)
    text, html = (show(replace(card, kernels=(near,))) for show in (card_text, card_html))
    assert "24 bytes and 25 flops a visited pair: of its own cell and of those beside it" in text
    assert "none: how many pairs lie near is known in a run alone" in text
    assert html.count("a visited pair") == 2
    assert "how many pairs lie near is known in a run alone" in html
    both = replace(near, flops=3.0, bound=1e9)
    assert "0 bytes and 3 flops" in (text := " ".join(card_text(replace(card, kernels=(both,))).split()))
    assert "within the cutoff 24 bytes and 25 flops a visited pair" in text
