// What a march on CPU threads is asked for and gives back, and the conditions that end it.
#ifndef STENCIL_MARCH_H
#define STENCIL_MARCH_H

#include "stencil_files.h"

#include <stdint.h>

namespace stencil {

enum Ending { DONE, UNTIL, STOPPED, TIME };

// What the caller asks for and gets back; the layout is known to the Python side (workbench/backends/march_record.py).
struct March {
    int64_t kernel, steps, first_step, observe_every, observe_last, always_observe, threads, tile;
    int64_t depth, height, spaces, chunk;  // steps that may run in tiles, 1 for none; the lattice; planes of a wave
    int64_t window;  // planes or tiles of a window of such steps, 0 for one window of all
    int64_t fetches;  // whether tiles of planes fetch what they come to next
    int64_t conditions, scalars, scratch_stride, sample, lap_stride, block_bytes;
    const int64_t* condition_rows;  // slot, storage type, comparison
    const double* condition_values;
    const int64_t* scalar_slots;
    const volatile int32_t* stop;  // other than 0: to end after a whole step
    const volatile int32_t* at_once;  // the same without waiting for the end of a step that may be left; null for never
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
    int64_t paused;  // steps in tiles that were begun and not ended, 0 for none; the next call with this record ends them
    int64_t paused_band, paused_parts, paused_timed;  // where they stand: a band of tiles whose tasks have so many owners,
    int64_t* paused_tasks;                            // and how many of each owner's are done; room for all threads
    int64_t paused_window;
    Files* files;  // null where arrays lie in memory
};

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

inline int threads_of(const March& march) { return march.threads < 1 ? 1 : int(march.threads); }

}  // namespace stencil

#endif
