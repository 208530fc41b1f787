// wave
#include "stencil_cuda.h"

using namespace stencil;

// The same in all cells, before a march
STENCIL_PROCEDURE void uniforms_step(stencil::array<uint64_t> globals, const Shape<1>& shape) {
    (void)shape;
    const double dx = 0x1.921fb54442d18p+2 /* 6.283185307179586 */ / double(shape.global_extents[0]);
    const double c = read_global<double>(globals, 1);
    const double dt = dx / c;
    const double t1 = c * c;
    write_global<double>(globals, 3, dt);
    write_global<double>(globals, 4, dt * t1 / (dx * dx));
    write_global<double>(globals, 5, t1);
    write_global<double>(globals, 6, 2.0 * dx);
    write_global<double>(globals, 7, dx);
}

// Outside of v
extern "C" __global__ void __launch_bounds__(STENCIL_BLOCK) fill_v(
    stencil::array<double> v_array,
    stencil::array<const uint64_t> globals, const stencil::Shape<1> shape) {
    static const SideRule rules[1][2] = {
        {{PERIODIC, 1, 0}, {PERIODIC, 1, 0}},
    };
    const Margins<1> grown = {{{1, 1}}};
    const int64_t count = ghost_count(shape, grown, false);
    for (int64_t number = first_thread(); number < count; number += all_threads()) {
        int64_t at[1];
        ghost_at(shape, grown, false, number, at);
        if (belongs_to_neighbour(rules, shape, at)) continue;
        const int64_t ghost = element_of(shape, at);
        double value = double(0);
        bool negative = false;
        if (image_nearby(rules, shape, at, negative)) {
            const int64_t source = element_of(shape, at);
            value = v_array[source];
            if (negative) value = negated(value);
        } else {
            Walk<1, 4> walk;
            for (int k = 0; k < 1; ++k) walk.at[k] = at[k];
            walk_inside(rules, shape, 0, 1, walk);
            if (walk.base == CELL) {
                const int64_t source = element_of(shape, walk.at);
                value = v_array[source];
            }
            for (int s = walk.count - 1; s >= 0; --s) {
                const Step<1>& step = walk.steps[s];
                if (step.kind == NEGATE) {
                    value = negated(value);
                }
            }
        }
        v_array[ghost] = value;
    }
}

extern "C" __global__ void __launch_bounds__(STENCIL_BLOCK) sweep_step_0_u1(
    stencil::array<double> u_array,
    stencil::array<const double> v_array,
    stencil::array<const uint64_t> globals, const stencil::Shape<1> shape, const stencil::Margins<1> grown) {
    (void)globals;
    const double dt = read_global<double>(globals, 3);
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
                    const double u = u_array[cell];
                    const double v = v_array[cell];
                    const double u1 = u + dt * v;
                    u_array[cell] = u1;
                }
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(STENCIL_BLOCK) sweep_step_1_v1(
    stencil::array<double> v_array,
    stencil::array<const double> u1_array,
    stencil::array<const uint64_t> globals, const stencil::Shape<1> shape) {
    (void)globals;
    const double t1 = read_global<double>(globals, 4);
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
                    const double v = v_array[cell];
                    const double u1_xp1 = u1_array[cell + 1];
                    const double u1 = u1_array[cell];
                    const double u1_xm1 = u1_array[cell - 1];
                    const double v1 = v + t1 * (u1_xp1 - 2.0 * u1 + u1_xm1);
                    v_array[cell] = v1;
                }
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(STENCIL_BLOCK) sweep_step_observed_1_v1(
    stencil::array<const double> v_array,
    stencil::array<const double> u1_array,
    stencil::array<double> out_v_array,
    stencil::array<const uint64_t> globals, const stencil::Shape<1> shape) {
    (void)globals;
    const double t1 = read_global<double>(globals, 4);
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
                    const double v = v_array[cell];
                    const double u1_xp1 = u1_array[cell + 1];
                    const double u1 = u1_array[cell];
                    const double u1_xm1 = u1_array[cell - 1];
                    const double v1 = v + t1 * (u1_xp1 - 2.0 * u1 + u1_xm1);
                    out_v_array[cell] = v1;
                }
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(STENCIL_BLOCK) sweep_step_observed_2_energy(
    stencil::array<const double> u1_array,
    stencil::array<const double> v_array,
    stencil::array<const double> v1_array,
    stencil::array<double> energy_partials,
    stencil::array<const uint64_t> globals, const stencil::Shape<1> shape) {
    (void)globals;
    const double t1 = read_global<double>(globals, 6);
    const double t3 = read_global<double>(globals, 5);
    const double dx = read_global<double>(globals, 7);
    const Margins<1> grown = {{{0, 0}}};
    const Chunks<1> chunks = chunks_of(shape);
    for (int64_t first = chunks.first_of_block(); first < chunks.count; first += chunks.step()) {
        const Index chunk = Index(first) + Index(threadIdx.x) / LANES;
        double energy_lane = -0.0;
        if (chunk < chunks.count) {
            const Row<1> row = row_at(shape, grown, chunks.row(chunk));
            const Index (&at)[1] = row.at;
            (void)at;
            const Index chunk_end = chunks.end(shape, chunk);
            for (Index i = chunks.begin(chunk); i < chunk_end; i += LANES) {
                const Index cell = row.start + i;
                (void)cell;
                const double u1_xp1 = u1_array[cell + 1];
                const double u1_xm1 = u1_array[cell - 1];
                const double t2 = (u1_xp1 - u1_xm1) / t1;
                const double v = v_array[cell];
                const double v1 = v1_array[cell];
                const double t4 = (v + v1) / 2.0;
                energy_lane = combine_add()(energy_lane, 0.5 * (t3 * (t2 * t2) + t4 * t4) * dx);
            }
        }
        energy_lane = combine_lanes(energy_lane, combine_add());
        if (chunk < chunks.count && chunks.lane() == 0) energy_partials[chunk] = energy_lane;
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
    stencil::array<uint64_t> globals, const stencil::Shape<1> shape) {
    (void)shape;
    const double new_energy = read_global<double>(globals, 2);
    write_global(globals, 0, new_energy);
}

extern "C" __global__ void __launch_bounds__(STENCIL_BLOCK) begin_step(
    stencil::array<uint64_t> globals, const stencil::Shape<1> shape) {
    (void)shape;
    uniforms_step(globals, shape);
}

