"""The slides' text: the graph of the cell that says the same, precisions, fluxes of a gas, errors with lines."""

import numpy as np
import pytest

import workbench as wb
from workbench.errors import FieldError, TraceError

GRAVITY = """
LMEM xi, yi, zi, e2;
BMEM xj, yj, zj, mj;
RMEM ax, ay, az;

dx = xj - xi;
dy = yj - yi;
dz = zj - zi;

r1i = rsqrt(dx**2 + dy**2 + dz**2 + e2);
af = mj*r1i**3;

ax += af*dx;
ay += af*dy;
az += af*dz;
"""
CELL = """
xi, yi, zi, e2 = targets("xi yi zi e2")
xj, yj, zj, mj = sources("xj yj zj mj")
ax, ay, az = totals("ax ay az")

dx = xj - xi
dy = yj - yi
dz = zj - zi

r1i = rsqrt(dx**2 + dy**2 + dz**2 + e2)
af = mj*r1i**3

ax += af*dx
ay += af*dy
az += af*dz
"""
FEYNMAN = """
LMEM xx, yy, cnt4;
BMEM x30_1, gw30;
RMEM res;
CONST tt, ramda, fme, fmf, s, one;

zz = x30_1*cnt4;
d = -xx*yy*s-tt*zz*(one-xx-yy-zz)+(xx+yy)*ramda**2 +
    (one-xx-yy-zz)*(one-xx-yy)*fme**2+zz*(one-xx-yy)*fmf**2;
res += gw30/d**2;
"""
RUSANOV = """
# Rusanov's flux of a gas in one dimension
FLUX f_d, f_m, f_e;
GM1 rho_m1, v_m1, p_m1;
GP1 rho_p1, v_p1, p_p1;
CONST gamma;

e_m1 = p_m1 / (gamma - 1) + 0.5 * rho_m1 * v_m1**2;
e_p1 = p_p1 / (gamma - 1) + 0.5 * rho_p1 * v_p1**2;
fastest = maximum(abs(v_m1) + sqrt(gamma * p_m1 / rho_m1), abs(v_p1) + sqrt(gamma * p_p1 / rho_p1));
f_d = 0.5 * (rho_m1 * v_m1 + rho_p1 * v_p1 - fastest * (rho_p1 - rho_m1));
f_m = 0.5 * (rho_m1 * v_m1**2 + p_m1 + rho_p1 * v_p1**2 + p_p1 -
             fastest * (rho_p1 * v_p1 - rho_m1 * v_m1));
f_e = 0.5 * ((e_m1 + p_m1) * v_m1 + (e_p1 + p_p1) * v_p1 - fastest * (e_p1 - e_m1));
"""
EULER = """
rho, m, energy = fields("rho m energy", boundary="outflow")
gamma, ratio = param("gamma", 1.4), param("ratio", 0.2)
v = m / rho
p = (gamma - 1) * (energy - 0.5 * rho * v**2)
f_d, f_m, f_e = flux(rho, v, p, gamma=gamma)
rho.next = rho - ratio * (f_d[+1] - f_d)
m.next = m - ratio * (f_m[+1] - f_m)
energy.next = energy - ratio * (f_e[+1] - f_e)
"""


def without_places(graph):
    """The graph's text without names of the source's lines and columns, and of values that are read."""
    lines = [line.partition(" at ")[0].partition("  # ")[0] for line in str(graph).splitlines()]
    return "\n".join(lines)


def test_the_last_semicolon_may_be_left_out():
    assert str(wb.interaction(GRAVITY.rstrip("\n;")).graph) == str(wb.interaction(GRAVITY).graph)


def test_the_text_is_the_graph_of_the_cell():
    assert without_places(wb.interaction(GRAVITY, name="gravity").graph) == without_places(
        wb.trace(CELL, name="gravity").graph
    )


