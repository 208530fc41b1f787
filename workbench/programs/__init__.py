"""Programs: functions of arrays that are ready to run, each a module; most are programs of McDonell's thesis (2015).

`dot_product`, `black_scholes` (prices of options), `canny` (edges of a picture), `floyd_warshall` (shortest paths),
`fluid` (stable fluids in a box), `histogram`, `k_means`, `lulesh` (LLNL's blast on moving hexahedra, with the formulas
of `hexahedra`), `mandelbrot`, `md5`, `matrix_product`, `sparse_product`,
`radix_sort` (stable, of keys with a payload), `ray_tracer` (spheres and planes that mirror each other),
`n_body` (gravity, as a function of arrays and as a cell of pairs). Machines: `hermite` (a star cluster in f64, dd or
both), `loop_integral` (a Feynman diagram in f64 or dd), `plasma` (particles in cells), `poisson` (conjugate gradients
to a tolerance), `sph` (gas as particles). Each is imported on first use:
`workbench.programs.dot_product.dot_product(x, y)`.
"""

from importlib import import_module
from types import ModuleType

NAMES = (
    "black_scholes",
    "canny",
    "dot_product",
    "floyd_warshall",
    "fluid",
    "hermite",
    "hexahedra",
    "histogram",
    "k_means",
    "loop_integral",
    "lulesh",
    "mandelbrot",
    "matrix_product",
    "md5",
    "n_body",
    "plasma",
    "poisson",
    "radix_sort",
    "ray_tracer",
    "sparse_product",
    "sph",
)

__all__ = ["NAMES"]


def __getattr__(name: str) -> ModuleType:
    """Import the program `name` on first use; AttributeError that lists the programs for any other name."""
    if name not in NAMES:
        raise AttributeError(f"workbench.programs has no {name!r}; it has {', '.join(NAMES)}")
    return import_module(f"workbench.programs.{name}")


def __dir__() -> list[str]:
    """The programs and what else is there, for completion."""
    return sorted({*globals(), *NAMES})
