// solid
#include "stencil_openmp.h"
#include "stencil_vectors.h"

namespace stencil {
namespace plan_b028fe0378a5eccf {

// Outside of u
struct outside_u {
    static constexpr SideRule table[3][2] = {
        {{PERIODIC, 1, 0}, {PERIODIC, 1, 0}},
        {{OUTFLOW, 1, 0}, {OUTFLOW, 1, 0}},
        {{FIXED, 1, 1}, {REFLECT, 1, 0}},
    };
    static constexpr Margins<3> grown = {{{1, 1}, {1, 1}, {1, 1}}};
    static constexpr int most_steps = 12;

    template <class Use>
    static void operand(int number, const Shape<3>& shape, const unsigned char* globals, const Use& use) {
        (void)shape, (void)globals, (void)use;
        switch (number) {
        case 1: {
            use([&](const int64_t (&at)[3], int64_t i) -> double {
                (void)at, (void)i;
                return 0.0;
            });
            break;
        }
        default: break;
        }
    }
};

static STENCIL_PROCEDURE void sweep_step_0_u(
    const Shape<3>& shape, const unsigned char* globals, const Box<3>& part,
    const double* u_array,
    double* out_u_array) {
    (void)globals;
    const int64_t first = part.low[2], last = part.high[2];
    Row<3> row = row_at(shape, part);
    const int64_t (&at)[3] = row.at;
    (void)at;
    for (int64_t rows = rows_of(part); rows > 0; --rows, next_near_row(shape, part, row)) {
        ShiftedCells<double> const u = u_array + row.start;
        Cells<const double> const u_xp1 = u_array + row.start + shape.strides[0];
        Cells<const double> const u_xm1 = u_array + row.start - shape.strides[0];
        Cells<const double> const u_yp1 = u_array + row.start + shape.strides[1];
        Cells<const double> const u_ym1 = u_array + row.start - shape.strides[1];
        Cells<double> const out_u = out_u_array + row.start;
        const auto compute = [&](const auto i) __attribute__((always_inline)) {
            prefetch(i, out_u, u_xp1, u_xm1);
            const auto around = u_xp1[i] + u_xm1[i] + u_yp1[i] + u_ym1[i] + u[i + 1] + u[i - 1];
            out_u[i] = u[i] + 0.125 * (around - 6.0 * u[i]);
        };
        const Stretch whole = whole_vectors(first, last, u);
        side_by_side<double>(whole, compute, u);
        for (int end = 0; end < 2 && whole.last - whole.first < last - first; ++end) {
#pragma omp simd
            for (int64_t i = end ? whole.last : first; i < (end ? last : whole.first); ++i) {
                compute(i);
            }
        }
    }
}

static STENCIL_PROCEDURE void sweep_step_observed_0_u_total(
    const Shape<3>& shape, const unsigned char* globals, const Box<3>& part,
    const double* u_array,
    const double* u_array_2,
    double* out_u_array,
    double* total_partials) {
    (void)globals;
    Row<3> row = row_at(shape, part);
    const int64_t (&at)[3] = row.at;
    (void)at;
    for (int64_t rows = rows_of(part); rows > 0; --rows, next_row(shape, part, row)) {
        const double* const u = u_array + row.start;
        const double* const u_xp1 = u_array + row.start + shape.strides[0];
        const double* const u_xm1 = u_array + row.start - shape.strides[0];
        const double* const u_yp1 = u_array + row.start + shape.strides[1];
        const double* const u_ym1 = u_array + row.start - shape.strides[1];
        const double* const u_2 = u_array_2 + row.start;
        double* const out_u = out_u_array + row.start;
        const int64_t number = row_number(shape, at), end = part.high[2];
        for (int64_t first = part.low[2], last = first; first < end; first = last) {
            last = chunk_end(shape, first, end);
            alignas(64) double total_cells[CHUNK];
#pragma omp simd
            for (int64_t i = first; i < last; ++i) {
                const double around = u_xp1[i] + u_xm1[i] + u_yp1[i] + u_ym1[i] + u[i + 1] + u[i - 1];
                const double t1 = u[i] + 0.125 * (around - 6.0 * u[i]);
                const double u_here = u_2[i];
                out_u[i] = t1;
                total_cells[i - first] = u_here;
            }
            const int64_t lane = (shape.origin[2] + first) % LANES;
            total_partials[partial_index(shape, number, first)] =
                reduce_chunk(total_cells, last - first, lane, double(-0.0), combine_add());
        }
    }
}

static constexpr Rotation<2> run_step_rotation = {{1, 0}};

static void run_step(Run<3>& run, int rank) {
    Team& team = run.team;
    const Shape<3>& shape = run.shape;
    unsigned char* const globals = run.march.globals;
    (void)shape, (void)globals, (void)rank;
    {
        const double* const source = run.array<double>(0);
        double* const target = run.array<double>(0);
        const Blocks<3> blocks = cut_rows(shape, outside_u::grown, in_parts(team));
        share(team, rank, 0, blocks.count(), [&](int64_t task) {
            const Block block = blocks[task];
            fill_rows<outside_u>(shape, globals, source, target, block.first_row, block.last_row);
        }, source == target ? target : nullptr);
    }
    barrier(team, [&] { lap(run, 0); });
    {
        static constexpr Margins<3> grown = {{{0, 0}, {0, 0}, {0, 0}}};
        const Blocks<3> blocks = cut_in_strips(shape, grown, team.size, run.tile(0), 32);
        share_or_leave(team, rank, 0, blocks.count(), [&](int64_t task) {
            for_boxes(shape, grown, blocks[task], [&](const Box<3>& box) {
                sweep_step_0_u(shape, globals, box,
                    run.array<double>(0),
                    run.array<double>(1));
            });
        });
    }
    barrier(team, [&] {
        if (leave_step(run, run_step_rotation)) return;
        lap(run, 1);
        end_step(run, run_step_rotation);
    });
}

static constexpr Rotation<2> run_step_observed_rotation = {{1, 0}};

static void run_step_observed(Run<3>& run, int rank) {
    Team& team = run.team;
    const Shape<3>& shape = run.shape;
    unsigned char* const globals = run.march.globals;
    (void)shape, (void)globals, (void)rank;
    {
        const double* const source = run.array<double>(0);
        double* const target = run.array<double>(0);
        const Blocks<3> blocks = cut_rows(shape, outside_u::grown, in_parts(team));
        share(team, rank, 0, blocks.count(), [&](int64_t task) {
            const Block block = blocks[task];
            fill_rows<outside_u>(shape, globals, source, target, block.first_row, block.last_row);
        }, source == target ? target : nullptr);
    }
    barrier(team, [&] { lap(run, 2); });
    {
        static constexpr Margins<3> grown = {{{0, 0}, {0, 0}, {0, 0}}};
        const Blocks<3> blocks = cut_in_strips(shape, grown, team.size, run.tile(1), 40);
        share_or_leave(team, rank, 0, blocks.count(), [&](int64_t task) {
            for_boxes(shape, grown, blocks[task], [&](const Box<3>& box) {
                sweep_step_observed_0_u_total(shape, globals, box,
                    run.array<double>(0),
                    run.array<double>(0),
                    run.array<double>(1),
                    run.partials<double>(0));
            });
        });
    }
    barrier(team, [&] {
        if (leave_step(run, run_step_observed_rotation)) return;
        lap(run, 3);
        write_global(globals, 1, reduce_partials(shape, run.partials<double>(0), combine_add()));
        lap(run, 4);
        const auto& shape = run.shape;
        (void)shape;
        const double new_total = read_global<double>(globals, 1);
        write_global(globals, 0, new_total);
        end_step(run, run_step_observed_rotation);
    });
}

}  // namespace plan_b028fe0378a5eccf
}  // namespace stencil

extern "C" __attribute__((visibility("default"))) int32_t march_plan_b028fe0378a5eccf(stencil::March* march) {
    using namespace stencil;
    using namespace stencil::plan_b028fe0378a5eccf;
    const auto buffer_bytes = [](const Shape<3>& shape, int threads, int64_t tile) {
        (void)shape, (void)threads, (void)tile;
        int64_t bytes = 0;
        return bytes;
    };
    switch (march->kernel) {
    case 0:
        return run_march<3>(*march, 1, buffer_bytes,
            [](const Shape<3>& shape, unsigned char* globals) {
                (void)shape, (void)globals;
            },
            [](Run<3>& run, int rank) {
                if (run.observed)
                    run_step_observed(run, rank);
                else
                    run_step(run, rank);
            });
    default: return 2;
    }
}
