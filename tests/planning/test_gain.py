"""Whether tiles gain, by ceilings of one thread; tests/run/test_schedules.py asks what a simulation makes of it."""

from tests.kit.random_tileable import HEAT
from tests.kit.tiled_kernels import FIGURES, tiled
from workbench.codegen.rendering import template_text
from workbench.planning.choices import TilingChoices
from workbench.planning.schedules.gain import LONGEST_PAIR, tiles_gain
from workbench.planning.schedules.locality import tile_sizes


def gains(edge, threads=1, figures=FIGURES):
    kernel, extents = tiled(HEAT, 2), (edge, edge)
    sizes = tile_sizes(kernel, extents, TilingChoices(), threads)
    return tiles_gain(kernel, extents, sizes, 16 * edge**2 // threads, 1 << 20, 1 << 25, figures, threads)


def test_steps_that_run_alone_have_no_tiles():
    """A step moves 24 bytes a cell at 40 GB/s and 3 loads and stores more: 0.1 s at 11,500 squared, 0.2 s at 16,000."""
    assert gains(11_500)
    assert not gains(16_000)
    assert gains(16_000, threads=2)
    assert gains(16_000, figures=None)  # nobody knows how long they take


def test_steps_count_as_alone_where_a_march_lets_them_run_alone():
    assert f"LONGEST_PAIR = {LONGEST_PAIR}," in template_text("stencil_openmp.h")