@pytest.mark.parametrize(("precision", "type_"), [("single", np.float32), (None, np.float64)])
def test_precision_is_that_of_all_names(precision, type_):
    machine = wb.interaction(GRAVITY, name="gravity", precision=precision)
    draw = np.random.default_rng(0)
    places = draw.normal(size=(3, 40)).astype(type_)
    given = {f"{axis}{side}": place for axis, place in zip("xyz", places, strict=True) for side in "ij"}
    given |= {"mj": draw.random(40).astype(type_), "e2": 0.01}
    found = machine(backend="openmp", **given)
    d = (places[:, None, :] - places[:, :, None]).astype(float)
    exact = (given["mj"] * d[1] / ((d * d).sum(axis=0) + 0.01) ** 1.5).sum(axis=1)
    assert found["ay"].dtype == type_
    np.testing.assert_allclose(found["ay"], exact, rtol=2e-4 if type_ == np.float32 else 1e-12, atol=1e-5)


def test_names_live_in_the_precision_that_the_text_gives_them():
    """Places and sums in 106 bits, the force in 53: a sum that f64 loses is kept."""
    mixed = GRAVITY.replace("rsqrt(", "1 / sqrt(") + "IMPLICIT REAL8;\nREAL16 xi, yi, zi, xj, yj, zj, ax, ay, az;"
    graph = wb.interaction(mixed, name="mixed").graph
    types = {node.names[0]: str(node.type) for node in graph.kernels[0].nodes if node.names}
    assert {types[name] for name in ("xi", "yj", "zi")} == {"dd"}
    assert {types[name] for name in ("dx", "dy", "dz", "r1i", "af")} == {"f64"}
    assert str(graph.static("ax").type) == "dd"
    assert str(graph.static("mj.source").type) == "f64"
    for text, precision in (("REAL16 t; t += q + k;", None), ("t += q + k;", "quadruple")):
        machine = wb.interaction(f"BMEM q; LMEM k; RMEM t; {text}", name="summed", precision=precision)
        total = machine(targets={"k": np.zeros(1)}, sources={"q": np.array([1.0, 2.0**-80, -1.0])}, backend="reference")
        assert float(total["t"]["hi"][0]) == 2.0**-80


def test_the_loop_integral_of_the_slides_takes_its_constants():
    machine = wb.interaction(FEYNMAN, name="loop")
    draw = np.random.default_rng(1)
    i = {name: draw.random(5) for name in ("xx", "yy", "cnt4")}
    j = {name: draw.random(7) for name in ("x30_1", "gw30")}
    k = {"tt": -150.0, "ramda": 30.0, "fme": 0.0005, "fmf": 150.0, "s": -500.0, "one": 1.0}
    found = machine(targets=i, sources=j, backend="reference", **k)["res"]
    zz = j["x30_1"] * i["cnt4"][:, None]
    xx, yy = i["xx"][:, None], i["yy"][:, None]
    d = -xx * yy * k["s"] - k["tt"] * zz * (1 - xx - yy - zz) + (xx + yy) * k["ramda"] ** 2
    d = d + (1 - xx - yy - zz) * (1 - xx - yy) * k["fme"] ** 2 + zz * (1 - xx - yy) * k["fmf"] ** 2
    np.testing.assert_allclose(found, (j["gw30"] / d**2).sum(axis=1), rtol=1e-12)
    with pytest.raises(FieldError, match="loop needs one, which has no default"):
        machine(targets=i, sources=j, **{name: value for name, value in k.items() if name != "one"})


def first_order(rho, m, energy, steps, ratio=0.2, gamma=1.4):
    """Rusanov's scheme of first order, written for itself."""
    for _ in range(steps):
        u = np.pad(np.stack([rho, m, energy]), ((0, 0), (1, 1)), mode="edge")
        v = u[1] / u[0]
        p = (gamma - 1) * (u[2] - 0.5 * u[0] * v**2)
        f = np.stack([u[1], u[1] * v + p, (u[2] + p) * v])
        speed = np.abs(v) + np.sqrt(gamma * p / u[0])
        faces = 0.5 * (f[:, :-1] + f[:, 1:] - np.maximum(speed[:-1], speed[1:]) * (u[:, 1:] - u[:, :-1]))
        rho, m, energy = u[:, 1:-1] - ratio * (faces[:, 1:] - faces[:, :-1])
    return rho, m, energy


