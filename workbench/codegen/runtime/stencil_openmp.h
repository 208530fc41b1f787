// Stencil march on CPU threads: how steps follow each other.
#ifndef STENCIL_OPENMP_H
#define STENCIL_OPENMP_H

#include "stencil_folds.h"
#include "stencil_free_order.h"
#include "stencil_scans.h"
#include "stencil_ranks.h"
#include "stencil_scatters.h"
#include "stencil_ghosts.h"
#include "stencil_images.h"
#include "stencil_rolling.h"
#include "stencil_rolling_ghosts.h"
#include "stencil_sums.h"
#include "stencil_team.h"
#include "stencil_tiles.h"

#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace stencil {

enum Ending { DONE, UNTIL, STOPPED, TIME };

// What the caller asks for and gets back; the layout is known to the Python side (workbench/backends/openmp.py).
struct March {
    int64_t kernel, steps, first_step, observe_every, observe_last, always_observe, threads, tile;
    int64_t depth, height, spaces, chunk;  // steps that may run in tiles, 1 for none; the lattice; planes of a wave
    int64_t conditions, scalars, scratch_stride, sample, lap_stride, block_bytes;
    const int64_t* condition_rows;  // slot, storage type, comparison
    const double* condition_values;
    const int64_t* scalar_slots;
    const volatile int32_t* stop;
    double seconds;
    double pace;  // seconds that a plain step takes together with others, 0 as long as none was seen; from march to march
    const int64_t* shape;
    void** slots;
    int64_t* tags;  // for each slot which lasting ghost cells its array holds, 0 for none
    unsigned char* globals;
    unsigned char* ahead;  // Globals blocks of the steps that run together and of the one after them
    unsigned char* scratch;
    int64_t done, ended, current, observed;
    int64_t* observed_steps;
    uint64_t* observed_values;
    double* laps;  // seconds of timed steps: a row of lap_stride numbers for each thread, whole launches in the first
    int64_t* timed;  // how many plain and observed steps were timed
    const int64_t* tiles;  // rows a task of each loop, null where all have `tile`
};

template <int D> struct Run {
    Shape<D> shape;
    March& march;
    Team& team;
    double begin;
    bool observed, listed, running, timed;
    double lap_begin;
    int64_t levels;  // steps that run together now
    bool full;  // whether they are as many as may be
    double stretch_begin, stretch_work;
    char* buffers;  // of all threads, for values that roll
    int64_t buffer_stride;

    template <class T> T* array(int slot) const { return static_cast<T*>(march.slots[slot]); }
    template <class T> T* partials(int reduction) const {
        return reinterpret_cast<T*>(march.scratch + reduction * march.scratch_stride);
    }
    int64_t tile(int loop) const { return march.tiles ? march.tiles[loop] : march.tile; }
    char* buffer(int rank) const { return buffers + rank * buffer_stride; }
    unsigned char* globals_of(int64_t step) const { return march.ahead + step * march.block_bytes; }
};

// The arrays of one of the steps that run together: slot s holds what is in slot slots[s] before the first of them.
template <int D> struct Level {
    const Run<D>& run;
    const int* slots;

    template <class T> T* array(int slot) const { return run.template array<T>(slots[slot]); }
};

inline double monotonic_seconds() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

