// A team of threads: how tasks are shared out, and its barrier.
#ifndef STENCIL_TEAM_H
#define STENCIL_TEAM_H

#include "stencil_files.h"

#include <sched.h>
#include <stdint.h>
#include <time.h>

namespace stencil {

struct alignas(64) Counter {
    int64_t next;
};

// Threads share one parallel region for a whole march. Each owns a contiguous part of the tasks of a launch, so that its
// cache keeps what it wrote, and then helps the others, so that a thread that was held back does not hold them up.
// `at_once`, if there is one, becomes other than 0 when a stop shall not wait for the end of the step; `left`: tasks were
// left undone.
struct Team {
    int size, members, asked;  // threads that were asked for; counters are there for as many
    Counter* counters;
    const volatile int32_t* at_once;
    int left;
    Files* files;  // null where arrays lie in memory
    alignas(64) int arrived;
    alignas(64) int generation;
};

// For how many threads rows are cut that take little time: of arrays in files, tasks are small parts of the budget.
inline int in_parts(const Team& team) {
    return team.files ? int(1 + 2 * team.size * team.files->bytes / team.files->budget) : team.size;
}

// What one thread has had of the tasks of a launch.
struct Share {
    const int rank, member;
    const int64_t tasks;
    int helped;  // owners whose tasks are all taken
    int64_t task;  // with one thread, the next one
};

// The next task for this thread, -1 for none.
#if STENCIL_APART
int64_t next_task(Team& team, Share& share);
void before_task(Files& files, int64_t task, int64_t tasks, const void* array);
void after_task(Files& files, int64_t task, int64_t tasks, const void* array);
#else
STENCIL_PROCEDURE int64_t next_task(Team& team, Share& share) {
    if (team.size == 1) return share.task < share.tasks ? share.task++ : -1;
    for (; share.helped < team.size; ++share.helped) {
        const int owner = (share.rank + share.helped) % team.size;
        const int64_t first = share.tasks * owner / team.size, end = share.tasks * (owner + 1) / team.size;
        int64_t& next = team.counters[share.member * team.size + owner].next;
        const int64_t task = first + __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
        if (task < end) return task;
    }
    return -1;
}

STENCIL_PROCEDURE void before_task(Files& files, int64_t task, int64_t tasks, const void* array) {
    FileTasks{files, tasks, array}.ask(task + 1);
}

STENCIL_PROCEDURE void after_task(Files& files, int64_t task, int64_t tasks, const void* array) {
    const FileTasks around = {files, tasks, array};
    around.wait(task + 1);
    around.note(task);
}
#endif

// array: the only one that tasks go through, where they do not go through all. The body stands here once: it is most of
// what a compiler has to do.
template <class Body>
inline void do_task(const Team& team, int64_t task, int64_t tasks, const void* array, const Body& body) {
    if (team.files) before_task(*team.files, task, tasks, array);
    body(task);
    if (team.files) after_task(*team.files, task, tasks, array);
}

template <class Body>
inline void share(Team& team, int rank, int member, int64_t tasks, const Body& body, const void* array = nullptr) {
    Share share = {rank, member, tasks, 0, 0};
    for (int64_t task; (task = next_task(team, share)) >= 0;) do_task(team, task, tasks, array, body);
}

// Whether this thread shall leave what is left of the step: all do so once one of them has.
inline bool leaves(Team& team) {
    if (__atomic_load_n(&team.left, __ATOMIC_RELAXED)) return true;
    if (team.at_once == nullptr || *team.at_once == 0) return false;
    __atomic_store_n(&team.left, 1, __ATOMIC_RELAXED);
    return true;
}

// As share, of a step that may be left: no task is begun after its end was asked for.
template <class Body> inline void share_or_leave(Team& team, int rank, int member, int64_t tasks, const Body& body) {
    Share share = {rank, member, tasks, 0, 0};
    for (int64_t task; (task = next_task(team, share)) >= 0;) {
        if (leaves(team)) return;
        do_task(team, task, tasks, nullptr, body);
    }
}

// As share, of tasks that may be left for later: counters say then which ones are done. parts: owners of tasks.
template <class Body> inline void share_or_pause(Team& team, int rank, int parts, int64_t tasks, const Body& body) {
    for (int helped = 0; helped < parts; ++helped) {
        const int owner = (rank + helped) % parts;
        const int64_t first = tasks * owner / parts, end = tasks * (owner + 1) / parts;
        for (;;) {
            if (leaves(team)) return;
            const int64_t task = first + __atomic_fetch_add(&team.counters[owner].next, 1, __ATOMIC_RELAXED);
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

// Tasks of the next launch begin at the first; those that were left undone stay known.
inline void forget_tasks(Team& team) {
    for (int k = 0; k < team.members * team.asked && !team.left; ++k) team.counters[k].next = 0;
}

// Whether this thread is the last to arrive; the others return from here when it has let them go on. Waiting spins for
// some ten microseconds, then gives the CPU away, then sleeps: on a loaded machine the awaited thread must get the CPU.
#if STENCIL_APART
bool arrives_last(Team& team);
#else
STENCIL_PROCEDURE bool arrives_last(Team& team) {
    if (team.size == 1) {
        forget_tasks(team);
        return true;
    }
    const int generation = __atomic_load_n(&team.generation, __ATOMIC_ACQUIRE);
    if (__atomic_add_fetch(&team.arrived, 1, __ATOMIC_ACQ_REL) == team.size) {
        forget_tasks(team);
        team.arrived = 0;
        return true;
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
    return false;
}
#endif

// A barrier; the last thread to arrive does `serial` before any goes on.
template <class Serial> inline void barrier(Team& team, const Serial& serial) {
    if (!arrives_last(team)) return;
    serial();
    __atomic_store_n(&team.generation, team.generation + 1, __ATOMIC_RELEASE);  // no other thread writes it
}

}  // namespace stencil

#endif