@pytest.mark.parametrize("backend", ["reference", "openmp"])
def test_fluxes_completed_to_a_step_are_hydro_of_first_order(backend):
    machine = wb.interaction(RUSANOV, name="tube", update=EULER)
    left = np.arange(100) < 50
    rho, p = np.where(left, 1.0, 0.125), np.where(left, 1.0, 0.1)
    start = (rho, np.zeros(100), p / 0.4)
    sim = machine.simulate(rho=start[0], m=start[1], energy=start[2], backend=backend).run(60)
    for found, expected in zip((sim.rho, sim.m, sim.energy), first_order(*start, 60), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)
    assert sim.rho.sum() == pytest.approx(rho.sum(), rel=1e-12)


def test_fluxes_alone_are_stored_at_the_lower_faces():
    machine = wb.interaction(RUSANOV, name="faces", boundary="periodic")
    draw = np.random.default_rng(2)
    given = {name: 1 + draw.random(9) for name in ("rho", "v", "p")}
    sim = machine.simulate(**given, f_d=0.0, f_m=0.0, f_e=0.0, gamma=1.4).run(1)
    speed = given["v"] + np.sqrt(1.4 * given["p"] / given["rho"])
    before = {name: np.roll(value, 1) for name, value in given.items()}
    fastest = np.maximum(speed, np.roll(speed, 1))
    mass, mass_before = given["rho"] * given["v"], before["rho"] * before["v"]
    np.testing.assert_allclose(
        sim.f_d, 0.5 * (mass + mass_before - fastest * (given["rho"] - before["rho"])), rtol=1e-13
    )
    with pytest.raises(FieldError, match="faces needs gamma, which has no default"):
        machine.simulate(**given, f_d=0.0, f_m=0.0, f_e=0.0)


def test_cells_two_away_and_both_axes():
    text = "FLUX f; GM2 a; GM1 b; GP1 c; GP2 d;\nf = (7 * (b + c) - (a + d)) / 12;"
    update = """
u = field("u", boundary="periodic")
(f,), (g,) = flux(u, axis=0), flux(u, axis=1)
u.next = f[+1, 0] - f + g[0, +1] - g
"""
    u = np.random.default_rng(3).random((6, 5))
    found = wb.interaction(text, update=update).simulate(u=u, backend="reference").run(1).u

    def slope(axis):
        return (8 * (np.roll(u, -1, axis) - np.roll(u, 1, axis)) - np.roll(u, -2, axis) + np.roll(u, 2, axis)) / 12

    np.testing.assert_allclose(found, slope(0) + slope(1), rtol=1e-12, atol=1e-13)


