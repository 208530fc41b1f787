// Arrays in files that are mapped into memory: what is written back and given up, so that few bytes of them stay there.
#ifndef STENCIL_FILES_H
#define STENCIL_FILES_H

#include "stencil_prelude.h"

#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <sys/mman.h>

namespace stencil {

// An array in a file: where its mapping begins, its bytes, those before plane 0 of axis 0 and those of a plane.
struct FileRow {
    int64_t address, bytes, first, plane, descriptor;
};

// All arrays of a simulation. The layout is known to the Python side (workbench/backends/array_files.py). A loop over all
// cells gives everything up whenever its tasks have touched `budget` bytes; windows give up what lies behind them.
struct Files {
    int64_t count;
    const FileRow* rows;
    int64_t bytes, budget, page;  // of all arrays; that tasks may touch in between; of what the system maps at a time
    int64_t touched, busy;
    int64_t begun, done;  // planes whose way to the disk has begun, and those that were given up
    int64_t streamed;     // bytes that were given up so far
};

// Bytes [low, high) of one file: on their way to the disk, without waiting.
inline void begin_to_write(const FileRow& row, int64_t low, int64_t high) {
    if (low >= high) return;
    madvise(reinterpret_cast<void*>(row.address + low), size_t(high - low), MADV_DONTNEED);  // the file keeps them
#ifdef __linux__
    sync_file_range(int(row.descriptor), low, high - low, SYNC_FILE_RANGE_WRITE);
#endif
}

// The same bytes: on the disk, and no longer in memory.
inline void give_up(const FileRow& row, int64_t low, int64_t high) {
    if (low >= high) return;
    void* const place = reinterpret_cast<void*>(row.address + low);
    const size_t bytes = size_t(high - low);
#ifdef __linux__
    madvise(place, bytes, MADV_DONTNEED);
    sync_file_range(int(row.descriptor), low, high - low,
                    SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    posix_fadvise(int(row.descriptor), low, high - low, POSIX_FADV_DONTNEED);
#else
    msync(place, bytes, MS_SYNC | MS_INVALIDATE);
    madvise(place, bytes, MADV_DONTNEED);
#endif
}

constexpr int64_t ASKED = 1 << 17;  // bytes; of a longer part the system may read the beginning only

// Bytes that are needed soon, from the disk: mappings are read a page at a time, unless they are asked for.
inline void ask_for(const FileRow& row, int64_t low, int64_t high) {
    if (low >= high) return;
#ifdef __linux__
    for (int64_t place = low; place < high; place += ASKED) {
        posix_fadvise(int(row.descriptor), place, high - place < ASKED ? high - place : ASKED, POSIX_FADV_WILLNEED);
    }
#else
    madvise(reinterpret_cast<void*>(row.address + low), size_t(high - low), MADV_WILLNEED);
#endif
}

// The page on which a byte lies, at the ends of a file the ends.
inline int64_t page_of(const Files& files, const FileRow& row, int64_t place) {
    const int64_t page = place / files.page * files.page;
    return page < 0 ? 0 : page < row.bytes ? page : row.bytes;
}

// Where a plane begins; the ends of the file for planes outside of the domain.
inline int64_t place_of(const Files& files, const FileRow& row, int64_t plane, int64_t planes) {
    if (plane <= 0) return 0;
    return plane >= planes ? row.bytes : page_of(files, row, row.first + plane * row.plane);
}

inline void ask_for_planes(const Files& files, int64_t planes, int64_t low, int64_t high) {
    for (int64_t k = 0; k < files.count; ++k) {
        const FileRow& row = files.rows[k];
        ask_for(row, place_of(files, row, low, planes), place_of(files, row, high, planes));
    }
}

inline void give_up_all(Files& files) {
    for (int64_t k = 0; k < files.count; ++k) begin_to_write(files.rows[k], 0, files.rows[k].bytes);
    for (int64_t k = 0; k < files.count; ++k) give_up(files.rows[k], 0, files.rows[k].bytes);
    files.begun = files.done = 0;
    __atomic_store_n(&files.touched, 0, __ATOMIC_RELEASE);
}

inline bool is_in(const FileRow& row, const void* array) {
    const int64_t place = int64_t(reinterpret_cast<intptr_t>(array)) - row.address;
    return array == nullptr || (place >= 0 && place < row.bytes);
}

// Tasks of a loop that goes through arrays in their order: through all of them, or one alone.
struct FileTasks {
    Files& files;
    const int64_t tasks;
    const void* const array;  // null for all

    template <class Body> void each_part(int64_t task, const Body& body) const {
        for (int64_t k = 0; k < files.count && task < tasks; ++k) {
            const FileRow& row = files.rows[k];
            const int64_t part = row.bytes / tasks + 1;
            if (is_in(row, array)) body(row, page_of(files, row, task * part), page_of(files, row, (task + 1) * part + files.page));
        }
    }
    void ask(int64_t task) const {
        each_part(task, [](const FileRow& row, int64_t low, int64_t high) { ask_for(row, low, high); });
    }
    // What was asked for is there: pages on their way could not be given up.
    void wait(int64_t task) const {
        each_part(task, [](const FileRow& row, int64_t low, int64_t high) {
            if (low < high) (void)*reinterpret_cast<const volatile char*>(row.address + high - 1);
        });
    }
    // After a task, by its thread. One thread gives up, the others wait where they come to more than the budget.
    void note(int64_t task) const {
        int64_t own = 0;
        each_part(task, [&](const FileRow&, int64_t low, int64_t high) { own += high - low; });
        if (__atomic_add_fetch(&files.touched, own, __ATOMIC_RELAXED) < files.budget) return;
        while (__atomic_exchange_n(&files.busy, 1, __ATOMIC_ACQUIRE)) sched_yield();
        const int64_t touched = __atomic_load_n(&files.touched, __ATOMIC_ACQUIRE);
        if (touched >= files.budget) {
            files.streamed += touched;
            give_up_all(files);
        }
        __atomic_store_n(&files.busy, 0, __ATOMIC_RELEASE);
    }
};

// After a window, by one thread: planes before `begin` are needed no more, [low, high) are those of the window after the
// next one. The disk works on both while threads compute: what is on its way now is given up after the next window.
inline void pass_window(Files& files, int64_t planes, int64_t begin, int64_t low, int64_t high) {
    for (int64_t k = 0; k < files.count; ++k) {
        const FileRow& row = files.rows[k];
        begin_to_write(row, place_of(files, row, files.begun, planes), place_of(files, row, begin, planes));
    }
    for (int64_t k = 0; k < files.count; ++k) {
        const FileRow& row = files.rows[k];
        const int64_t from = place_of(files, row, files.done, planes), to = place_of(files, row, files.begun, planes);
        give_up(row, from, to);
        files.streamed += to - from;
    }
    ask_for_planes(files, planes, low, high);
    files.done = files.begun;
    if (begin > files.begun) files.begun = begin;
}

}  // namespace stencil

#endif
