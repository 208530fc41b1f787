// Fibers: many stacks on one operating-system thread, so that device threads can wait for each other.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include "context.h"

#if !defined(__x86_64__) && !defined(STENCIL_SIM_UCONTEXT)
#define STENCIL_SIM_UCONTEXT 1
#endif

#ifdef STENCIL_SIM_UCONTEXT
#include <ucontext.h>
#else
// void stencil_sim_switch(void** save_stack, void* load_stack): keeps what the System V calling convention asks for.
asm(R"(
.text
.globl stencil_sim_switch
.hidden stencil_sim_switch
.type stencil_sim_switch, @function
.p2align 4
stencil_sim_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size stencil_sim_switch, .-stencil_sim_switch
)");
extern "C" __attribute__((visibility("hidden"))) void stencil_sim_switch(void** save_stack, void* load_stack);
#endif

namespace stencil {
namespace sim {

enum class Wait : std::uint8_t { ready, barrier, warp, ended };

// What a thread of a launch runs.
struct Body {
  void (*thread)(void* closure, Buffer* buffers) = nullptr;
  void* closure = nullptr;
  Buffer* buffers = nullptr;
  void operator()() const { thread(closure, buffers); }
};

struct Fiber {
#ifdef STENCIL_SIM_UCONTEXT
  ucontext_t place;
#else
  void* place = nullptr;
#endif
  Wait wait = Wait::ended;
  Collective collective = Collective::sync;
  std::uint32_t line = 0;  // where it waits, or the last line at which it touched memory before it ended
  std::uint32_t mask = 0;
  std::uint32_t source_lane = 0;
  std::uint64_t value = 0, result = 0;
};

constexpr std::size_t stack_bytes = 256 * 1024;
constexpr std::size_t guard_bytes = 64 * 1024;  // a whole number of pages on every system we know

struct FiberPool {
  std::vector<Fiber> fibers;
  char* stacks = nullptr;
  std::size_t stack_count = 0;
#ifdef STENCIL_SIM_UCONTEXT
  ucontext_t scheduler;
#else
  void* scheduler = nullptr;
#endif
  std::uint32_t current = 0;
  Body body;
  std::vector<std::uint16_t> warp_phases;

  FiberPool() = default;
  FiberPool(const FiberPool&) = delete;
  FiberPool& operator=(const FiberPool&) = delete;
  ~FiberPool() { release(); }

  void release() {
    if (stacks) munmap(stacks, stack_count * stack_bytes);
    stacks = nullptr;
    stack_count = 0;
  }

  // False when the system has no memory for the stacks.
  bool reserve(std::size_t count) {
    fibers.resize(std::max(count, fibers.size()));
    warp_phases.resize((fibers.size() + 31) / 32);
    if (count <= stack_count) return true;
    release();
    void* area = mmap(nullptr, count * stack_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (area == MAP_FAILED) return false;
    stacks = static_cast<char*>(area);
    stack_count = count;
    for (std::size_t k = 0; k < count; ++k) mprotect(stacks + k * stack_bytes, guard_bytes, PROT_NONE);
    return true;
  }

  static void entry() {
    Context& c = *active;
    FiberPool& pool = *c.fibers;
    Fiber& me = pool.fibers[pool.current];
    try {
      pool.body();
    } catch (const Stop&) {
    }
    me.line = c.last_line;
    me.wait = Wait::ended;
    pool.pause();
    std::abort();  // an ended fiber is never resumed
  }

  void start(std::uint32_t t) {
    Fiber& fiber = fibers[t];
    fiber.wait = Wait::ready;
    char* bottom = stacks + t * stack_bytes;
#ifdef STENCIL_SIM_UCONTEXT
    getcontext(&fiber.place);
    fiber.place.uc_stack.ss_sp = bottom + guard_bytes;
    fiber.place.uc_stack.ss_size = stack_bytes - guard_bytes;
    fiber.place.uc_link = nullptr;
    makecontext(&fiber.place, &FiberPool::entry, 0);
#else
    void** top = reinterpret_cast<void**>(bottom + stack_bytes);
    *--top = nullptr;  // where entry() would return to; also gives it the alignment of a called function
    *--top = reinterpret_cast<void*>(&FiberPool::entry);
    for (int k = 0; k < 6; ++k) *--top = nullptr;
    fiber.place = top;
#endif
  }

  void resume(std::uint32_t t) {
    current = t;
#ifdef STENCIL_SIM_UCONTEXT
    swapcontext(&scheduler, &fibers[t].place);
#else
    stencil_sim_switch(&scheduler, fibers[t].place);
#endif
  }

  void pause() {
#ifdef STENCIL_SIM_UCONTEXT
    swapcontext(&fibers[current].place, &scheduler);
#else
    stencil_sim_switch(&fibers[current].place, scheduler);
#endif
  }
};

}  // namespace sim
}  // namespace stencil
