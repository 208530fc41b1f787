"""Examples of cells of particles; `words` reads them. A step makes what an example gives."""

PARTICLES = r"""
particles
    x, v = particles("x v", dim=2)
    m, = particles("m")
    d = x.source - x
    v1 = v + reduce_sum(m.source * d, over="source")
    x.next, v.next = x + v1, v1
    given x = [[0, 1, 3], [0, 0, 2]], v = 0, m = [1, 2, 1]
    gives x = [[5, 2, -4], [2, 2, -4]], v = [[5, 1, -7], [2, 2, -6]], m = [1, 2, 1]
    wrong x, = particles("x")
    wrong x.next = x.source - x
    error line 2: x has the axes particles, but x.next is given a value along particles, source
    advice Reduce it over the axes that are too many: reduce_sum(value, over="source").

u.source
    u, = particles("u")
    u.next = reduce_max(0.5 * u.source - u, over="source")
    given u = [0, 1, 3]
    gives u = [1.5, 0.5, -1.5]
    wrong u = field("u")
    wrong u.next = u.source
    error line 2: u.source: only what each particle has is seen as source, and the value has the axes x
    advice Declare x, = particles("x"), then x.source.
"""
