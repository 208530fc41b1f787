// solid
#include "stencil_cuda.h"

using namespace stencil;

STENCIL_PROCEDURE double fill_u_operand1(
    const Shape<3>& shape, stencil::array<const uint64_t> globals, const int64_t (&at)[3]) {
    const int64_t i = at[2];
    (void)shape, (void)globals, (void)i;
    return 0.0;
}

STENCIL_PROCEDURE double fill_u_operand(
    int number, const Shape<3>& shape, stencil::array<const uint64_t> globals, const int64_t (&at)[3]) {
    return fill_u_operand1(shape, globals, at);
}

// Outside of u
extern "C" __global__ void __launch_bounds__(STENCIL_BLOCK) fill_u(
    stencil::array<double> u_array,
    stencil::array<const uint64_t> globals, const stencil::Shape<3> shape) {
    static const SideRule rules[3][2] = {
        {{PERIODIC, 1, 0}, {PERIODIC, 1, 0}},
        {{OUTFLOW, 1, 0}, {OUTFLOW, 1, 0}},
        {{FIXED, 1, 1}, {REFLECT, 1, 0}},
    };
    const Margins<3> grown = {{{1, 1}, {1, 1}, {1, 1}}};
    const int64_t count = ghost_count(shape, grown, false);
    for (int64_t number = first_thread(); number < count; number += all_threads()) {
        int64_t at[3];
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
            Walk<3, 12> walk;
            for (int k = 0; k < 3; ++k) walk.at[k] = at[k];
            walk_inside(rules, shape, 0, 3, walk);
            if (walk.base == CELL) {
                const int64_t source = element_of(shape, walk.at);
                value = u_array[source];
            } else if (walk.base == OPERAND) {
                value = fill_u_operand(walk.operand, shape, globals, walk.at);
            }
            for (int s = walk.count - 1; s >= 0; --s) {
                const Step<3>& step = walk.steps[s];
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
    stencil::array<const uint64_t> globals, const stencil::Shape<3> shape) {
    (void)globals;
    const Margins<3> grown = {{{0, 0}, {0, 0}, {0, 0}}};
    Index strides[3];
    for (int k = 0; k < 3; ++k) strides[k] = Index(shape.strides[k]);
    const Planes<3> planes = planes_of(shape, grown);
    for (int64_t tile_y = blockIdx.y; planes.has_lines(tile_y); tile_y += gridDim.y) {
        for (int64_t tile_x = blockIdx.x; planes.has_cells(tile_x); tile_x += gridDim.x) {
            const Index i = planes.cell(tile_x);
            for (Index plane = planes.first; plane < planes.end; plane += planes.step()) {
                const Row<3> row = planes.row(shape, grown, tile_y, plane);
                if (planes.has(row, shape, grown, i)) {
                    const Index (&at)[3] = row.at;
                    (void)at;
                    const Index cell = row.start + i;
                    if (planes.goes_on(row, shape, grown, plane)) {
                        STENCIL_PREFETCH(u_array, cell + (planes.step() + 1) * strides[0]);
                    }
                    const Index cell_xp1 = cell + strides[0];
                    const Index cell_xm1 = cell - strides[0];
                    const Index cell_yp1 = cell + strides[1];
                    const Index cell_ym1 = cell - strides[1];
                    const double u = u_array[cell];
                    const double u_xp1 = u_array[cell_xp1];
                    const double u_xm1 = u_array[cell_xm1];
                    const double u_yp1 = u_array[cell_yp1];
                    const double u_ym1 = u_array[cell_ym1];
                    const double u_zp1 = u_array[cell + 1];
                    const double u_zm1 = u_array[cell - 1];
                    const double around = u_xp1 + u_xm1 + u_yp1 + u_ym1 + u_zp1 + u_zm1;
                    out_u_array[cell] = u + 0.125 * (around - 6.0 * u);
                }
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(STENCIL_BLOCK) sweep_step_observed_0_u_total(
    stencil::array<const double> u_array,
    stencil::array<double> out_u_array,
    stencil::array<double> total_partials,
    stencil::array<const uint64_t> globals, const stencil::Shape<3> shape) {
    (void)globals;
    const Margins<3> grown = {{{0, 0}, {0, 0}, {0, 0}}};
    Index strides[3];
    for (int k = 0; k < 3; ++k) strides[k] = Index(shape.strides[k]);
    const Chunks<3> chunks = chunks_of(shape);
    for (int64_t first = chunks.first_of_block(); first < chunks.count; first += chunks.step()) {
        const Index chunk = Index(first) + Index(threadIdx.x) / LANES;
        double total_lane = -0.0;
        if (chunk < chunks.count) {
            const Row<3> row = row_at(shape, grown, chunks.row(chunk));
            const Index (&at)[3] = row.at;
            (void)at;
            const Index chunk_end = chunks.end(shape, chunk);
            for (Index i = chunks.begin(chunk); i < chunk_end; i += LANES) {
                const Index cell = row.start + i;
                (void)cell;
                const Index cell_xp1 = cell + strides[0];
                const Index cell_xm1 = cell - strides[0];
                const Index cell_yp1 = cell + strides[1];
                const Index cell_ym1 = cell - strides[1];
                const double u = u_array[cell];
                const double u_xp1 = u_array[cell_xp1];
                const double u_xm1 = u_array[cell_xm1];
                const double u_yp1 = u_array[cell_yp1];
                const double u_ym1 = u_array[cell_ym1];
                const double u_zp1 = u_array[cell + 1];
                const double u_zm1 = u_array[cell - 1];
                const double around = u_xp1 + u_xm1 + u_yp1 + u_ym1 + u_zp1 + u_zm1;
                const double u_2 = u_array[cell];
                const double t1 = u + 0.125 * (around - 6.0 * u);
                total_lane = combine_add()(total_lane, u_2);
                out_u_array[cell] = t1;
            }
        }
        total_lane = combine_lanes(total_lane, combine_add());
        if (chunk < chunks.count && chunks.lane() == 0) total_partials[chunk] = total_lane;
    }
}

// A row has `each` values, number j at (row * each + j) * step. A task combines one of the `parts` of a row: `size`
// neighbouring values, of which every `low`-th holds the result of its `low` values. The result replaces the first value;
// a slot of the Globals block takes it if `slot` is not -1.
extern "C" __global__ void __launch_bounds__(STENCIL_BLOCK) tree_f64_add(
    stencil::array<double> partials, stencil::array<uint64_t> globals,
    const int64_t tasks, const int64_t each, const int64_t step, const int64_t slot,
    const int64_t parts, const int64_t low, const int64_t size) {
    const combine_add combine;
    for (int64_t first = int64_t(blockIdx.x) * blockDim.y; first < tasks; first += int64_t(gridDim.x) * blockDim.y) {
        const int64_t task = first + threadIdx.y, row = task / parts, begin = (task - row * parts) * size;
        const int64_t start = row * each, beyond = begin + size < each ? begin + size : each;
        for (int64_t reach = low; reach < size && reach < each; reach *= 2) {
            const int64_t end = task < tasks ? beyond - reach : 0;
            for (int64_t j = begin + 2 * reach * threadIdx.x; j < end; j += 2 * reach * blockDim.x) {
                const double left = partials[(start + j) * step];
                const double right = partials[(start + j + reach) * step];
                partials[(start + j) * step] = combine(left, right);
            }
            stencil::barrier();
        }
    }
    if (slot >= 0 && threadIdx.x == 0 && threadIdx.y == 0) {
        const double whole = partials[0];
        write_global(globals, int(slot), whole);
    }
}

extern "C" __global__ void __launch_bounds__(STENCIL_BLOCK) scalars_step(
    stencil::array<uint64_t> globals, const stencil::Shape<3> shape) {
    (void)shape;
    const double new_total = read_global<double>(globals, 1);
    write_global(globals, 0, new_total);
}

