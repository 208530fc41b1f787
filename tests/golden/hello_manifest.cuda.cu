// hello_manifest
#include "stencil_cuda.h"

using namespace stencil;

extern "C" __global__ void __launch_bounds__(STENCIL_BLOCK) sweep_step_0_y(
    stencil::array<double> x_array,
    stencil::array<const uint64_t> globals, const stencil::Shape<1> shape) {
    (void)globals;
    const Margins<1> grown = {{{0, 0}}};
    const Planes<1> planes = planes_of(shape, grown);
    for (int64_t tile_y = blockIdx.y; planes.has_lines(tile_y); tile_y += gridDim.y) {
        for (int64_t tile_x = blockIdx.x; planes.has_cells(tile_x); tile_x += gridDim.x) {
            const Index i = planes.cell(tile_x);
            for (Index plane = planes.first; plane < planes.end; plane += planes.step()) {
                const Row<1> row = planes.row(shape, grown, tile_y, plane);
                if (planes.has(row, shape, grown, i)) {
                    const Index (&at)[1] = row.at;
                    (void)at;
                    const Index cell = row.start + i;
                    const double x = x_array[cell];
                    const double y = x * x;
                    x_array[cell] = y;
                }
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(STENCIL_BLOCK) sweep_step_1_z(
    stencil::array<double> y_array,
    stencil::array<const uint64_t> globals, const stencil::Shape<1> shape) {
    (void)globals;
    const Margins<1> grown = {{{0, 0}}};
    const Planes<1> planes = planes_of(shape, grown);
    for (int64_t tile_y = blockIdx.y; planes.has_lines(tile_y); tile_y += gridDim.y) {
        for (int64_t tile_x = blockIdx.x; planes.has_cells(tile_x); tile_x += gridDim.x) {
            const Index i = planes.cell(tile_x);
            for (Index plane = planes.first; plane < planes.end; plane += planes.step()) {
                const Row<1> row = planes.row(shape, grown, tile_y, plane);
                if (planes.has(row, shape, grown, i)) {
                    const Index (&at)[1] = row.at;
                    (void)at;
                    const Index cell = row.start + i;
                    const double y = y_array[cell];
                    const double z = y + y;
                    y_array[cell] = z;
                }
            }
        }
    }
}