BAD = {
    "LMEM x;\nBMEM y;\nRMEM t;\nt = y - x;": (4, "t is RMEM, a sum over all j"),
    "LMEM x;\nBMEM y;\nRMEM t;\nt += y - z;": (4, "z has no value here"),
    "LMEM x;\nBMEM y;\nRMEM t;\n\nd = y -\n  q;\nt += d;": (6, "q has no value here"),
    "LMEM x;\nBMEM x;": (2, "x is declared twice: as LMEM in line 1, now as BMEM"),
    "LMEM x;\nBMEM y;\nx = y;": (3, "x is LMEM, an input, and is assigned"),
    "LMEM x;\nBMEM y;\nRMEM t;\nt += yy(y);": (4, "there is no function yy"),
    "LMEM x;\nBMEM y;\nRMEM t;\nt += y if x else 0;": (4, "this is no formula of the text"),
    "LMEM x;\nBMEM y;\nRMEM t;\nt += y[0];": (4, "this is no formula of the text"),
    "LMEM x;\nBMEM y;\nRMEM t;\nt += y +;": (4, "the value of t is no formula"),
    "LMEM x;\nBMEM y;\nRMEM t;\nt += t * y;": (4, "t is a result and is read"),
    "LMEM x;\nBMEM y;\nRMEM t;\nd += y;\nt += d;": (4, "d \\+= adds to what has no value yet"),
    "LMEM x;\nBMEM y;\nRMEM t;\nt += x;": (4, "what is contributed to t depends on no source"),
    "LMEM x;\nBMEM y;\nRMEM t;\nt += where(x, y, 1);": (4, "where"),
    "LMEM x;\nHMEM y;": (2, "HMEM declares nothing"),
    "LMEM x y;": (1, "LMEM is followed by 'x y'"),
    "x + 1;": (1, "'x \\+ 1' is neither a declaration nor an assignment"),
    "IMPLICIT REAL8;\nIMPLICIT REAL16;": (2, "IMPLICIT REAL16 a second time"),
    "IMPLICIT REAL7;": (1, "IMPLICIT REAL7"),
    "LMEM x;\nREAL4 x;\nREAL8 x;": (3, "x is REAL8 here and f32 above"),
    "LMEM x;\nREAL4 q;": (1, "q has a precision, but no declaration and no value"),
    "LMEM x;\nBMEM y;": (1, "the cell declares targets or sources, but no result"),
    "FLUX f;\nGM1 a;\nLMEM x;\nf = a;": (3, "x is LMEM in a text with FLUX"),
    "FLUX f, g;\nGM1 a;\nf = a;": (1, "the flux g is never assigned"),
    "FLUX f;\nGM1 a, b;\nGP1 c;\nf = a;": (3, "GP1 has 1 names, another list has 2"),
    "FLUX f;\nf = 1;": (1, "fluxes need FLUX and one of GM1, GM2, GP1, GP2"),
}


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_what_is_wrong_is_told_with_its_line(text):
    line, message = BAD[text]
    with pytest.raises(TraceError, match=message) as caught:
        wb.interaction(text)
    assert caught.value.line == line
    assert caught.value.advice


@pytest.mark.parametrize("asked", ["dd", "quadruple"])
def test_precisions_by_name_are_those_of_the_text(asked):
    text = "BMEM q; LMEM k; RMEM t; s = q + k; t += s;"
    given = wb.interaction(text, precision={"t": asked, "s": "f32"})
    written = wb.interaction(text + "REAL16 t; REAL4 s;")
    assert given.graph.fingerprint() == written.graph.fingerprint()
    beside = wb.interaction(text + "IMPLICIT REAL4;", precision={"t": asked})
    assert beside.graph.fingerprint() == wb.interaction(text + "IMPLICIT REAL4; REAL16 t;").graph.fingerprint()
    assert wb.interaction(text, precision="dd").graph == wb.interaction(text, precision="quadruple").graph


@pytest.mark.parametrize(
    ("precision", "says"),
    [
        ({"z": "dd"}, r"precision= has 'z', which the text has not\nUse q, k, t\."),
        ({"k": "dd"}, "precision= has 'k', but the text gives it a precision"),
        ({"t": "half"}, r"precision='half' is unknown\nUse one of single \(f32\), double \(f64\), quadruple \(dd\)"),
        (16, "precision=16 is unknown"),
    ],
)
def test_a_precision_that_makes_no_sense_is_refused(precision, says):
    with pytest.raises(TraceError, match=says):
        wb.interaction("BMEM q; LMEM k; RMEM t; REAL4 k; t += q + k;", precision=precision)


def test_what_is_no_text_is_refused():
    with pytest.raises(TraceError, match="the text is NoneType"):
        wb.interaction(None)


def test_precision_is_asked_for_once():
    with pytest.raises(TraceError, match="precision='half' is unknown"):
        wb.interaction(GRAVITY, precision="half")
    with pytest.raises(TraceError, match="the text says IMPLICIT"):
        wb.interaction(GRAVITY + "IMPLICIT REAL8;", precision="single")
    with pytest.raises(TraceError, match="the text has no FLUX"):
        wb.interaction(GRAVITY, update="x = 1")
    with pytest.raises(TraceError, match="flux takes 3 quantities, gamma=, not 2 quantities"):
        wb.interaction(RUSANOV, update='u = field("u", boundary="periodic")\nu.next = flux(u, u)[0]')
