"""`workbench compile`: open formats in, open formats out, and texts that a compiler takes as they lie there."""

import re
import subprocess

import pytest

import workbench as wb
from workbench import cli
from workbench.backends.toolchain import Toolchain, find_toolchain
from workbench.commands.compile import CompileRequest, compile_file
from workbench.pipeline import simplify, trace
from workbench.planning.exchange import to_json
from workbench.planning.genome import genome_of

HEAT = """\
u = field("u", boundary={"x-": "reflect", "x+": fixed(1.0)})
k = param("k", 0.2, above=0)
v = k * (u[+1] - 2 * u + u[-1])
u.next = u + v
"""


@pytest.fixture
def cell(tmp_path):
    path = tmp_path / "heat.txt"
    path.write_text(HEAT)
    return path


def texts(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_a_cell_becomes_files_that_say_what_its_machine_says(cell, tmp_path, capsys):
    assert cli.main(["compile", str(cell), "-o", str(tmp_path / "new" / "out")]) == 0
    machine, made = wb.trace(HEAT, name="heat"), texts(tmp_path / "new" / "out")
    assert made["graph.txt"] == str(machine.graph)
    assert made["plan.txt"] == str(machine.plan("openmp"))
    assert made["program.cpp"] == machine.source("openmp").text
    assert "heat: 1 sub-kernel; in " in capsys.readouterr().out


def test_graph_choices_and_genome_lead_to_the_same_program(cell, tmp_path):
    first = compile_file(CompileRequest(cell, tmp_path / "a"))
    graph, genome = tmp_path / "a" / "graph.txt", (tmp_path / "a" / "genome.txt").read_text()
    again = compile_file(CompileRequest(graph, tmp_path / "b", choices=tmp_path / "a" / "choices.json"))
    by_genome = compile_file(CompileRequest(graph, tmp_path / "c", genome=genome))
    assert texts(tmp_path / "b") == texts(tmp_path / "a")
    different = {name for name, text in texts(tmp_path / "c").items() if text != texts(tmp_path / "a")[name]}
    assert different == {"choices.json"}  # which now say what the cost model had decided
    assert first.plan == again.plan
    assert by_genome.plan.kernels == first.plan.kernels


def test_choices_change_the_plan(cell, tmp_path):
    stored = wb.trace(HEAT, name="heat").annotate("v", "manifest")
    made = compile_file(CompileRequest(cell, tmp_path / "out", genome=stored.genome))
    assert len(made.plan.main.plain.subkernels) == 2
    assert "v: Manifest" in (tmp_path / "out" / "plan.txt").read_text()


@pytest.mark.parametrize("by", ["choices", "genome"])
def test_the_command_line_takes_choices_a_genome_and_a_backend(by, cell, tmp_path, capsys):
    chosen = wb.trace(HEAT, name="heat").annotate("v", "manifest").with_choices(block=1024)
    file, told = tmp_path / "choices.json", ["compile", str(cell), "--backend", "cuda", "-o"]
    file.write_text(to_json(chosen.choices))
    assert cli.main([*told, str(tmp_path / "usual")]) == 0
    assert "v_array" not in texts(tmp_path / "usual")["program.cu"]
    assert "-DSTENCIL_BLOCK=1024" not in capsys.readouterr().out
    given = {"choices": ["--choices", str(file)], "genome": ["--genome", chosen.genome]}[by]
    assert cli.main([*told, str(tmp_path / "out"), *given]) == 0
    made = texts(tmp_path / "out")
    assert "v_array[cell] = " in made["program.cu"]
    assert made["program.cu"] == chosen.source("cuda").text
    assert made["genome.txt"] == f"{genome_of(chosen.plan('cuda'))}\n"
    assert "-DSTENCIL_BLOCK=1024" in capsys.readouterr().out


def test_the_command_compiles_the_text_where_it_lies(cell, tmp_path):
    if not isinstance(find_toolchain(), Toolchain):
        pytest.skip("no compiler")
    made = compile_file(CompileRequest(cell, tmp_path / "out"))
    subprocess.run(made.command, shell=True, cwd=tmp_path / "out", check=True)
    entry = wb.trace(HEAT, name="heat").source("openmp").entry
    assert entry.encode() in (tmp_path / "out" / "program.so").read_bytes()


def test_cuda_lies_beside_all_that_it_includes(cell, tmp_path):
    made = compile_file(CompileRequest(cell, tmp_path / "out", backend="cuda", dtype="f32"))
    found = texts(tmp_path / "out")
    includes = {name for text in found.values() for name in re.findall(r'^#include "(.*)"', text, re.MULTILINE)}
    assert includes - set(found) == {"simulator.h"}  # which only a simulated device includes
    assert "-include cuda_prelude.h" in made.command
    assert "cuda_prelude.h" in found
    assert "float" in found["program.cu"]


def test_a_cell_may_keep_its_first_line_as_copied_from_a_notebook(tmp_path, capsys):
    body = 'u = field("u")\nu.next = u[+1] + u[-1]\n'
    (tmp_path / "file.txt").write_text(f"%%stencil walk --boundary periodic --dim 1 --dtype f32  # of two\n{body}")
    assert cli.main(["compile", str(tmp_path / "file.txt"), "-o", str(tmp_path / "out")]) == 0
    assert "walk: 1 sub-kernel; in " in capsys.readouterr().out
    assert texts(tmp_path / "out")["graph.txt"] == str(
        simplify(trace(body, name="walk", dim=1, dtype="f32", boundary="periodic", first_line=2).graph)
    )


def test_what_the_command_says_wins_over_the_first_line(tmp_path):
    body = 'u = field("u")\nu.next = u[+1] + u[-1]\n'
    (tmp_path / "file.txt").write_text(f"%%stencil walk --boundary periodic --dtype f32\n{body}")
    options = ["--name", "run", "--boundary", "mirror", "--dtype", "f64", "-o", str(tmp_path / "out")]
    assert cli.main(["compile", str(tmp_path / "file.txt"), *options]) == 0
    traced = trace(body, name="run", boundary="mirror", first_line=2)
    assert texts(tmp_path / "out")["graph.txt"] == str(simplify(traced.graph))


@pytest.mark.parametrize(
    ("text", "options", "error"),
    [
        ("u = field('u')\nu.next = w\n", [], "line 2 of {file}: "),
        ("%%stencil heat --dmi 2\nu = field('u')\nu.next = u\n", [], "line 1 of {file}: %%stencil: unrecognized"),
        ("%%stencil heat --dim two\nu = field('u')\nu.next = u\n", [], "line 1 of {file}: %%stencil: --dim two"),
        ("%%stencil 'heat\nu = field('u')\nu.next = u\n", [], "line 1 of {file}: %%stencil 'heat: No closing"),
        ("%%stencil heat\nu = field('u')\nu.next = w\n", [], "line 3 of {file}: "),
        ("%%time\nu = field('u')\nu.next = u\n", [], "line 1 of {file}: %%time is no magic that makes a machine"),
        ("graph g\naxis x grid n\nkernel\n", [], "line 3 of {file}: "),
        (HEAT, ["--backend", "reference"], "no source is generated for backend 'reference'"),
        (HEAT, ["--backend", "tpu"], "tpu"),
        (HEAT, ["--genome", "v2-0123456789abcdef:M=A"], "the genome belongs to program 0123456789abcdef"),
        (HEAT, ["--genome", "{file}"], "{file} is a file, and --genome takes the genome itself"),
        ("graph g\naxis x grid n\nstatic u field : f64 local\n", [], "g has no kernel"),
        (HEAT, ["--choices", "{file}"], "the choices are no JSON"),
        (HEAT, ["--choices", "/nowhere/choices.json"], "/nowhere/choices.json: No such file"),
    ],
)
def test_what_cannot_be_compiled_is_said_in_one_line(text, options, error, tmp_path, capsys):
    file = tmp_path / "cell.txt"
    file.write_text(text)
    options = [option.format(file=file) for option in options]
    assert cli.main(["compile", str(file), "-o", str(tmp_path / "out"), *options]) == 1
    said = capsys.readouterr().err
    assert said.startswith("workbench: ")
    assert error.format(file=file) in said
    assert not (tmp_path / "out").exists()


def test_bytes_that_are_no_text_are_named(tmp_path, capsys):
    file = tmp_path / "cell.txt"
    file.write_bytes(b"\xff\xfe\x00")
    assert cli.main(["compile", str(file), "-o", str(tmp_path / "out")]) == 1
    assert "is no text in UTF-8" in capsys.readouterr().err
