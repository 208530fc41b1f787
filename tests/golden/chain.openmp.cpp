// chain
#include "stencil_openmp.h"

namespace stencil {
namespace plan_27bc674c2bfb2157 {

// Outside of u
struct outside_u {
    static constexpr SideRule table[2][2] = {
        {{OUTFLOW, 1, 0}, {OUTFLOW, 1, 0}},
        {{OUTFLOW, 1, 0}, {OUTFLOW, 1, 0}},
    };
    static constexpr Margins<2> grown = {{{1, 1}, {1, 1}}};
    static constexpr int most_steps = 8;

    template <class Use>
    static void operand(int number, const Shape<2>& shape, const unsigned char* globals, const Use& use) {
        (void)shape, (void)globals, (void)use;
        switch (number) {
        default: break;
        }
    }
};

static STENCIL_PROCEDURE void sweep_step_0_flux(
    const Shape<2>& shape, const unsigned char* globals, const Tile<2>& tile, const Box<2>& part,
    const double* u_array,
    double* out_flux_array) {
    (void)globals;
    const int64_t first = part.low[1], last = part.high[1];
    Row<2> row = row_at(shape, part);
    const int64_t (&at)[2] = row.at;
    (void)at, (void)tile;
    for (int64_t rows = rows_of(part); rows > 0; --rows, next_row(shape, part, row)) {
        const double* const u_xp1 = u_array + row.start + shape.strides[0];
        const double* const u = u_array + row.start;
        double* const out_flux = out_flux_array + rolling_row<2>(tile, at, {0, 0});
#pragma omp simd
        for (int64_t i = first; i < last; ++i) {
            const double flux = math::sqrt(u_xp1[i] * u[i]) / (1.0 + u[i + 1] * u[i - 1]);
            out_flux[i] = flux;
        }
    }
}

static STENCIL_PROCEDURE void sweep_step_1_u(
    const Shape<2>& shape, const unsigned char* globals, const Tile<2>& tile, const Box<2>& part,
    const double* u_array,
    const double* flux_array,
    double* out_u_array) {
    (void)globals;
    const int64_t first = part.low[1], last = part.high[1];
    Row<2> row = row_at(shape, part);
    const int64_t (&at)[2] = row.at;
    (void)at, (void)tile;
    for (int64_t rows = rows_of(part); rows > 0; --rows, next_row(shape, part, row)) {
        const double* const u = u_array + row.start;
        const double* const flux = flux_array + rolling_row<2>(tile, at, {0, 0});
        const double* const flux_xm1 = flux_array + rolling_row<2>(tile, at, {-1, 0});
        double* const out_u = out_u_array + row.start;
#pragma omp simd
        for (int64_t i = first; i < last; ++i) {
            out_u[i] = u[i] - 0x1.999999999999ap-4 /* 0.1 */ * (flux[i] - flux_xm1[i]);
        }
    }
}

// Together: sweep_step_0_flux, sweep_step_1_u
static constexpr Margins<2> together_step_0_grown = {{{0, 0}, {0, 0}}};
static constexpr Margins<2> together_step_0_spread = {{{1, 0}, {0, 0}}};
static constexpr int64_t together_step_0_cell_bytes = 16;

static void together_step_0(Run<2>& run, int rank, const Tile<2>& tile) {
    char* const buffer = run.buffer(rank);
    const Shape<2>& shape = run.shape;
    const unsigned char* const globals = run.march.globals;
    double* const flux = reinterpret_cast<double*>(buffer + 0 * tile.plane);
    static constexpr Margins<2> grown[] = {
        {{{1, 0}, {0, 0}}},
        {{{0, 0}, {0, 0}}},
    };
    Box<2> part;
    for (int64_t plane = tile.box.low[0] - 1; plane < tile.box.high[0] + 0; ++plane) {
        if (leaves(run.team)) return;
        if (plane_of(tile, grown[0], plane, part)) {
            const Turn<2> turn(run, rank, -1, 1);
            sweep_step_0_flux(shape, globals, tile, part,
                run.array<double>(0),
                flux);
        }
        if (plane_of(tile, grown[1], plane, part)) {
            const Turn<2> turn(run, rank, -1, 2);
            sweep_step_1_u(shape, globals, tile, part,
                run.array<double>(0),
                flux,
                run.array<double>(2));
        }
    }
}

static constexpr Rotation<3> run_step_rotation = {{2, 1, 0}};

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
        const Tiles<2> tiles =
            cut_tiles(shape, together_step_0_grown, together_step_0_spread, together_step_0_cell_bytes, team.size, run.march.tile);
        share_or_leave(team, rank, 0, tiles.count(), [&](int64_t task) { together_step_0(run, rank, tiles[task]); });
    }
    barrier(team, [&] {
        if (leave_step(run, run_step_rotation)) return;
        lap(run, -1);
        end_step(run, run_step_rotation);
    });
}

}  // namespace plan_27bc674c2bfb2157
}  // namespace stencil

extern "C" __attribute__((visibility("default"))) int32_t march_plan_27bc674c2bfb2157(stencil::March* march) {
    using namespace stencil;
    using namespace stencil::plan_27bc674c2bfb2157;
    const auto buffer_bytes = [](const Shape<2>& shape, int threads, int64_t tile) {
        (void)shape, (void)threads, (void)tile;
        int64_t bytes = 0;
        bytes = at_least(bytes, together_step_0_cell_bytes * cut_tiles(shape, together_step_0_grown, together_step_0_spread, together_step_0_cell_bytes, threads, tile).plane);
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