// Of all threads of the process; asked for only where steps may run together, because the system must be called.
inline double processor_seconds(const March& march) {
    if (march.depth < 2) return 0.0;
    timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return double(used.tv_sec) + 1e-9 * double(used.tv_nsec);
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

inline bool are_met(const March& march, const unsigned char* globals) {
    bool met = march.conditions > 0;
    for (int64_t c = 0; c < march.conditions; ++c) {
        const int64_t* row = march.condition_rows + 3 * c;
        met = met && holds(global_as_number(globals, int(row[0]), row[1]), row[2], march.condition_values[c]);
    }
    return met;
}

template <int D> STENCIL_PROCEDURE void note_lap(Run<D>& run, int number) {
    const double now = monotonic_seconds();
    if (number >= 0) run.march.laps[number] += now - run.lap_begin;
    run.lap_begin = now;
}

// Seconds since the last meeting, noted by the one thread that acts at this one.
template <int D> inline void lap(Run<D>& run, int number) {
    if (run.timed) note_lap(run, number);
}

// Seconds that one thread works on one of several members of a launch, noted in the thread's own row.
template <int D> struct Part {
    const Run<D>& run;
    double* const seconds;
    const double begin;

    Part(const Run<D>& run, int rank, int number)
        : run(run), seconds(run.march.laps + rank * run.march.lap_stride + number), begin(run.timed ? monotonic_seconds() : 0.0) {}
    ~Part() {
        if (run.timed) *seconds += monotonic_seconds() - begin;
    }
};

// Seconds of a member of a chain: each thread notes them for the member, and the first one for the launch as well, so
// that a launch's seconds are the first thread's share of the chain.
template <int D> struct Turn {
    const Run<D>& run;
    const int rank, member, launch;
    const double begin;

    Turn(const Run<D>& run, int rank, int member, int launch)
        : run(run), rank(rank), member(member), launch(launch), begin(run.timed ? monotonic_seconds() : 0.0) {}
    ~Turn() {
        if (!run.timed) return;
        const double seconds = monotonic_seconds() - begin;
        if (member >= 0) run.march.laps[rank * run.march.lap_stride + member] += seconds;
        if (rank == 0) run.march.laps[launch] += seconds;
    }
};

// After so many seconds a march looks whether it shall stop: of a thread's own work, and by the clock where others keep
// the processors busy. Of slower steps a few run together if they would take as long as LONGEST_FEW one by one: in tiles
// they take little more than half of that, and fewer of them would move nearly as much as steps do.
constexpr double LONGEST_STRETCH = 0.2, LONGEST_FEW = 1.5, LONGEST_WAIT = 1.0;
constexpr int64_t FEW = 4;

// How many plain steps may follow each other without anybody looking, at most as many as shall run in tiles. The first
// one runs alone, because nobody knows yet how long it takes.
STENCIL_PROCEDURE int64_t most_together(const March& march) {
    if (march.depth < 2 || march.pace <= 0.0) return 1;
    if (march.pace * double(march.depth) <= LONGEST_STRETCH) return march.depth;
    const bool may_be_few = march.pace * double(FEW) <= LONGEST_FEW;
    return at_least(int64_t(LONGEST_STRETCH / march.pace), may_be_few ? at_most(FEW, march.depth) : 1);
}

// How many do: none beyond what is asked for, nor the step that is observed.
STENCIL_PROCEDURE int64_t steps_together(const March& march) {
    const int64_t number = march.first_step + march.done + 1;
    int64_t most = at_most(most_together(march), march.steps - march.done - (march.observe_last ? 1 : 0));
    if (march.observe_every > 0) most = at_most(most, march.observe_every - number % march.observe_every);
    return at_least(most, 1);
}

// This, steps_together and end_step follow workbench/backends/march_rule.py.
template <int D> STENCIL_PROCEDURE void begin_step(Run<D>& run) {
    March& march = run.march;
    const int64_t number = march.first_step + march.done + 1;
    run.listed = march.observe_every > 0 && number % march.observe_every == 0;
    run.observed = run.listed || march.always_observe || (march.observe_last && march.done + 1 == march.steps);
    run.levels = run.observed ? 1 : steps_together(march);
    run.full = !run.observed && run.levels == most_together(march);
    // The last of each `sample` steps: the first one of a march has to wake the threads.
    run.timed = march.sample > 0 && (march.done + run.levels) / march.sample > march.done / march.sample;
    if (run.timed) {
        march.timed[run.observed] += run.levels;
        run.lap_begin = monotonic_seconds();
    }
}

template <int D> STENCIL_PROCEDURE void record(Run<D>& run) {
    March& march = run.march;
    march.observed_steps[march.observed] = march.first_step + march.done;
    for (int64_t s = 0; s < march.scalars; ++s) {
        uint64_t bits;
        memcpy(&bits, march.globals + 8 * march.scalar_slots[s], 8);
        march.observed_values[march.observed * march.scalars + s] = bits;
    }
    ++march.observed;
}

// Which slot each slot takes its array from. A program without fields has none, an array at least one element.
template <int N> struct Rotation {
    int from[N > 0 ? N : 1];
};

// After whole steps, by one thread: let the slots take what rotation says, record, and see whether to go on.
template <int D, int N> STENCIL_PROCEDURE void end_step(Run<D>& run, const Rotation<N>& rotation) {
    March& march = run.march;
    void* before[N > 0 ? N : 1];
    int64_t tags[N > 0 ? N : 1];
    for (int64_t level = 0; level < run.levels; ++level) {
        for (int s = 0; s < N; ++s) {
            before[s] = march.slots[s];
            tags[s] = march.tags[s];
        }
        for (int s = 0; s < N; ++s) {
            march.slots[s] = before[rotation.from[s]];
            march.tags[s] = tags[rotation.from[s]];
        }
    }
    march.done += run.levels;
    const double now = monotonic_seconds(), work = processor_seconds(march);
    // A stretch that was cut short says nothing of full ones, which take less for each step.
    if (run.full && march.depth > 1) {
        const double clock = now - run.stretch_begin, own = (work - run.stretch_work) / double(run.team.size);
        const double waited = clock * (LONGEST_STRETCH / LONGEST_WAIT);
        march.pace = (own < waited ? waited : own < clock ? own : clock) / double(run.levels);
    }
    run.stretch_begin = now;
    run.stretch_work = work;
    march.current = run.observed;
    if (run.listed) record(run);
    run.running = false;
    if (are_met(march, march.globals)) {
        march.ended = UNTIL;
    } else if (march.done == march.steps) {
        march.ended = DONE;
    } else if (*march.stop) {
        march.ended = STOPPED;
    } else if (now - run.begin >= march.seconds) {
        march.ended = TIME;
    } else {
        run.running = true;
        begin_step(run);
    }
}

// The Globals of each step that runs with others, by one thread: `advance(globals)` turns those of a step into those of
// the next one. Conditions that hold after a step make it the last one.
template <int D, class Advance> inline void look_ahead(Run<D>& run, const Advance& advance) {
    const size_t bytes = size_t(run.march.block_bytes);
    memcpy(run.globals_of(0), run.march.globals, bytes);
    for (int64_t step = 0; step < run.levels; ++step) {
        unsigned char* const next = run.globals_of(step + 1);
        memcpy(next, run.globals_of(step), bytes);
        advance(next);
        if (step + 1 < run.levels && are_met(run.march, next)) {
            run.levels = step + 1;
            run.full = false;
        }
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

inline char* aligned_memory(int64_t bytes) {
    void* memory = nullptr;
    return posix_memalign(&memory, 64, size_t(bytes)) == 0 ? static_cast<char*>(memory) : nullptr;
}

template <int D, class StepOf> inline void run_team(Run<D>& run, int threads, const StepOf& step) {
#pragma omp parallel num_threads(threads)
    {
        int rank = 0;
#ifdef _OPENMP
        rank = omp_get_thread_num();
#pragma omp single
        run.team.size = omp_get_num_threads();
#endif
        for (;;) {
            const bool running = run.running;
            if (!running) break;
            step(run, rank);
        }
    }
}

// `step(run, rank)` does one step of the march's kernel, start(shape, globals) computes what the first one begins with;
// `members` is the largest number of parts of a launch, buffer_bytes(shape, threads, tile) what a thread needs for values
// that roll.
// Returns 0, or 1 if memory for the team is missing.
template <int D, class BytesOf, class Start, class StepOf>
inline int32_t run_march(
    March& march, int members, const BytesOf& buffer_bytes, const Start& start, const StepOf& step) {
    march.done = march.current = march.observed = 0;
    march.ended = *march.stop ? STOPPED : DONE;
    if (*march.stop || march.steps <= 0) return 0;
    Team team = {1, members, nullptr, 0, 0};
    const int threads = march.threads < 1 ? 1 : int(march.threads);
    const Shape<D> shape = read_shape<D>(march.shape);
    const int64_t stride = (buffer_bytes(shape, threads, march.tile) + 4095) / 4096 * 4096 + 128;  // not in step
    const int64_t counts = int64_t(sizeof(Counter)) * at_least(members, 1) * threads;
    char* const memory = aligned_memory(counts + stride * threads);
    if (memory == nullptr) return 1;
    team.counters = reinterpret_cast<Counter*>(memory);
    for (int k = 0; k < members * threads; ++k) team.counters[k].next = 0;
    const double now = monotonic_seconds();
    const double work = processor_seconds(march);
    Run<D> run = {shape, march, team, now, false, false, true, false, 0.0, 1, false, now, work, memory + counts, stride};
    start(run.shape, march.globals);
    begin_step(run);
    if (threads == 1) {
        while (run.running) step(run, 0);
    } else {
        run_team(run, threads, step);
    }
    free(memory);
    return 0;
}

}  // namespace stencil

// For the caller to compare with the record that it will pass.
extern "C" __attribute__((visibility("default"), weak)) int64_t stencil_march_bytes() { return int64_t(sizeof(stencil::March)); }

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
