// A team of threads: how tasks are shared out and how all wait for all.
#ifndef STENCIL_TEAM_H
#define STENCIL_TEAM_H

#include <sched.h>
#include <stdint.h>
#include <time.h>

namespace stencil {

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

}  // namespace stencil

#endif
