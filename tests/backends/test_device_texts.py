"""Every CUDA text of the project on the path that compiles for a run: IEEE arithmetic, registers as they were."""

from itertools import product
from pathlib import Path

import pytest

from tests.backends.device_cells import gravity
from tests.backends.nvrtc_path import nvrtc_path
from tests.kit.spaced_programs import spaced_programs
from tests.kit.turns_of_loops import body_of, turn_of
from tests.programs import all_programs, dimension
from workbench import Machine, trace
from workbench.backends.device_text import flushing
from workbench.backends.nvrtc import find_nvrtc, nvrtc_version
from workbench.frontend.words import groups
from workbench.language import constant
from workbench.planning.choices import Choices, PlanChoices
from workbench.programs import poisson
from workbench.run.calling import is_called
from workbench.solvers import hydro, wave
from workbench.solvers.catalogue import ALL, machines_of

GOLDEN = Path(__file__).parents[1] / "golden"
TABLE_OF = (13, 5)  # the NVRTC of tests/golden/registers.*.txt; others share registers out in other ways


@pytest.fixture
def path(monkeypatch, tmp_path):
    return nvrtc_path(monkeypatch, tmp_path)


GATHERED = """
A, columns = array("A", "rows", "entries"), array("columns", "rows", "entries", dtype="i64")
x = array("x", "n")
output("y", fold(add, A * x[columns], axis="entries"))
output("z", scan(add, x))
more = lambda a, b: where(b[0] > a[0], b[0], a[0])
further = lambda a, b: (more(a, b), where(b[0] > a[0], b[1], a[1]))
largest, place = fold(further, (A, columns), axis="entries", identity=(-inf, -1))
output("largest", largest)
output("place", place)
"""


def machines():
    """(name, machine) of all solvers in 1 to 3 dimensions, in both types, of test programs, of folds and of pairs."""
    for machine in machines_of(ALL, (1, 2, 3), ("f32", "f64")):
        yield f"{machine.name} {machine.graph.dim}-D {machine.graph.fields[0].type}", machine
    for program in all_programs():
        yield program.name, trace(program.text, dim=dimension(program), name=program.name)
    for graph in spaced_programs():
        yield graph.name, Machine(graph)
    for dtype in ("f32", "f64"):
        yield f"gravity of pairs {dtype}", trace(gravity(dtype), name="gravity")


def called_words():
    """(name, machine) of the examples of words of cells that are called; their kernels are too small for the table."""
    yield "x[k]", trace(GATHERED, name="gathered")
    yield "poisson", poisson.machine()  # with a loop over whole arrays
    for word in (word for group in groups() for word in group.words):
        machine = trace(word.example.cell, word.example.dim)
        if is_called(machine.graph):
            yield word.name, machine


def compiled(path, machine, capability):
    """The program for a device of that capability; what was compiled for it is looked at."""
    path.fake.capability, before = capability, len(path.binaries)
    program = path.backend.compile(machine.plan("cuda"))
    for binary in path.binaries[before:]:  # none for a text that was there already
        assert f".target sm_{capability}" in binary.ptx
        assert flushing(binary.ptx) == ()
    assert program.resources() == path.binaries[-1].resources or program.from_cache
    return program


def in_table(name, resources):
    """Registers and spills of a program's kernels, in one line."""
    registers = [each.registers for each in resources]
    spilled = sum(each.spill_store_bytes for each in resources)
    return (
        f"{name}: {max(registers)} registers at most, {sum(registers)} in {len(registers)} kernels, "
        f"{spilled} bytes spilled"
    )


@pytest.mark.parametrize("capability", ["80", "100"])
def test_a_program_in_float32_is_ieee(capability, path):
    compiled(path, hydro.machine(1, dtype="f32"), capability)
    (binary,) = path.binaries
    assert "div.rn.f32" in binary.ptx


def test_approximations_inside_the_library_are_let_pass(path):
    compiled(path, trace('u = field("u", dtype="f64")\nu.next = u**1.5', name="powers"), "90")
    (binary,) = path.binaries
    assert ".approx.ftz.f64" in binary.ptx  # of pow


def test_what_flushes_is_found():
    ptx = (
        "add.ftz.f32 %f1;\nex2.approx.ftz.f32 %f2;\n@%p bra L;\nmul.rn.ftz.f32 %f3;\nadd.ftz.f32 %f4;\nadd.rn.f32 %f5;"
    )
    assert flushing(ptx) == ("add.ftz.f32", "mul.rn.ftz.f32")


