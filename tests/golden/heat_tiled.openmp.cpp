// heat
#include "stencil_openmp.h"

namespace stencil {
namespace plan_f54f72dd54d86454 {

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

// Several steps of step in tiles
static constexpr int tile_run_step_turns[2][2] = {
    {0, 1},
    {1, 0},
};

static void tile_run_step(Run<2>& run, int rank) {
    Team& team = run.team;
    const Shape<2>& shape = run.shape;
    const bool resumed = run.parts > 0;
    if (!resumed) {
        if (run.march.window <= 0) {  // else planes are filled window by window
            const unsigned char* const globals = run.march.globals;
            double* const array = run.array<double>(0);
            const Blocks<2> blocks = cut_rows(shape, outside_u::grown, in_parts(team));
            share(team, rank, 0, blocks.count(), [&](int64_t task) {
                const Block block = blocks[task];
                fill_rows<outside_u>(shape, globals, array, array, block.first_row, block.last_row);
            }, array);
        }
        barrier(team, [&] {
            lap(run, 0);
            look_ahead(run, [&](unsigned char* globals) {
                (void)globals;
            });
        });
    }
    const Lattice lattice = {
        shape.extents[0], 1, run.march.height, run.march.spaces, 1 * run.levels, true};
    const Windows windows = windows_of_tiles(lattice, run.march.window);
    const auto first_plane = [&](int64_t at) { return lattice.centre(at_least(at * windows.size - lattice.bands_end() / 2 - 1, 0)); };
    const auto end_plane = [&](int64_t at) { return lattice.centre(at_most((at + 1) * windows.size + 1, lattice.spaces)); };
    if (rank == 0 && !resumed) begin_windows(run.march.files, shape.extents[0], end_plane);
    // Ghost cells that each march writes anew: of planes outside of the domain, then of those that each window comes to.
    int64_t reach = 0;
    reach = at_least(reach, at_least(outside_u::grown.sides[0][0], outside_u::grown.sides[0][1]));
    const auto fill_planes = [&](int64_t low, int64_t high) {
        const unsigned char* const globals = run.march.globals;
        {
            double* const array = run.array<double>(0);
            share_rows(team, rank, 0, rows_of_planes(shape, outside_u::grown, low, high), [&](int64_t first, int64_t last) {
                fill_rows<outside_u>(shape, globals, array, array, first, last);
            });
        }
        barrier(team, [] {});
    };
    int64_t band = resumed ? run.march.paused_band : -1;
    const int64_t bands = lattice.bands_end();
    for (int64_t at = resumed ? run.march.paused_window : 0; at < windows.all(); ++at, band = -1) {
        const Window window = windows[at];
        if (windows.size > 0 && !window.rest && !(resumed && at == run.march.paused_window)) {
            const int64_t planes = shape.extents[0], all = INT64_MAX / 4;
            if (at == 0) {
                fill_planes(-all, 0);
                fill_planes(planes, all);
            }
            fill_planes(at == 0 ? 0 : at_most(end_plane(at - 1) + reach, planes), at_most(end_plane(at) + reach, planes));
        }
        for (; band < bands; ++band) {
            const BandTiles tiles = tiles_in(lattice, band, window);
            share_or_pause(team, rank, run.parts > 0 ? run.parts : team.size, tiles.count, [&](int64_t task) {
                for_tile<0, 1, false>(shape, lattice, band, tiles[task], 1, run.march.chunk, Window{}, nullptr,
                    [&](int64_t number, const Box<2>& box) {
                    const int64_t step = number / 1;
                    const unsigned char* const globals = run.globals_of(step);
                    const Level<2> level = {run, tile_run_step_turns[step % 2]};
                    switch (number % 1) {
                    case 0:
                        {
                            const Turn<2> turn(run, rank, -1, 1);
                            sweep_step_0_u(shape, globals, box,
                                level.array<double>(0),
                                level.array<double>(1));
                        }
                        fill_images<outside_u>(shape, run.globals_of(step + 1), level.array<double>(1), box);
                        break;
                    }
                });
            });
            const bool last = band + 1 == bands, ends = last && at + 1 == windows.all();
            barrier(team, [&] {
                if (pause_tiles(run, at, band)) return;
                if (!ends) return;
                if (run.march.files) end_windows(*run.march.files, shape.extents[0]);
                memcpy(run.march.globals, run.globals_of(run.levels), size_t(run.march.block_bytes));
                end_step(run, run_step_rotation);
            });
            if (!run.running) return;
            // One thread has the disk work, while the others begin with the next window.
            if (last && !ends && rank == 0) leave_window(run.march.files, windows, at, shape.extents[0], first_plane, end_plane);
        }
    }
}
}  // namespace plan_f54f72dd54d86454
}  // namespace stencil

extern "C" __attribute__((visibility("default"))) int32_t march_plan_f54f72dd54d86454(stencil::March* march) {
    using namespace stencil;
    using namespace stencil::plan_f54f72dd54d86454;
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
                if (run.levels > 1 || (run.march.window > 0 && !run.observed)) {
                    tile_run_step(run, rank);
                    return;
                }
                run_step(run, rank);
            });
    default: return 2;
    }
}
