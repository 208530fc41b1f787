// Stencil march on CPU threads: how rows are shared out, how sums are ordered, how steps follow each other.
#ifndef STENCIL_OPENMP_H
#define STENCIL_OPENMP_H

#include "stencil_prelude.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include <array>
#ifdef _OPENMP
#include <omp.h>
#endif

namespace stencil {

// ---- a team of threads ------------------------------------------------------------------------------------------------

struct alignas(64) Counter {
    int64_t next;
};

// Threads share one parallel region for a whole march. Each owns a contiguous part of the tasks of a launch, so that its
// cache keeps what it wrote, and then helps the others, so that a thread that was held back holds nobody up.
struct Team {
    int size, members;
    Counter* counters;
    alignas(64) int arrived;
    alignas(64) int generation;
};

template <class Body> inline void share(Team& team, int rank, int member, int64_t tasks, const Body& body) {
    if (team.size == 1) {
        for (int64_t task = 0; task < tasks; ++task) body(task);
        return;
    }
    for (int k = 0; k < team.size; ++k) {
        const int owner = (rank + k) % team.size;
        const int64_t first = tasks * owner / team.size, end = tasks * (owner + 1) / team.size;
        int64_t& next = team.counters[member * team.size + owner].next;
        for (;;) {
            const int64_t task = first + __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
            if (task >= end) break;
            body(task);
        }
    }
}

inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

// All wait for all; the last to arrive does `serial` before anybody goes on. Waiting spins for some ten microseconds,
// then gives the CPU away, then sleeps: on a loaded machine whoever is waited for must get the CPU.
template <class Serial> inline void meet(Team& team, const Serial& serial) {
    if (team.size == 1) {
        serial();
        return;
    }
    const int generation = __atomic_load_n(&team.generation, __ATOMIC_ACQUIRE);
    if (__atomic_add_fetch(&team.arrived, 1, __ATOMIC_ACQ_REL) == team.size) {
        for (int k = 0; k < team.members * team.size; ++k) team.counters[k].next = 0;
        team.arrived = 0;
        serial();
        __atomic_store_n(&team.generation, generation + 1, __ATOMIC_RELEASE);
        return;
    }
    for (int waited = 0; __atomic_load_n(&team.generation, __ATOMIC_ACQUIRE) == generation; ++waited) {
        if (waited < 2000) {
            relax();
        } else if (waited < 2200) {
            sched_yield();
        } else {
            const timespec moment = {0, 50000};
            nanosleep(&moment, nullptr);
        }
    }
}

// ---- rows and blocks --------------------------------------------------------------------------------------------------

constexpr int64_t CHUNK = 1024;  // cells whose sum is formed in one go, counted by global index
constexpr int LANES = 16;

template <int D> struct Margins {
    int64_t sides[D][2];
};

// Rows [first_row, last_row) of the grown domain, cells [first, last) of each.
struct Block {
    int64_t first_row, last_row, first, last;
};

template <int D> struct Blocks {
    int64_t rows, tall, row_blocks, chunks, wide, x_blocks, low, high, origin;

    int64_t count() const { return row_blocks * x_blocks; }
    int64_t border(int64_t x_block) const {
        if (x_block == 0) return low;
        if (x_block == x_blocks) return high;
        return (origin / CHUNK + x_block * wide) * CHUNK - origin;
    }
    Block operator[](int64_t task) const {
        const int64_t r = task / x_blocks, x = task % x_blocks;
        const int64_t first = r * tall, last = first + tall;
        return {first, last < rows ? last : rows, border(x), border(x + 1)};
    }
};

inline int64_t at_least(int64_t a, int64_t b) { return a > b ? a : b; }
inline int64_t at_most(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

template <int D> inline int64_t chunk_count(const Shape<D>& shape) {
    return (shape.origin[D - 1] + shape.extents[D - 1] - 1) / CHUNK - shape.origin[D - 1] / CHUNK + 1;
}

// About 16384 cells a block, at least four blocks a thread; rows are cut only where there are too few of them.
template <int D> inline Blocks<D> cut(const Shape<D>& shape, const Margins<D>& grown, int threads, int64_t tile) {
    Blocks<D> blocks;
    blocks.rows = 1;
    for (int k = 0; k + 1 < D; ++k) blocks.rows *= shape.extents[k] + grown.sides[k][0] + grown.sides[k][1];
    blocks.low = -grown.sides[D - 1][0];
    blocks.high = shape.extents[D - 1] + grown.sides[D - 1][1];
    blocks.origin = shape.origin[D - 1];
    blocks.chunks = chunk_count(shape);
    const int64_t width = blocks.high - blocks.low, wanted = 4 * int64_t(threads);
    blocks.tall = threads == 1 ? blocks.rows : at_most(at_least(16384 / width, 1), divide_up(blocks.rows, wanted));
    if (tile > 0) blocks.tall = at_most(tile, blocks.rows);
    blocks.row_blocks = divide_up(blocks.rows, blocks.tall);
    blocks.x_blocks = 1;
    if (threads > 1 && blocks.row_blocks < wanted) {
        blocks.x_blocks = at_most(blocks.chunks, at_least(divide_up(wanted, blocks.row_blocks), blocks.chunks / 16));
    }
    blocks.wide = divide_up(blocks.chunks, blocks.x_blocks);
    blocks.x_blocks = divide_up(blocks.chunks, blocks.wide);
    return blocks;
}

// Whole rows, at least 16 to a block, for passes that touch only the ends of most rows.
template <int D> inline Blocks<D> cut_rows(const Shape<D>& shape, const Margins<D>& grown, int threads) {
    Blocks<D> blocks = cut(shape, grown, 1, 0);
    blocks.tall = threads == 1 ? blocks.rows : at_least(divide_up(blocks.rows, 8 * int64_t(threads)), 16);
    blocks.row_blocks = divide_up(blocks.rows, blocks.tall);
    return blocks;
}

// A row by its indices along the outer axes; `start` is the element of its cell 0, `inside` whether it is in the domain.
template <int D> struct Row {
    int64_t at[D], start;
    bool inside;
};

template <int D> inline Row<D> row_at(const Shape<D>& shape, const Margins<D>& grown, int64_t number) {
    Row<D> row;
    row.start = shape.start;
    row.inside = true;
    row.at[D - 1] = 0;
    for (int k = D - 2; k >= 0; --k) {
        const int64_t below = grown.sides[k][0], n = shape.extents[k] + below + grown.sides[k][1];
        row.at[k] = number % n - below;
        number /= n;
        row.start += row.at[k] * shape.strides[k];
        row.inside = row.inside && row.at[k] >= 0 && row.at[k] < shape.extents[k];
    }
    return row;
}

// The row after this one, without dividing.
template <int D> inline void next_row(const Shape<D>& shape, const Margins<D>& grown, Row<D>& row) {
    row.inside = true;
    bool carry = true;
    for (int k = D - 2; k >= 0; --k) {
        if (carry) {
            ++row.at[k];
            row.start += shape.strides[k];
            carry = row.at[k] >= shape.extents[k] + grown.sides[k][1];
            if (carry) {
                const int64_t n = shape.extents[k] + grown.sides[k][0] + grown.sides[k][1];
                row.at[k] -= n;
                row.start -= n * shape.strides[k];
            }
        }
        row.inside = row.inside && row.at[k] >= 0 && row.at[k] < shape.extents[k];
    }
}

// ---- ghost cells ------------------------------------------------------------------------------------------------------

// Rules: `table`, `grown`, `most_steps` and `operand(number, shape, globals, use)`, which calls use(f) with a function
// f(at, i) that gives the operand's value at the cell with outer indices at and index i along the last axis.
template <class Rules, class T, int D>
inline void apply_step(
    const Shape<D>& shape, const unsigned char* globals, const Step<D>& step, const int64_t (&at)[D], T* cells,
    int64_t first, int64_t last) {
    if (step.kind == NEGATE) {
        for (int64_t i = first; i < last; ++i) cells[i] = T(-cells[i]);
    } else if (step.kind == ABOUT_FACE) {
        Rules::operand(step.operand, shape, globals, [&](const auto& value) {
#pragma omp simd
            for (int64_t i = first; i < last; ++i) {
                const T face = value(at, i);
                cells[i] = T(T(face + face) - cells[i]);
            }
        });
    } else {
        const T distance = T(step.distance);
        Rules::operand(step.operand, shape, globals, [&](const auto& value) {
#pragma omp simd
            for (int64_t i = first; i < last; ++i) cells[i] = T(cells[i] + T(distance * value(at, i)));
        });
    }
}

// One run of cells [first, last) of a row whose values all come the same way; `from` is what to add to i for the source.
template <class Rules, class T, int D>
inline void fill_run(
    const Shape<D>& shape, const unsigned char* globals, const Walk<D, Rules::most_steps>& walk, const T* source,
    T* cells, int64_t first, int64_t last, bool along_last) {
    if (walk.base == CELL) {
        const int64_t from = along_last ? walk.at[D - 1] - first : 0;
        const T* cell = source + from;
#pragma omp simd
        for (int64_t i = first; i < last; ++i) cells[i] = cell[i];
    } else if (walk.base == ZERO) {
        for (int64_t i = first; i < last; ++i) cells[i] = T(0);
    } else {
        const int64_t moved = along_last ? walk.at[D - 1] - first : 0;
        Rules::operand(walk.operand, shape, globals, [&](const auto& value) {
#pragma omp simd
            for (int64_t i = first; i < last; ++i) cells[i] = value(walk.at, i + moved);
        });
    }
}

template <class Rules, class T, int D>
inline void finish_run(
    const Shape<D>& shape, const unsigned char* globals, const Walk<D, Rules::most_steps>& walk, T* cells,
    int64_t first, int64_t last, bool along_last) {
    for (int s = walk.count - 1; s >= 0; --s) {
        const Step<D>& step = walk.steps[s];
        if (along_last) {  // the operand is taken where the step was made, which is one cell here
            T* cell = cells + (first - step.at[D - 1]);
            apply_step<Rules>(shape, globals, step, step.at, cell, step.at[D - 1], step.at[D - 1] + 1);
        } else {
            apply_step<Rules>(shape, globals, step, step.at, cells, first, last);
        }
    }
}

template <int D> inline int64_t row_element(const Shape<D>& shape, const int64_t (&at)[D]) {
    int64_t element = shape.start;
    for (int k = 0; k + 1 < D; ++k) element += at[k] * shape.strides[k];
    return element;
}

template <class Rules, class T, int D>
STENCIL_PROCEDURE void fill_cell(
    const Shape<D>& shape, const unsigned char* globals, const T* source, T* cells, const int64_t (&at)[D], int64_t x) {
    Walk<D, Rules::most_steps> walk;
    for (int k = 0; k < D; ++k) walk.at[k] = at[k];
    walk.at[D - 1] = x;
    walk_inside(Rules::table, shape, 0, D, walk);
    fill_run<Rules>(shape, globals, walk, source + row_element(shape, walk.at), cells, x, x + 1, true);
    finish_run<Rules>(shape, globals, walk, cells, x, x + 1, true);
}

template <class Rules, int D> inline bool belongs_to_neighbour(const Shape<D>& shape, const int64_t (&at)[D], int axes) {
    for (int k = 0; k < axes; ++k) {
        const int side = at[k] < 0 ? 0 : at[k] >= shape.extents[k] ? 1 : -1;
        if (side >= 0 && (shape.sides[k][side] == 0 || Rules::table[k][side].kind == UNDEFINED)) return true;
    }
    return false;
}

// A ghost cell that is a copy of a cell of its own row, perhaps with the other sign: true for most rules inside the
// domain's rows, and then known once for all of them.
struct Column {
    int64_t x, from;
    bool copies, negates;
};

template <class Rules, int D> STENCIL_PROCEDURE Column column_at(const Shape<D>& shape, int64_t x) {
    Walk<D, Rules::most_steps> walk;
    for (int k = 0; k < D; ++k) walk.at[k] = 0;
    walk.at[D - 1] = x;
    walk_inside(Rules::table, shape, D - 1, D, walk);
    const bool negates = walk.count == 1 && walk.steps[0].kind == NEGATE;
    return {x, walk.at[D - 1], walk.base == CELL && (walk.count == 0 || negates), negates};
}

// All ghost cells of some rows. A row outside the domain takes its long middle from one other row in vector loops; only
// its ends are looked at cell by cell.
template <class Rules, class T, int D>
inline void fill_rows(
    const Shape<D>& shape, const unsigned char* globals, const T* source, T* target, int64_t first_row,
    int64_t last_row) {
    constexpr int64_t below = Rules::grown.sides[D - 1][0], above = Rules::grown.sides[D - 1][1];
    const int64_t n = shape.extents[D - 1];
    const bool fills_below = shape.sides[D - 1][0] != 0 && Rules::table[D - 1][0].kind != UNDEFINED;
    const bool fills_above = shape.sides[D - 1][1] != 0 && Rules::table[D - 1][1].kind != UNDEFINED;
    Column columns[below + above + 1];
    int count = 0;
    for (int64_t x = -below; fills_below && x < 0; ++x) columns[count++] = column_at<Rules>(shape, x);
    for (int64_t x = n; fills_above && x < n + above; ++x) columns[count++] = column_at<Rules>(shape, x);
    Row<D> row = row_at(shape, Rules::grown, first_row);
    for (int64_t r = first_row; r < last_row; ++r, next_row(shape, Rules::grown, row)) {
        if (belongs_to_neighbour<Rules>(shape, row.at, D - 1)) continue;
        T* cells = target + row.start;
        if (row.inside) {
            if (source != target) {
                const T* from = source + row.start;
                for (int64_t i = 0; i < n; ++i) cells[i] = from[i];
            }
        } else {
            Walk<D, Rules::most_steps> walk;
            for (int k = 0; k < D; ++k) walk.at[k] = row.at[k];
            walk_inside(Rules::table, shape, 0, D - 1, walk);
            fill_run<Rules>(shape, globals, walk, source + row_element(shape, walk.at), cells, 0, n, false);
            finish_run<Rules>(shape, globals, walk, cells, 0, n, false);
        }
        const T* own = source + row.start;
        for (int c = 0; c < count; ++c) {
            const Column& column = columns[c];
            if (row.inside && column.copies) {
                const T cell = own[column.from];
                cells[column.x] = column.negates ? T(-cell) : cell;
            } else {
                fill_cell<Rules>(shape, globals, source, cells, row.at, column.x);
            }
        }
    }
}

// ---- reductions -------------------------------------------------------------------------------------------------------

template <int D> inline int64_t chunk_end(const Shape<D>& shape, int64_t first, int64_t last) {
    const int64_t origin = shape.origin[D - 1], end = ((origin + first) / CHUNK + 1) * CHUNK - origin;
    return end < last ? end : last;
}

template <int D> inline int64_t partial_index(const Shape<D>& shape, int64_t row, int64_t first) {
    const int64_t origin = shape.origin[D - 1];
    return row * chunk_count(shape) + (origin + first) / CHUNK - origin / CHUNK;
}

// Neighbours (0, 1), (2, 3), ...; an odd last one is carried up; until one is left, in values[0].
template <class T, class Combine> inline void tree(T* values, int64_t count, const Combine& combine) {
    while (count > 1) {
        const int64_t pairs = count / 2;
        for (int64_t k = 0; k < pairs; ++k) values[k] = combine(values[2 * k], values[2 * k + 1]);
        if (count % 2) values[pairs] = values[count - 1];
        count = pairs + count % 2;
    }
}

// The cells of one chunk; the first lies in lane `lane`.
template <class T, class Combine>
inline T reduce_chunk(const T* cells, int64_t count, int64_t lane, T identity, const Combine& combine) {
    T lanes[LANES];
    for (int l = 0; l < LANES; ++l) lanes[l] = identity;
    int64_t c = 0;
    for (; lane % LANES != 0 && c < count; ++c, ++lane) lanes[lane % LANES] = combine(lanes[lane % LANES], cells[c]);
    for (; c + LANES <= count; c += LANES) {
#pragma omp simd
        for (int l = 0; l < LANES; ++l) lanes[l] = combine(lanes[l], cells[c + l]);
    }
    for (int l = 0; c < count; ++c, ++l) lanes[l] = combine(lanes[l], cells[c]);
    tree(lanes, LANES, combine);
    return lanes[0];
}

// Chunks to rows, rows to planes, and so on; `partials` has one value for each chunk of each row and is used up.
template <class T, int D, class Combine>
inline T reduce_partials(const Shape<D>& shape, T* partials, const Combine& combine) {
    int64_t groups = 1;
    for (int k = 0; k + 1 < D; ++k) groups *= shape.extents[k];
    int64_t each = chunk_count(shape);
    for (int k = D - 2;; --k) {
        for (int64_t g = 0; g < groups; ++g) {
            tree(partials + g * each, each, combine);
            partials[g] = partials[g * each];
        }
        if (k < 0) return partials[0];
        each = shape.extents[k];
        groups /= each;
    }
}

// ---- marches ----------------------------------------------------------------------------------------------------------

enum Ending { DONE, UNTIL, STOPPED, TIME };

// What the caller asks for and gets back; the layout is known to the Python side (workbench/backends/openmp.py).
struct March {
    int64_t kernel, steps, first_step, observe_every, observe_last, always_observe, threads, tile;
    int64_t conditions, scalars, scratch_stride;
    const int64_t* condition_rows;  // slot, storage type, comparison
    const double* condition_values;
    const int64_t* scalar_slots;
    const volatile int32_t* stop;
    double seconds;
    const int64_t* shape;
    void** slots;
    int64_t* tags;  // for each slot which lasting ghost cells its array holds, 0 for none
    unsigned char* globals;
    unsigned char* scratch;
    int64_t done, ended, current, observed;
    int64_t* observed_steps;
    uint64_t* observed_values;
};

template <int D> struct Run {
    Shape<D> shape;
    March& march;
    Team& team;
    double begin;
    bool observed, listed, running;

    template <class T> T* array(int slot) const { return static_cast<T*>(march.slots[slot]); }
    template <class T> T* partials(int reduction) const {
        return reinterpret_cast<T*>(march.scratch + reduction * march.scratch_stride);
    }
};

inline double monotonic_seconds() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

inline double global_as_number(const unsigned char* globals, int slot, int64_t type) {
    switch (type) {
    case 0: return double(read_global<bool>(globals, slot));
    case 1: return double(read_global<int8_t>(globals, slot));
    case 2: return double(read_global<int16_t>(globals, slot));
    case 3: return double(read_global<int32_t>(globals, slot));
    case 4: return double(read_global<int64_t>(globals, slot));
    case 5: return double(read_global<uint8_t>(globals, slot));
    case 6: return double(read_global<uint16_t>(globals, slot));
    case 7: return double(read_global<uint32_t>(globals, slot));
    case 8: return double(read_global<uint64_t>(globals, slot));
    case 9: return double(read_global<float>(globals, slot));
    default: return read_global<double>(globals, slot);
    }
}

inline bool holds(double a, int64_t comparison, double b) {
    switch (comparison) {
    case 0: return a < b;
    case 1: return a <= b;
    case 2: return a > b;
    case 3: return a >= b;
    case 4: return a == b;
    default: return a != b;
    }
}

template <int D> inline void begin_step(Run<D>& run) {
    const March& march = run.march;
    const int64_t number = march.first_step + march.done + 1;
    run.listed = march.observe_every > 0 && number % march.observe_every == 0;
    run.observed = run.listed || march.always_observe || (march.observe_last && march.done + 1 == march.steps);
}

template <int D> inline void record(Run<D>& run) {
    March& march = run.march;
    march.observed_steps[march.observed] = march.first_step + march.done;
    for (int64_t s = 0; s < march.scalars; ++s) {
        uint64_t bits;
        memcpy(&bits, march.globals + 8 * march.scalar_slots[s], 8);
        march.observed_values[march.observed * march.scalars + s] = bits;
    }
    ++march.observed;
}

// After a whole step, by one thread: let the slots take what rotation says, record, and see whether to go on.
template <int D, std::size_t N> inline void end_step(Run<D>& run, const std::array<int, N>& rotation) {
    March& march = run.march;
    std::array<void*, N> before;  // of no length in a program without fields
    std::array<int64_t, N> tags;
    for (std::size_t s = 0; s < N; ++s) {
        before[s] = march.slots[s];
        tags[s] = march.tags[s];
    }
    for (std::size_t s = 0; s < N; ++s) {
        march.slots[s] = before[rotation[s]];
        march.tags[s] = tags[rotation[s]];
    }
    ++march.done;
    march.current = run.observed;
    if (run.listed) record(run);
    bool met = march.conditions > 0;
    for (int64_t c = 0; c < march.conditions; ++c) {
        const int64_t* row = march.condition_rows + 3 * c;
        met = met && holds(global_as_number(march.globals, int(row[0]), row[1]), row[2], march.condition_values[c]);
    }
    run.running = false;
    if (met) {
        march.ended = UNTIL;
    } else if (march.done == march.steps) {
        march.ended = DONE;
    } else if (*march.stop) {
        march.ended = STOPPED;
    } else if (monotonic_seconds() - run.begin >= march.seconds) {
        march.ended = TIME;
    } else {
        run.running = true;
        begin_step(run);
    }
}

template <int D> inline Shape<D> read_shape(const int64_t* words) {
    Shape<D> shape;
    for (int k = 0; k < D; ++k) shape.extents[k] = *words++;
    for (int k = 0; k < D; ++k) shape.strides[k] = *words++;
    for (int k = 0; k < D; ++k) shape.origin[k] = *words++;
    for (int k = 0; k < D; ++k) shape.global_extents[k] = *words++;
    for (int k = 0; k < D; ++k)
        for (int s = 0; s < 2; ++s) shape.sides[k][s] = *words++;
    shape.start = *words;
    return shape;
}

// `step(run, rank)` does one step of the march's kernel; `members` is the largest number of parts of a launch.
// Returns 0, or 1 if memory for the team is missing.
template <int D, class StepOf> inline int32_t run_march(March& march, int members, const StepOf& step) {
    march.done = march.current = march.observed = 0;
    march.ended = *march.stop ? STOPPED : DONE;
    if (*march.stop || march.steps <= 0) return 0;
    Team team = {1, members, nullptr, 0, 0};
    const int threads = march.threads < 1 ? 1 : int(march.threads);
    Run<D> run = {read_shape<D>(march.shape), march, team, monotonic_seconds(), false, false, true};
    begin_step(run);
    if (threads == 1) {
        while (run.running) step(run, 0);
        return 0;
    }
    void* memory = nullptr;
    if (posix_memalign(&memory, 64, sizeof(Counter) * size_t(at_least(members, 1)) * size_t(threads)) != 0) return 1;
    team.counters = static_cast<Counter*>(memory);
    for (int k = 0; k < members * threads; ++k) team.counters[k].next = 0;
#pragma omp parallel num_threads(threads)
    {
        int rank = 0;
#ifdef _OPENMP
        rank = omp_get_thread_num();
#pragma omp single
        team.size = omp_get_num_threads();
#endif
        for (;;) {
            const bool running = run.running;
            if (!running) break;
            step(run, rank);
        }
    }
    free(memory);
    return 0;
}

}  // namespace stencil

// Zeroes written by the threads that will work on them: where memory has banks, each page goes to the bank of its thread.
extern "C" __attribute__((visibility("default"), weak)) void stencil_zero(void* memory, int64_t bytes, int32_t threads) {
    const int64_t page = 1 << 16, pages = (bytes + page - 1) / page;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t p = 0; p < pages; ++p) {
        const int64_t first = p * page, left = bytes - first;
        memset(static_cast<char*>(memory) + first, 0, size_t(left < page ? left : page));
    }
}

#endif
