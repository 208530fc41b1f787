// wave
#include "stencil_openmp.h"

namespace stencil {
namespace plan_b7dcb9a72241ab3c {

// The same in all cells, before a march
static STENCIL_PROCEDURE void uniforms_step(const Shape<1>& shape, unsigned char* globals) {
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
struct outside_v {
    static constexpr SideRule table[1][2] = {
        {{PERIODIC, 1, 0}, {PERIODIC, 1, 0}},
    };
    static constexpr Margins<1> grown = {{{1, 1}}};
    static constexpr int most_steps = 4;

    template <class Use>
    static void operand(int number, const Shape<1>& shape, const unsigned char* globals, const Use& use) {
        (void)shape, (void)globals, (void)use;
        switch (number) {
        default: break;
        }
    }
};

static STENCIL_PROCEDURE void sweep_step_0_u1(
    const Shape<1>& shape, const unsigned char* globals, const Box<1>& part,
    const double* u_array,
    const double* v_array,
    double* out_u_array) {
    (void)globals;
    const double dt = read_global<double>(globals, 3);
    const int64_t first = part.low[0], last = part.high[0];
    Row<1> row = row_at(shape, part);
    const int64_t (&at)[1] = row.at;
    (void)at;
    for (int64_t rows = rows_of(part); rows > 0; --rows, next_row(shape, part, row)) {
        const double* const u = u_array + row.start;
        const double* const v = v_array + row.start;
        double* const out_u = out_u_array + row.start;
#pragma omp simd
        for (int64_t i = first; i < last; ++i) {
            const double u1 = u[i] + dt * v[i];
            out_u[i] = u1;
        }
    }
}

static STENCIL_PROCEDURE void sweep_step_1_v1(
    const Shape<1>& shape, const unsigned char* globals, const Box<1>& part,
    const double* v_array,
    const double* u1_array,
    double* out_v_array) {
    (void)globals;
    const double t1 = read_global<double>(globals, 4);
    const int64_t first = part.low[0], last = part.high[0];
    Row<1> row = row_at(shape, part);
    const int64_t (&at)[1] = row.at;
    (void)at;
    for (int64_t rows = rows_of(part); rows > 0; --rows, next_row(shape, part, row)) {
        const double* const v = v_array + row.start;
        const double* const u1 = u1_array + row.start;
        double* const out_v = out_v_array + row.start;
#pragma omp simd
        for (int64_t i = first; i < last; ++i) {
            const double v1 = v[i] + t1 * (u1[i + 1] - 2.0 * u1[i] + u1[i - 1]);
            out_v[i] = v1;
        }
    }
}

static STENCIL_PROCEDURE void sweep_step_observed_2_energy(
    const Shape<1>& shape, const unsigned char* globals, const Box<1>& part,
    const double* u1_array,
    const double* v_array,
    const double* v1_array,
    double* energy_partials) {
    (void)globals;
    const double t1 = read_global<double>(globals, 6);
    const double t3 = read_global<double>(globals, 5);
    const double dx = read_global<double>(globals, 7);
    Row<1> row = row_at(shape, part);
    const int64_t (&at)[1] = row.at;
    (void)at;
    for (int64_t rows = rows_of(part); rows > 0; --rows, next_row(shape, part, row)) {
        const double* const u1 = u1_array + row.start;
        const double* const v = v_array + row.start;
        const double* const v1 = v1_array + row.start;
        const int64_t number = row_number(shape, at), end = part.high[0];
        for (int64_t first = part.low[0], last = first; first < end; first = last) {
            last = chunk_end(shape, first, end);
            if (last - first == CHUNK) {
                struct {
                    ChunkLanes<double> energy_cells = ChunkLanes<double>(-0.0);
                } made;
                for (int64_t done = first; done < last; done += LANES) {
                    const int64_t first = done;
                    alignas(64) double energy_cells[LANES];
#pragma omp simd
                    for (int64_t lane = 0; lane < LANES; ++lane) { const int64_t i = first + lane;
                        const double t2 = (u1[i + 1] - u1[i - 1]) / t1;
                        const double t4 = (v[i] + v1[i]) / 2.0;
                        energy_cells[i - first] = 0.5 * (t3 * (t2 * t2) + t4 * t4) * dx;
                    }
                    made.energy_cells.take(energy_cells, combine_add());
                }
                energy_partials[partial_index(shape, number, first)] = made.energy_cells.root(combine_add());
                continue;
            }
            alignas(64) double energy_cells[CHUNK];
#pragma omp simd
            for (int64_t i = first; i < last; ++i) {
                const double t2 = (u1[i + 1] - u1[i - 1]) / t1;
                const double t4 = (v[i] + v1[i]) / 2.0;
                energy_cells[i - first] = 0.5 * (t3 * (t2 * t2) + t4 * t4) * dx;
            }
            const int64_t lane = (shape.origin[0] + first) % LANES;
            energy_partials[partial_index(shape, number, first)] =
                reduce_chunk(energy_cells, last - first, lane, double(-0.0), combine_add());
        }
    }
}

static constexpr Rotation<3> run_step_rotation = {{0, 1, 2}};

static void run_step(Run<1>& run, int rank) {
    Team& team = run.team;
    const Shape<1>& shape = run.shape;
    unsigned char* const globals = run.march.globals;
    (void)shape, (void)globals, (void)rank;
    {
        const double* const source = run.array<double>(1);
        double* const target = run.array<double>(1);
        const Part part(run, rank, 1);
        const Blocks<1> blocks = cut_rows(shape, outside_v::grown, in_parts(team));
        share(team, rank, 0, blocks.count(), [&](int64_t task) {
            const Block block = blocks[task];
            fill_rows<outside_v>(shape, globals, source, target, block.first_row, block.last_row);
        }, source == target ? target : nullptr);
    }
    {
        const double* const source = run.array<double>(0);
        double* const target = run.array<double>(0);
        const Part part(run, rank, 2);
        const Blocks<1> blocks = cut_rows(shape, outside_v::grown, in_parts(team));
        share(team, rank, 1, blocks.count(), [&](int64_t task) {
            const Block block = blocks[task];
            fill_rows<outside_v>(shape, globals, source, target, block.first_row, block.last_row);
        }, source == target ? target : nullptr);
    }
    barrier(team, [&] { lap(run, 0); });
    {
        static constexpr Margins<1> grown = {{{1, 1}}};
        const Blocks<1> blocks = cut(shape, grown, team.size, run.tile(0));
        share(team, rank, 0, blocks.count(), [&](int64_t task) {
            for_boxes(shape, grown, blocks[task], [&](const Box<1>& box) {
                sweep_step_0_u1(shape, globals, box,
                    run.array<double>(0),
                    run.array<double>(1),
                    run.array<double>(0));
            });
        });
    }
    barrier(team, [&] { lap(run, 3); });
    {
        static constexpr Margins<1> grown = {{{0, 0}}};
        const Blocks<1> blocks = cut(shape, grown, team.size, run.tile(1));
        share(team, rank, 0, blocks.count(), [&](int64_t task) {
            for_boxes(shape, grown, blocks[task], [&](const Box<1>& box) {
                sweep_step_1_v1(shape, globals, box,
                    run.array<double>(1),
                    run.array<double>(0),
                    run.array<double>(1));
            });
        });
    }
    barrier(team, [&] {
        lap(run, 4);
        end_step(run, run_step_rotation);
    });
}

static constexpr Rotation<3> run_step_observed_rotation = {{0, 2, 1}};

static void run_step_observed(Run<1>& run, int rank) {
    Team& team = run.team;
    const Shape<1>& shape = run.shape;
    unsigned char* const globals = run.march.globals;
    (void)shape, (void)globals, (void)rank;
    {
        const double* const source = run.array<double>(1);
        double* const target = run.array<double>(1);
        const Part part(run, rank, 6);
        const Blocks<1> blocks = cut_rows(shape, outside_v::grown, in_parts(team));
        share(team, rank, 0, blocks.count(), [&](int64_t task) {
            const Block block = blocks[task];
            fill_rows<outside_v>(shape, globals, source, target, block.first_row, block.last_row);
        }, source == target ? target : nullptr);
    }
    {
        const double* const source = run.array<double>(0);
        double* const target = run.array<double>(0);
        const Part part(run, rank, 7);
        const Blocks<1> blocks = cut_rows(shape, outside_v::grown, in_parts(team));
        share(team, rank, 1, blocks.count(), [&](int64_t task) {
            const Block block = blocks[task];
            fill_rows<outside_v>(shape, globals, source, target, block.first_row, block.last_row);
        }, source == target ? target : nullptr);
    }
    barrier(team, [&] { lap(run, 5); });
    {
        static constexpr Margins<1> grown = {{{1, 1}}};
        const Blocks<1> blocks = cut(shape, grown, team.size, run.tile(0));
        share(team, rank, 0, blocks.count(), [&](int64_t task) {
            for_boxes(shape, grown, blocks[task], [&](const Box<1>& box) {
                sweep_step_0_u1(shape, globals, box,
                    run.array<double>(0),
                    run.array<double>(1),
                    run.array<double>(0));
            });
        });
    }
    barrier(team, [&] { lap(run, 8); });
    {
        static constexpr Margins<1> grown = {{{0, 0}}};
        const Blocks<1> blocks = cut(shape, grown, team.size, run.tile(1));
        share(team, rank, 0, blocks.count(), [&](int64_t task) {
            for_boxes(shape, grown, blocks[task], [&](const Box<1>& box) {
                sweep_step_1_v1(shape, globals, box,
                    run.array<double>(1),
                    run.array<double>(0),
                    run.array<double>(2));
            });
        });
    }
    barrier(team, [&] { lap(run, 9); });
    {
        static constexpr Margins<1> grown = {{{0, 0}}};
        const Blocks<1> blocks = cut(shape, grown, team.size, run.tile(2));
        share(team, rank, 0, blocks.count(), [&](int64_t task) {
            for_boxes(shape, grown, blocks[task], [&](const Box<1>& box) {
                sweep_step_observed_2_energy(shape, globals, box,
                    run.array<double>(0),
                    run.array<double>(1),
                    run.array<double>(2),
                    run.partials<double>(0));
            });
        });
    }
    barrier(team, [&] {
        lap(run, 10);
        write_global(globals, 2, reduce_partials(shape, run.partials<double>(0), combine_add()));
        lap(run, 11);
        const auto& shape = run.shape;
        (void)shape;
        const double new_energy = read_global<double>(globals, 2);
        write_global(globals, 0, new_energy);
        end_step(run, run_step_observed_rotation);
    });
}

}  // namespace plan_b7dcb9a72241ab3c
}  // namespace stencil

extern "C" __attribute__((visibility("default"))) int32_t march_plan_b7dcb9a72241ab3c(stencil::March* march) {
    using namespace stencil;
    using namespace stencil::plan_b7dcb9a72241ab3c;
    const auto buffer_bytes = [](const Shape<1>& shape, int threads, int64_t tile) {
        (void)shape, (void)threads, (void)tile;
        int64_t bytes = 0;
        return bytes;
    };
    switch (march->kernel) {
    case 0:
        return run_march<1>(*march, 2, buffer_bytes,
            [](const Shape<1>& shape, unsigned char* globals) {
                (void)shape, (void)globals;
                uniforms_step(shape, globals);
            },
            [](Run<1>& run, int rank) {
                if (run.observed)
                    run_step_observed(run, rank);
                else
                    run_step(run, rank);
            });
    default: return 2;
    }
}
