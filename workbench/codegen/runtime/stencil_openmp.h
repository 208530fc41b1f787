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
#include "stencil_march.h"
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

template <int D> struct Run {
    Shape<D> shape;
    March& march;
    Team& team;
    double begin;
    bool observed, listed, running, timed;
    double lap_begin;
    int64_t levels;  // steps that run together now
    bool full;  // whether they are as many as may be
    double batch_begin, batch_work;
    char* buffers;  // of all threads, for values that roll
    int64_t buffer_stride;
    char* kept;  // the Globals and the laps that a step began with
    int parts;   // owners of the tasks of the band of tiles that a paused batch goes on with, else 0

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

template <int D> STENCIL_PROCEDURE void note_lap(Run<D>& run, int number) {
    const double now = monotonic_seconds();
    if (number >= 0) run.march.laps[number] += now - run.lap_begin;
    run.lap_begin = now;
}

// Seconds since the last barrier, noted by the one thread that acts at this one.
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

// Seconds of a member of a chain: each thread notes them for the member, the first one for the launch as well: its share.
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
// they take little more than half of that, and fewer of them would move nearly as much as steps do. A stop waits for the
// end of a tile only; commands wait for whole steps.
constexpr double LONGEST_BATCH = 0.2, LONGEST_FEW = 2.5, LONGEST_WAIT = 1.0;
constexpr int64_t FEW = 4;

// How many plain steps may be one batch, between two looks at the clock: at most as many as shall run in tiles. The first
// one runs alone, because it is not known yet how long a step takes.
STENCIL_PROCEDURE int64_t most_together(const March& march) {
    if (march.window > 0) return march.depth;  // fewer would move as many bytes to the disk and back
    if (march.depth < 2 || march.pace <= 0.0) return 1;
    if (march.pace * double(march.depth) <= LONGEST_BATCH) return march.depth;
    const bool may_be_few = march.pace * double(FEW) <= LONGEST_FEW;
    return at_least(int64_t(LONGEST_BATCH / march.pace), may_be_few ? at_most(FEW, march.depth) : 1);
}

// How many do: none beyond what is asked for, nor the step that is observed.
STENCIL_PROCEDURE int64_t steps_together(const March& march) {
    const int64_t number = march.first_step + march.done + 1;
    int64_t most = at_most(most_together(march), march.steps - march.done - (march.observe_last ? 1 : 0));
    if (march.observe_every > 0) most = at_most(most, march.observe_every - number % march.observe_every);
    return at_least(most, 1);
}

// Which slot each slot takes its array from. A program without fields has none, an array at least one element.
template <int N> struct Rotation {
    int from[N > 0 ? N : 1];
};

inline size_t lap_bytes(const March& march) { return sizeof(double) * size_t(march.lap_stride) * size_t(threads_of(march)); }

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
        memcpy(run.kept + march.block_bytes, march.laps, lap_bytes(march));
    }
    memcpy(run.kept, march.globals, size_t(march.block_bytes));
}

// Whether threads have left tasks of this step undone. Then the march ends as if the step had not begun: arrays of fields
// are as they were, what it has noted elsewhere is put back, and which ghost cells the other arrays have is unknown.
// Asked by one thread, while no array of a field was written.
template <int D> STENCIL_PROCEDURE bool leave_step(Run<D>& run, int slots) {
    if (!run.team.left) return false;
    March& march = run.march;
    memcpy(march.globals, run.kept, size_t(march.block_bytes));
    for (int s = 0; s < slots; ++s) march.tags[s] = 0;
    if (run.timed) {
        march.timed[run.observed] -= run.levels;
        memcpy(march.laps, run.kept + march.block_bytes, lap_bytes(march));
    }
    march.ended = STOPPED;
    run.running = false;
    return true;
}

template <int D, int N> inline bool leave_step(Run<D>& run, const Rotation<N>&) { return leave_step(run, N); }

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

