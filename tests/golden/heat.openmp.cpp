// heat
#include "stencil_openmp.h"

namespace stencil {
namespace plan_d48c04c03e7c50d2 {

// Outside of u
struct outside_u {
    static constexpr SideRule table[2][2] = {
        {{PERIODIC, 1, 0}, {PERIODIC, 1, 0}},
        {{FIXED, 1, 1}, {OUTFLOW, 1, 0}},
    };
    static constexpr Margins<2> grown = {{{1, 1}, {1, 1}}};
    static constexpr int most_steps = 8;

    template <class Use>
    static void operand(int number, const Shape<2>& shape, const unsigned char* globals, const Use& use) {
        (void)shape, (void)globals, (void)use;
        switch (number) {
        case 1: {
            use([&](const int64_t (&at)[2], int64_t i) -> double {
                (void)at, (void)i;
                return 1.0;
            });
            break;
        }
        default: break;
        }
    }
};

static STENCIL_PROCEDURE void sweep_step_0_u(
    const Shape<2>& shape, const unsigned char* globals, const Box<2>& part,
    const double* u_array,
    double* out_u_array) {
    (void)globals;
    const double a = read_global<double>(globals, 0);
    const int64_t first = part.low[1], last = part.high[1];
    Row<2> row = row_at(shape, part);
    const int64_t (&at)[2] = row.at;
    (void)at;
    for (int64_t rows = rows_of(part); rows > 0; --rows, next_row(shape, part, row)) {
        const double* const u = u_array + row.start;
        const double* const u_xp1 = u_array + row.start + shape.strides[0];
        const double* const u_xm1 = u_array + row.start - shape.strides[0];
        double* const out_u = out_u_array + row.start;
#pragma omp simd
        for (int64_t i = first; i < last; ++i) {
            out_u[i] = u[i] + a * (u_xp1[i] + u_xm1[i] + u[i + 1] + u[i - 1] - 4.0 * u[i]);
        }
    }
}

static constexpr Rotation<2> run_step_rotation = {{1, 0}};

static void run_step(Run<2>& run, int rank) {
    Team& team = run.team;
    const Shape<2>& shape = run.shape;
    unsigned char* const globals = run.march.globals;
    (void)shape, (void)globals, (void)rank;
    {
        const double* const source = run.array<double>(0);
        double* const target = run.array<double>(0);
        const Blocks<2> blocks = cut_rows(shape, outside_u::grown, in_parts(team));
        share(team, rank, 0, blocks.count(), [&](int64_t task) {
            const Block block = blocks[task];
            fill_rows<outside_u>(shape, globals, source, target, block.first_row, block.last_row);
        }, source == target ? target : nullptr);
    }
    barrier(team, [&] { lap(run, 0); });
    {
        static constexpr Margins<2> grown = {{{0, 0}, {0, 0}}};
        const Blocks<2> blocks = cut(shape, grown, team.size, run.tile(0));
        share_or_leave(team, rank, 0, blocks.count(), [&](int64_t task) {
            for_boxes(shape, grown, blocks[task], [&](const Box<2>& box) {
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

}  // namespace plan_d48c04c03e7c50d2
}  // namespace stencil

extern "C" __attribute__((visibility("default"))) int32_t march_plan_d48c04c03e7c50d2(stencil::March* march) {
    using namespace stencil;
    using namespace stencil::plan_d48c04c03e7c50d2;
    const auto buffer_bytes = [](const Shape<2>& shape, int threads, int64_t tile) {
        (void)shape, (void)threads, (void)tile;
        int64_t bytes = 0;
        return bytes;
    };
    switch (march->kernel) {
    case 0:
        return run_march<2>(*march, 1, buffer_bytes,
            [](const Shape<2>& shape, unsigned char* globals) {
                (void)shape, (void)globals;
            },
            [](Run<2>& run, int rank) {
                run_step(run, rank);
            });
    default: return 2;
    }
}
