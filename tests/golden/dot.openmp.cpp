// dot
#include "stencil_openmp.h"

namespace stencil {
namespace plan_7868682c06b8ff91 {

static STENCIL_PROCEDURE void sweep_main_0_product(
    const Shape<1>& shape, const unsigned char* globals, const Box<1>& part,
    const double* xs_array,
    const double* ys_array,
    double* product_partials) {
    (void)globals;
    Row<1> row = row_at(shape, part);
    const int64_t (&at)[1] = row.at;
    (void)at;
    for (int64_t rows = rows_of(part); rows > 0; --rows, next_row(shape, part, row)) {
        const double* const xs = xs_array + row.start;
        const double* const ys = ys_array + row.start;
        const int64_t number = row_number(shape, at), end = part.high[0];
        for (int64_t first = part.low[0], last = first; first < end; first = last) {
            last = chunk_end(shape, first, end);
            if (last - first == CHUNK) {
                struct {
                    ChunkLanes<double> product_cells = ChunkLanes<double>(-0.0);
                } made;
                for (int64_t done = first; done < last; done += LANES) {
                    const int64_t first = done;
                    alignas(64) double product_cells[LANES];
#pragma omp simd
                    for (int64_t lane = 0; lane < LANES; ++lane) { const int64_t i = first + lane;
                        product_cells[i - first] = xs[i] * ys[i];
                    }
                    made.product_cells.take(product_cells, combine_add());
                }
                product_partials[partial_index(shape, number, first)] = made.product_cells.root(combine_add());
                continue;
            }
            alignas(64) double product_cells[CHUNK];
#pragma omp simd
            for (int64_t i = first; i < last; ++i) {
                product_cells[i - first] = xs[i] * ys[i];
            }
            const int64_t lane = (shape.origin[0] + first) % LANES;
            product_partials[partial_index(shape, number, first)] =
                reduce_chunk(product_cells, last - first, lane, double(-0.0), combine_add());
        }
    }
}

static constexpr Rotation<2> run_main_rotation = {{0, 1}};

static void run_main(Run<1>& run, int rank) {
    Team& team = run.team;
    const Shape<1>& shape = run.shape;
    unsigned char* const globals = run.march.globals;
    (void)shape, (void)globals, (void)rank;
    {
        static constexpr Margins<1> grown = {{{0, 0}}};
        const Blocks<1> blocks = cut(shape, grown, team.size, run.tile(0));
        share_or_leave(team, rank, 0, blocks.count(), [&](int64_t task) {
            for_boxes(shape, grown, blocks[task], [&](const Box<1>& box) {
                sweep_main_0_product(shape, globals, box,
                    run.array<double>(0),
                    run.array<double>(1),
                    run.partials<double>(0));
            });
        });
    }
    barrier(team, [&] {
        if (leave_step(run, run_main_rotation)) return;
        lap(run, 0);
        write_global(globals, 1, reduce_partials(shape, run.partials<double>(0), combine_add()));
        lap(run, 1);
        const auto& shape = run.shape;
        (void)shape;
        const double new_product = read_global<double>(globals, 1);
        write_global(globals, 0, new_product);
        end_step(run, run_main_rotation);
    });
}

}  // namespace plan_7868682c06b8ff91
}  // namespace stencil

extern "C" __attribute__((visibility("default"))) int32_t march_plan_7868682c06b8ff91(stencil::March* march) {
    using namespace stencil;
    using namespace stencil::plan_7868682c06b8ff91;
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
                run_main(run, rank);
            });
    default: return 2;
    }
}
