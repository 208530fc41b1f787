// hello_manifest
#include "stencil_openmp.h"

namespace stencil {
namespace plan_cbe4515f31224d20 {

static STENCIL_PROCEDURE void sweep_step_0_y(
    const Shape<1>& shape, const unsigned char* globals, const Box<1>& part,
    const double* x_array,
    double* out_y_array) {
    (void)globals;
    const int64_t first = part.low[0], last = part.high[0];
    Row<1> row = row_at(shape, part);
    const int64_t (&at)[1] = row.at;
    (void)at;
    for (int64_t rows = rows_of(part); rows > 0; --rows, next_row(shape, part, row)) {
        const double* const x = x_array + row.start;
        double* const out_y = out_y_array + row.start;
#pragma omp simd
        for (int64_t i = first; i < last; ++i) {
            const double y = x[i] * x[i];
            out_y[i] = y;
        }
    }
}

static STENCIL_PROCEDURE void sweep_step_1_z(
    const Shape<1>& shape, const unsigned char* globals, const Box<1>& part,
    const double* y_array,
    double* out_density_array) {
    (void)globals;
    const int64_t first = part.low[0], last = part.high[0];
    Row<1> row = row_at(shape, part);
    const int64_t (&at)[1] = row.at;
    (void)at;
    for (int64_t rows = rows_of(part); rows > 0; --rows, next_row(shape, part, row)) {
        const double* const y = y_array + row.start;
        double* const out_density = out_density_array + row.start;
#pragma omp simd
        for (int64_t i = first; i < last; ++i) {
            const double z = y[i] + y[i];
            out_density[i] = z;
        }
    }
}

static constexpr Rotation<1> run_step_rotation = {{0}};

static void run_step(Run<1>& run, int rank) {
    Team& team = run.team;
    const Shape<1>& shape = run.shape;
    unsigned char* const globals = run.march.globals;
    (void)shape, (void)globals, (void)rank;
    {
        static constexpr Margins<1> grown = {{{0, 0}}};
        const Blocks<1> blocks = cut(shape, grown, team.size, run.tile(0));
        share(team, rank, 0, blocks.count(), [&](int64_t task) {
            for_boxes(shape, grown, blocks[task], [&](const Box<1>& box) {
                sweep_step_0_y(shape, globals, box,
                    run.array<double>(0),
                    run.array<double>(0));
            });
        });
    }
    barrier(team, [&] { lap(run, 0); });
    {
        static constexpr Margins<1> grown = {{{0, 0}}};
        const Blocks<1> blocks = cut(shape, grown, team.size, run.tile(1));
        share(team, rank, 0, blocks.count(), [&](int64_t task) {
            for_boxes(shape, grown, blocks[task], [&](const Box<1>& box) {
                sweep_step_1_z(shape, globals, box,
                    run.array<double>(0),
                    run.array<double>(0));
            });
        });
    }
    barrier(team, [&] {
        lap(run, 1);
        end_step(run, run_step_rotation);
    });
}

}  // namespace plan_cbe4515f31224d20
}  // namespace stencil

extern "C" __attribute__((visibility("default"))) int32_t march_plan_cbe4515f31224d20(stencil::March* march) {
    using namespace stencil;
    using namespace stencil::plan_cbe4515f31224d20;
    const auto buffer_bytes = [](const Shape<1>& shape, int threads, int64_t tile) {
        (void)shape, (void)threads, (void)tile;
        int64_t bytes = 0;
        return bytes;
    };
    switch (march->kernel) {
    case 0:
        return run_march<1>(*march, 1, buffer_bytes,
            [](const Shape<1>& shape, unsigned char* globals) {
                (void)shape, (void)globals;
            },
            [](Run<1>& run, int rank) {
                run_step(run, rank);
            });
    default: return 2;
    }
}
