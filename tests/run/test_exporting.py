"""Export: a C program with a leapfrog that calls the exported code has the bits of the same steps in Python."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.backends.toolchain import find_toolchain
from workbench.errors import RunError
from workbench.graph.extended_numbers import DoubleDouble
from workbench.graph.types import DD

GRAVITY = """
xi, yi, zi, e2 = targets("x y z e2")
xj, yj, zj, m = sources("x y z m")
ax, ay, az = totals("ax ay az")
k = param("k", 1.0)
dx, dy, dz = xj - xi, yj - yi, zj - zi
r1i = 1 / sqrt(dx**2 + dy**2 + dz**2 + e2)
w = k * m * r1i**3
ax += w * dx
ay += w * dy
az += w * dz
"""


def compiled(folder, *arguments):
    """Compile in the folder; fails with what the compiler says."""
    command = [*find_toolchain().command, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def in_python(gravity, state, dt, steps=4):
    x, v, m = state[:3].copy(), state[3:6].copy(), state[6]
    for _ in range(steps):
        x += dt * v
        pull = gravity(x=x[0], y=x[1], z=x[2], m=m, e2=0.0625, k=1.5, backend="openmp")
        v += dt * np.stack([pull["ax"], pull["ay"], pull["az"]])
    return np.concatenate([x, v])


@pytest.mark.parametrize(("dtype", "real"), [("f64", "double"), ("f32", "float")])
def test_a_leapfrog_in_c_has_the_bits_of_that_in_python(dtype, real, tmp_path):
    gravity = wb.trace(GRAVITY, name="gravity", dtype=dtype)
    files = gravity.export(tmp_path)
    assert [file.name for file in files] == ["gravity.h", "gravity.cpp", "Makefile"]
    command = " ".join(find_toolchain().command)
    made = subprocess.run(
        ["make", f"CXX={command}", "TUNING=-O1"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    main = Path(__file__).with_name("leapfrog.c").read_text(encoding="utf-8")
    (tmp_path / "leapfrog.c").write_text(main, encoding="utf-8")
    strict = ("-std=c99", "-Wall", "-Werror", "-pedantic", "-ffp-contract=off", f"-DREAL={real}")
    compiled(tmp_path, "-x", "c", *strict, "-c", "leapfrog.c", "-o", "leapfrog.o")
    compiled(tmp_path, "leapfrog.o", "libgravity.so", f"-Wl,-rpath,{tmp_path}", "-o", "leapfrog")
    draw, type_ = np.random.default_rng(0), np.dtype(dtype.replace("f64", "f8").replace("f32", "f4"))
    states = [draw.normal(size=(7, n)).astype(type_) for n in (37, 1030, 37)]
    (tmp_path / "in").write_bytes(b"".join(state.tobytes() for state in states))
    ran = subprocess.run([tmp_path / "leapfrog", "in", "out"], cwd=tmp_path, check=False)
    assert ran.returncode == 0
    found = np.frombuffer((tmp_path / "out").read_bytes(), type_)
    for state, dt in zip(states, (0.25, 0.25, 0.125), strict=True):
        expected = in_python(gravity, state, type_.type(dt))
        assert_same_bits(found[: expected.size].reshape(expected.shape), expected, f"{state.shape[1]} particles")
        found = found[expected.size :]
    assert not found.size


def test_numbers_and_arrays_of_two_axes_are_exported(tmp_path):
    machine = wb.trace(
        """
A = array("A", "rows", "columns")
w = array("march", "columns", dtype="i32")
output("sums", fold(add, A * w, axis="columns"))
output("total", fold(add, fold(add, A, axis="columns")))
""",
        name="rows_of",
    )
    header = machine.export(tmp_path)[0].read_text(encoding="utf-8")
    assert (
        "int rows_of_send(rows_of *object, int64_t rows_, int64_t columns, const double *A, const int32_t *march_);"
        in header
    )
    assert "int rows_of_receive(const rows_of *object, double *sums, double *total);" in header
    main = """