@pytest.mark.proof
@pytest.mark.parametrize("capability", ["80", "90", "100"])
def test_all_texts_are_ieee_and_need_the_registers_that_they_needed(capability, path, golden):
    rows = []
    for name, machine in machines():
        rows.append(in_table(name, compiled(path, machine, capability).resources()))
    called = [compiled(path, machine, capability) for _, machine in called_words()]
    print(f"{len(rows)} programs, {len(called)} called cells, {len(path.binaries)} texts for sm_{capability}")
    assert len(path.binaries) > 100
    assert len(called) >= 7
    skip_other_compilers()
    golden(f"registers.sm_{capability}.txt", "\n".join(rows) + "\n")


PTX = """
.visible .entry other(
)
{
    ret;
}
.visible .entry torre_step(
)
{
    .reg .pred %p<3>;
    mov.u32 %r1, %tid.x;
$L__BB1_1:
    @%p1 bra $L__BB1_3;
    add.rn.f32 %f1, %f2, %f3;
    mul.rn.f32 %f1, %f2, %f3;
    bra.uni $L__BB1_4;
$L__BB1_3:
    // a way with as much arithmetic, and more around it
    add.s32 %r1, %r2, %r3;
    ld.global.f32 %f1, [%rd1+4];
    add.rn.f32 %f1, %f2, %f3;
    @%p2 mul.f32 %f1, %f2, %f3;
$L__BB1_4:
    @%p2 bra $L__BB1_6;
    sub.rn.f32 %f1, %f2, %f3;
$L__BB1_6:
    setp.lt.s32 %p1, %r1, %r2;
    @%p1 bra $L__BB1_1;
    add.rn.f32 %f1, %f2, %f3;
$L__BB1_7:
    @%p1 bra $L__BB1_7;
    ret;
}
"""


def test_the_shortest_turn_that_does_all_arithmetic_is_counted():
    assert turn_of(body_of(PTX, "torre_step")) == (8, 3)
    assert len(body_of(PTX, "other")) == 1


SEEDS = ((2, 1), (2, 2), (2, 3), (4, 1), (4, 2), (8, 1))  # order and size (DTS) of towers


def tower_row(path, dtype, order, size):
    """Registers, spills, shared memory and instructions of towers with blocks of 256 threads, compiled for sm_90.

    Instructions are those of the shortest turn of the loop over two levels that does all of their arithmetic, in PTX.
    """
    machine = wave.machine(3, order=order, time_order=2, dtype=dtype, boundary=constant(0.0))
    plan = PlanChoices().changed(schedule="diamondtorre", diamond_size=size, column_threads=256)
    chosen = machine.with_choices(Choices(plan=plan))
    (torre,) = (each for each in compiled(path, chosen, "90").resources() if each.kernel == "torre_step")
    assert torre.shared_bytes <= 48 << 10
    updates = 2 * chosen.plan("cuda").main.towers.cells
    count, operations = turn_of(body_of(path.binaries[-1].ptx, "torre_step"))
    assert operations % updates == 0
    return (
        f"{dtype}, order {order}, DTS {size}: {torre.registers} registers, {torre.spill_store_bytes} bytes spilled, "
        f"{torre.shared_bytes} shared; {operations // updates} operations in {count / updates:.1f} instructions "
        "an update"
    )


def skip_other_compilers():
    if nvrtc_version(find_nvrtc(13)) != TABLE_OF:
        pytest.skip(f"no CUDA compiler as that of the table: NVRTC {TABLE_OF[0]}.{TABLE_OF[1]}")


@pytest.mark.proof
def test_towers_keep_their_values_in_registers(path, golden):
    """The seed configurations of DiamondTorre."""
    rows = [tower_row(path, dtype, *seed) for dtype, seed in product(("f32", "f64"), SEEDS)]
    skip_other_compilers()
    golden("registers.torre.sm_90.txt", "\n".join(rows) + "\n")


def test_a_tower_needs_what_the_table_says(path):
    """One of the seed configurations; `test_towers_keep_their_values_in_registers` makes the table."""
    row = tower_row(path, "f32", 2, 1)
    assert " 0 bytes spilled" in row
    skip_other_compilers()
    assert row in GOLDEN.joinpath("registers.torre.sm_90.txt").read_text().splitlines()
