"""Small cells, one for each part of the language."""

PROGRAMS = {
    "table": (
        'a = field("a")\ntotal = scalar("total")\n@kernel\ndef init():\n'
        "    a.next = (index(0) + 1) * (index(1) + 1)\na.next = a\ntotal.next = reduce_sum(a)"
    ),
    "shift": 'a = field("a", "i64")\nx = index(0)\na.next = 10000 * x[-1] + 100 * x + x[+1]',
    "cyclic": ('a = field("a", "i64")\nx = extend(index(0), "periodic")\na.next = 10000 * x[-1] + 100 * x + x[+1]'),
    "heart": (
        'u = field("u")\nx = cell_centre(0, 3 / size(0), -1.5)\ny = cell_centre(1, 3 / size(1), -1.5)\n'
        "u.next = arctan((1 - x**2 - (y - cbrt(x**2))**2) * 10)"
    ),
    "life": (
        'alive = field("alive", dtype="u8", boundary="periodic")\n'
        "n = sum(alive[i, j] for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))\n"
        "alive.next = where(n == 3, 1, where(n == 2, alive, 0))\n"
        'population = scalar("population", 0, dtype="i64")\npopulation.next = reduce_sum(alive)'
    ),
    "upwind": (
        'q = field("q", boundary="outflow")\nvx, vy = param("vx", 0.5), param("vy", -0.25)\n'
        "fx = where(vx > 0, q - q[-1, 0], q[+1, 0] - q) * vx\n"
        "fy = where(vy > 0, q - q[0, -1], q[0, +1] - q) * vy\nq.next = q - 0.1 * (fx + fy)"
    ),
    "leapfrog": (
        'old, new = fields("old new", boundary="mirror")\nold.next = new\n'
        "new.next = 2 * new - old + 0.25 * (new[+1] - 2 * new + new[-1])"
    ),
    "clipped": (
        't, end = scalar("t"), param("until", inf)\nu = field("u")\ndt = minimum(0.1, end - t)\n'
        "t.next = t + dt\nu.next = u * (1 - dt)"
    ),
    "single": 'u = field("u", "f32", boundary=constant(0.1))\ng = param("g", 0.1)\nu.next = g * u[+1] + 0.1',
    "walls": (
        'a = field("a", boundary={"x-": constant(2.0), "x+": fixed(3.0)})\n'
        'b = field("b", boundary={"x-": neumann(0.5, 2.0), "x+": analytic(lambda i: 100.0 * i)})\n'
        "a.next = a[-1] + a[+1]\nb.next = b[-1] + b[+1]"
    ),
}
