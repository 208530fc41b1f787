// heat
#include "stencil_cuda.h"

using namespace stencil;

STENCIL_PROCEDURE double fill_u_operand1(
    const Shape<2>& shape, stencil::array<const uint64_t> globals, const int64_t (&at)[2]) {
    const int64_t i = at[1];
    (void)shape, (void)globals, (void)i;
    return 1.0;
}

STENCIL_PROCEDURE double fill_u_operand(
    int number, const Shape<2>& shape, stencil::array<const uint64_t> globals, const int64_t (&at)[2]) {
    return fill_u_operand1(shape, globals, at);
}

// Outside of u
extern "C" __global__ void __launch_bounds__(STENCIL_BLOCK) fill_u(
    stencil::array<double> u_array,
    stencil::array<const uint64_t> globals, const stencil::Shape<2> shape) {
    static const SideRule rules[2][2] = {
        {{PERIODIC, 1, 0}, {PERIODIC, 1, 0}},
        {{FIXED, 1, 1}, {OUTFLOW, 1, 0}},
    };
    const Margins<2> grown = {{{1, 1}, {1, 1}}};
    const int64_t count = ghost_count(shape, grown, false);
    for (int64_t number = first_thread(); number < count; number += all_threads()) {
        int64_t at[2];
        ghost_at(shape, grown, false, number, at);
        if (belongs_to_neighbour(rules, shape, at)) continue;
        const int64_t ghost = element_of(shape, at);
        double value = double(0);
        bool negative = false;
        if (image_nearby(rules, shape, at, negative)) {
            const int64_t source = element_of(shape, at);
            value = u_array[source];
            if (negative) value = negated(value);
        } else {
            Walk<2, 8> walk;
            for (int k = 0; k < 2; ++k) walk.at[k] = at[k];
            walk_inside(rules, shape, 0, 2, walk);
            if (walk.base == CELL) {
                const int64_t source = element_of(shape, walk.at);
                value = u_array[source];
            } else if (walk.base == OPERAND) {
                value = fill_u_operand(walk.operand, shape, globals, walk.at);
            }
            for (int s = walk.count - 1; s >= 0; --s) {
                const Step<2>& step = walk.steps[s];
                if (step.kind == NEGATE) {
                    value = negated(value);
                } else {
                    const double other = fill_u_operand(step.operand, shape, globals, step.at);
                    value = step.kind == ABOUT_FACE ? about_face(value, other) : along_slope(value, step.distance, other);
                }
            }
        }
        u_array[ghost] = value;
    }
}

extern "C" __global__ void __launch_bounds__(STENCIL_BLOCK) sweep_step_0_u(
    stencil::array<const double> u_array,
    stencil::array<double> out_u_array,
    stencil::array<const uint64_t> globals, const stencil::Shape<2> shape) {
    (void)globals;
    const double a = read_global<double>(globals, 0);
    const Margins<2> grown = {{{0, 0}, {0, 0}}};
    Index strides[2];
    for (int k = 0; k < 2; ++k) strides[k] = Index(shape.strides[k]);
    const Planes<2> planes = planes_of(shape, grown);
    for (int64_t tile_y = blockIdx.y; planes.has_lines(tile_y); tile_y += gridDim.y) {
        for (int64_t tile_x = blockIdx.x; planes.has_cells(tile_x); tile_x += gridDim.x) {
            const Index i = planes.cell(tile_x);
            for (Index plane = planes.first; plane < planes.end; plane += planes.step()) {
                const Row<2> row = planes.row(shape, grown, tile_y, plane);
                if (planes.has(row, shape, grown, i)) {
                    const Index (&at)[2] = row.at;
                    (void)at;
                    const Index cell = row.start + i;
                    if (planes.goes_on(row, shape, grown, plane)) {
                        STENCIL_PREFETCH(u_array, cell + (planes.step() + 1) * strides[0]);
                    }
                    const Index cell_xp1 = cell + strides[0];
                    const Index cell_xm1 = cell - strides[0];
                    const double u = u_array[cell];
                    const double u_xp1 = u_array[cell_xp1];
                    const double u_xm1 = u_array[cell_xm1];
                    const double u_yp1 = u_array[cell + 1];
                    const double u_ym1 = u_array[cell - 1];
                    out_u_array[cell] = u + a * (u_xp1 + u_xm1 + u_yp1 + u_ym1 - 4.0 * u);
                }
            }
        }
    }
}