// After whole steps, by one thread: let each of `slots` slots take what slot `from` has, record, and see whether to go on.
template <int D> STENCIL_PROCEDURE void end_step(Run<D>& run, const int* from, int slots) {
    March& march = run.march;
    void** const before = static_cast<void**>(__builtin_alloca(sizeof(void*) * size_t(slots)));
    int64_t* const tags = static_cast<int64_t*>(__builtin_alloca(sizeof(int64_t) * size_t(slots)));
    for (int64_t level = 0; level < run.levels; ++level) {
        for (int s = 0; s < slots; ++s) {
            before[s] = march.slots[s];
            tags[s] = march.tags[s];
        }
        for (int s = 0; s < slots; ++s) {
            march.slots[s] = before[from[s]];
            march.tags[s] = tags[from[s]];
        }
    }
    march.done += run.levels;
    const double now = monotonic_seconds(), work = processor_seconds(march);
    // A batch that was cut short says nothing of full ones, which take less for each step.
    if (run.full && march.depth > 1) {
        const double clock = now - run.batch_begin, own = (work - run.batch_work) / double(run.team.size);
        const double waited = clock * (LONGEST_BATCH / LONGEST_WAIT);
        march.pace = (own < waited ? waited : own < clock ? own : clock) / double(run.levels);
    }
    run.batch_begin = now;
    run.batch_work = work;
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

template <int D, int N> inline void end_step(Run<D>& run, const Rotation<N>& rotation) { end_step(run, rotation.from, N); }

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

// Whether threads have left tiles of this band for later. The steps count as done: the next call ends them. By one thread.
template <int D> STENCIL_PROCEDURE bool pause_tiles(Run<D>& run, int64_t window, int64_t band) {
    const int parts = run.parts > 0 ? run.parts : run.team.size;
    run.parts = 0;
    if (!run.team.left) return false;
    March& march = run.march;
    for (int k = 0; k < parts; ++k) march.paused_tasks[k] = run.team.counters[k].next;
    march.paused = run.levels;
    march.paused_window = window;
    march.paused_band = band;
    march.paused_parts = parts;
    march.paused_timed = run.timed;
    march.done += run.levels;
    march.current = 0;
    march.ended = are_met(march, run.globals_of(run.levels)) ? UNTIL : march.done == march.steps ? DONE : STOPPED;
    run.running = false;
    return true;
}

// A march that ends the steps which another one paused.
template <int D> STENCIL_PROCEDURE void resume(Run<D>& run) {
    March& march = run.march;
    march.steps = run.levels = march.paused;
    march.paused = 0;
    run.parts = int(march.paused_parts);
    run.timed = march.paused_timed != 0;
    for (int k = 0; k < run.parts; ++k) run.team.counters[k].next = march.paused_tasks[k];
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

// What a program gives its march, each of a program's own functions.
template <int D> using BytesOf = int64_t(const Shape<D>& shape, int threads, int64_t tile);
template <int D> using Start = void(const Shape<D>& shape, unsigned char* globals);
template <int D> using StepOf = void(Run<D>& run, int rank);

template <int D> inline void run_team(Run<D>& run, int threads, StepOf<D>* step) {
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
// that roll. Returns 0, or 1 if memory for the team is missing.
template <int D>
STENCIL_PROCEDURE int32_t run_march(
    March& march, int members, BytesOf<D>* buffer_bytes, Start<D>* start, StepOf<D>* step) {
    march.done = march.current = march.observed = 0;
    march.ended = *march.stop ? STOPPED : DONE;
    if (*march.stop || march.steps <= 0) return 0;
    const int threads = threads_of(march);
    Team team = {1, members, threads, nullptr, march.at_once, 0, march.files, 0, 0};
    const Shape<D> shape = read_shape<D>(march.shape);
    const int64_t stride = (buffer_bytes(shape, threads, march.tile) + 4095) / 4096 * 4096 + 128;  // not in step
    const int64_t counts = int64_t(sizeof(Counter)) * at_least(members, 1) * threads;
    const int64_t kept = march.block_bytes + int64_t(lap_bytes(march));
    char* const memory = aligned_memory(counts + stride * threads + kept);
    if (memory == nullptr) return 1;
    team.counters = reinterpret_cast<Counter*>(memory);
    for (int k = 0; k < members * threads; ++k) team.counters[k].next = 0;
    const double now = monotonic_seconds();
    const double work = processor_seconds(march);
    Run<D> run = {shape, march, team, now, false, false, true, false, 0.0, 1, false, now, work, memory + counts, stride,
                  memory + counts + stride * threads, 0};
    if (march.paused > 0) {
        resume(run);
    } else {
        start(run.shape, march.globals);
        begin_step(run);
    }
    if (threads == 1) {
        while (run.running) step(run, 0);
    } else {
        run_team(run, threads, step);
    }
    free(memory);
    return 0;
}

// What every march with as many axes is made of. With a bit of STENCIL_APART for that number a text finds it, and the
// team's procedures, in an object that is compiled once for all programs (workbench/backends/march_objects.py).
#define STENCIL_OF_MARCH(WORD, D) \
    WORD template void note_lap<D>(Run<D>&, int); \
    WORD template void begin_step<D>(Run<D>&); \
    WORD template bool leave_step<D>(Run<D>&, int); \
    WORD template void end_step<D>(Run<D>&, const int*, int); \
    WORD template bool pause_tiles<D>(Run<D>&, int64_t, int64_t); \
    WORD template Blocks<D> cut<D>(const Shape<D>&, const Margins<D>&, int, int64_t); \
    WORD template void walk_inside<D, 4 * D>(const SideRule (&)[D][2], const Shape<D>&, int, int, Walk<D, 4 * D>&); \
    WORD template Blocks<D> cut_rows<D>(const Shape<D>&, const Margins<D>&, int); \
    WORD template int32_t run_march<D>(March&, int, BytesOf<D>*, Start<D>*, StepOf<D>*);

#if STENCIL_APART & 1
STENCIL_OF_MARCH(extern, 1)
#endif
#if STENCIL_APART & 2
STENCIL_OF_MARCH(extern, 2)
#endif
#if STENCIL_APART & 4
STENCIL_OF_MARCH(extern, 3)
#endif

}  // namespace stencil

#if !STENCIL_APART
// For the caller to compare with the record that it will pass.
extern "C" __attribute__((visibility("default"), weak)) int64_t stencil_march_bytes() { return int64_t(sizeof(stencil::March)); }

// Zeroes written by the threads that will work on them, so that each page lies in their bank; few pages wake few threads.
extern "C" __attribute__((visibility("default"), weak)) void stencil_zero(void* memory, int64_t bytes, int32_t threads) {
    const int64_t page = 1 << 16, pages = (bytes + page - 1) / page;
#pragma omp parallel for num_threads(int32_t(pages < 1 ? 1 : pages < threads ? pages : threads)) schedule(static)
    for (int64_t p = 0; p < pages; ++p) {
        const int64_t first = p * page, left = bytes - first;
        memset(static_cast<char*>(memory) + first, 0, size_t(left < page ? left : page));
    }
}
#endif

#endif