#include "rows_of.h"
#include <stdio.h>
int main(void) {
    double A[2][3] = {{1, 2, 3}, {4, 5, 6}}, rows[2], total;
    int32_t w[3] = {1, 10, 100};
    rows_of *object = rows_of_create(0);
    if (rows_of_send(object, 2, 3, &A[0][0], w) || rows_of_execute(object)) return 1;
    if (rows_of_receive(object, rows, &total)) return 2;
    printf("%g %g %g", rows[0], rows[1], total);
    rows_of_free(object);
    return 0;
}
"""
    (tmp_path / "main.c").write_text(main, encoding="utf-8")
    compiled(tmp_path, "-x", "c", "-c", "main.c", "-o", "main.o")
    compiled(tmp_path, "-std=c++17", "-O0", "rows_of.cpp", "main.o", "-o", "main")
    assert subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout == "321 654 21"


@pytest.mark.parametrize("name", ["object", "threads", "malloc", "struct"])
def test_programs_and_arrays_may_be_called_as_what_c_and_the_interface_have(name, tmp_path):
    """The name of such a program gets an underscore. The folder's name has a space."""
    place, type_ = tmp_path / "a folder", f"{name}_"
    wb.trace(
        """
object, register = targets("object register")
own, object_source, restrict = sources("object object_source restrict")
free, = totals("free")
march = param("march", 1.0)
free += march * restrict * object_source * (own - object) * register
""",
        name=name,
    ).export(place)
    main = f"""
#include <stdio.h>
#include <stdlib.h>
#include "{type_}.h"
int main(void) {{
    double object[2] = {{1, 2}}, factors[2] = {{3, 4}}, own[1] = {{5}}, two[1] = {{2}}, three[1] = {{3}}, found[2];
    {type_} *made = {type_}_create(1);
    if ({type_}_send(made, 2, 1, object, factors, own, two, three) || {type_}_execute(made, 2)) return 1;
    if ({type_}_receive(made, found)) return 2;
    {type_}_free(made);
    printf("%g %g", found[0], found[1]);
    return 0;
}}
"""
    (place / "main.c").write_text(main, encoding="utf-8")
    compiled(place, "-x", "c", "-std=gnu99", "-Wall", "-Werror", "-c", "main.c", "-o", "main.o")
    compiled(place, "-std=c++17", "-O0", f"{type_}.cpp", "main.o", "-o", "main")
    assert subprocess.run([place / "main"], capture_output=True, text=True, check=True).stdout == "144 144"


def test_what_each_thread_counts_has_room(tmp_path):
    """Two threads count 2048 digits each, which is more than there are chunks; the sanitizer watches."""
    wb.trace('keys = array("keys", "n", dtype="u32")\noutput("places", ranks(keys, bits=11))', name="sorted").export(
        tmp_path
    )
    main = """
#include "sorted.h"
#include <stdio.h>
enum { N = 300000 };
static uint32_t keys[N];
static int64_t places[N];
int main(void) {
    for (int i = 0; i < N; ++i) keys[i] = (uint32_t)(i * 7919L % 2048);
    sorted *object = sorted_create(2);
    if (sorted_send(object, N, keys) || sorted_execute(object) || sorted_receive(object, places)) return 1;
    sorted_free(object);
    fwrite(places, sizeof places[0], N, stdout);
    return 0;
}
"""
    (tmp_path / "main.c").write_text(main, encoding="utf-8")
    compiled(tmp_path, "-x", "c", "-c", "main.c", "-o", "main.o")
    compiled(tmp_path, "-std=c++17", "-O0", "-fopenmp", "-fsanitize=address", "sorted.cpp", "main.o", "-o", "main")
    ran = subprocess.run([tmp_path / "main"], capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr.decode()
    places = np.frombuffer(ran.stdout, np.int64)
    order = np.argsort(np.arange(300000) * 7919 % 2048, kind="stable")
    assert_same_bits(places[order], np.arange(300000))


def test_numbers_of_type_dd_are_structs_in_c(tmp_path):
    machine = wb.trace(
        """
x = array("x", "cases", dtype="dd")
third = param("third", 0, dtype="dd")
output("y", x * third)
output("total", fold(add, x))
""",
        name="pairs",
    )
    machine.export(tmp_path)
    main = """
#include "pairs.h"
#include <stdio.h>
int main(void) {
    stencil_dd x[2] = {{1.0, 0x1p-80}, {3.0, -0x1p-70}}, y[2], total;
    stencil_dd third = {0x1.5555555555555p-2, 0x1.5555555555555p-56};
    pairs *object = pairs_create(1);
    if (pairs_send(object, 2, x) || pairs_execute(object, third) || pairs_receive(object, y, &total)) return 1;
    printf("%a %a %a %a %a %a", y[0].hi, y[0].lo, y[1].hi, y[1].lo, total.hi, total.lo);
    pairs_free(object);
    return 0;
}
"""
    (tmp_path / "main.c").write_text(main, encoding="utf-8")
    compiled(tmp_path, "-x", "c", "-c", "main.c", "-o", "main.o")
    compiled(tmp_path, "-std=c++17", "-O0", "pairs.cpp", "main.o", "-o", "main")
    printed = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    x = np.array([(1.0, 2.0**-80), (3.0, -(2.0**-70))], DD.numpy)
    third = DoubleDouble(float.fromhex("0x1.5555555555555p-2"), float.fromhex("0x1.5555555555555p-56"))
    expected = machine(x=x, third=third, backend="reference")
    assert [float.fromhex(part) for part in printed.split()] == [
        part for pair in (*expected["y"].tolist(), expected["total"].item()) for part in pair
    ]


def test_what_has_no_interface_of_c_is_refused(tmp_path):
    with pytest.raises(RunError, match="steps runs in steps"):
        wb.trace('u = field("u")\nu.next = u + 1', name="steps").export(tmp_path)
