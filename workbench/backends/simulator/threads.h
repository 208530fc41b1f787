// The threads of one block: run them, let them wait at barriers and in warps, say which of them never came.
#pragma once

#include "checks.h"
#include "fibers.h"

namespace stencil {
namespace sim {

constexpr long long shared_limit_bytes = 48 * 1024;  // what a kernel may declare without asking the driver for more

inline const char* name_of(Wait wait) {
  return wait == Wait::barrier ? "a barrier" : "a warp collective";
}

inline void wait_here(Wait wait, unsigned line) {
  Context& c = *active;
  if (!c.fibers) {
    report(c, "undeclared barrier", line, "", -1, -1, 0,
           std::string("the kernel reaches ") + name_of(wait) +
               ", but it is launched as one without; say true in STENCIL_SIM_KERNEL");
    c.stopped = true;
    throw Stop{};
  }
  Fiber& me = c.fibers->fibers[c.thread];
  me.wait = wait;
  me.line = line;
  c.last_line = line;
  c.fibers->pause();
}

void wait_at_barrier(unsigned line) { wait_here(Wait::barrier, line); }

unsigned lane() { return active->thread & 31u; }

// One warp collective: hands in a value, gets what the lanes of `mask` agreed on once all of them came.
std::uint64_t meet_warp(Collective collective, unsigned mask, std::uint64_t value, unsigned source_lane,
                        unsigned line) {
  Context& c = *active;
  if (c.fibers) {
    const unsigned lane = c.thread & 31u;
    if (!(mask >> lane & 1u)) {
      fault(c, "warp collective without its caller", line, nullptr, -1, 0, "the mask lacks the calling lane");
      mask |= 1u << lane;
    }
    Fiber& me = c.fibers->fibers[c.thread];
    me.collective = collective;
    me.mask = mask;
    me.value = value;
    me.source_lane = source_lane;
  }
  wait_here(Wait::warp, line);
  return c.fibers->fibers[c.thread].result;
}

inline void place_thread(Context& c, std::uint32_t t) {
  c.thread = static_cast<std::uint16_t>(t);
  threadIdx.x = t % blockDim.x;
  threadIdx.y = t / blockDim.x % blockDim.y;
  threadIdx.z = t / blockDim.x / blockDim.y;
}

// Lets the lanes that `first` waits for go on, if all that still run have come with the same mask from the same line.
inline bool resolve_warp(Context& c, std::uint32_t warp_start, std::uint32_t first) {
  FiberPool& pool = *c.fibers;
  const Fiber& leader = pool.fibers[first];
  std::uint32_t running = 0, came = 0;
  for (std::uint32_t lane = 0; lane < 32 && warp_start + lane < c.threads_per_block; ++lane) {
    const Fiber& fiber = pool.fibers[warp_start + lane];
    if (fiber.wait == Wait::ended) continue;
    running |= 1u << lane;
    if (!(leader.mask >> lane & 1u)) continue;
    if (fiber.wait != Wait::warp || fiber.line != leader.line || fiber.mask != leader.mask ||
        fiber.collective != leader.collective) {
      return false;
    }
    came |= 1u << lane;
  }
  std::uint64_t ballot = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if ((came >> lane & 1u) && pool.fibers[warp_start + lane].value) ballot |= 1ull << lane;
  }
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (!(came >> lane & 1u)) continue;
    Fiber& fiber = pool.fibers[warp_start + lane];
    fiber.wait = Wait::ready;
    if (fiber.collective == Collective::ballot) {
      fiber.result = ballot;
    } else if (fiber.collective == Collective::shuffle) {
      if (came >> fiber.source_lane & 1u) {
        fiber.result = pool.fibers[warp_start + fiber.source_lane].value;
      } else {
        fiber.result = fiber.value;
        place_thread(c, warp_start + lane);
        report(c, "shuffle from a missing lane", fiber.line, "", -1, -1, 0,
               "lane " + std::to_string(lane) + " reads lane " + std::to_string(fiber.source_lane) +
                   ", which does not take part");
      }
    }
  }
  if (leader.collective == Collective::sync && came == running) pool.warp_phases[warp_start / 32] += 1;
  return true;
}

inline bool resolve_warps(Context& c) {
  FiberPool& pool = *c.fibers;
  bool any = false;
  for (std::uint32_t start = 0; start < c.threads_per_block; start += 32) {
    for (std::uint32_t t = start; t < std::min(start + 32, c.threads_per_block); ++t) {
      if (pool.fibers[t].wait == Wait::warp && resolve_warp(c, start, t)) any = true;
    }
  }
  return any;
}

inline void next_phase(Context& c) {
  c.phase += 1;
  c.warp_phase = 0;
  if (c.fibers) std::fill(c.fibers->warp_phases.begin(), c.fibers->warp_phases.end(), std::uint16_t{0});
}

// No thread can go on: names a thread that waits and one that does not come to the same place.
inline void report_divergence(Context& c) {
  const std::vector<Fiber>& fibers = c.fibers->fibers;
  std::uint32_t waiting = 0;
  while (fibers[waiting].wait == Wait::ended) ++waiting;
  const Fiber& first = fibers[waiting];
  std::uint32_t other = c.threads_per_block;
  for (std::uint32_t t = 0; t < c.threads_per_block && other == c.threads_per_block; ++t) {
    const Fiber& f = fibers[t];
    if (f.wait != first.wait || f.line != first.line || (f.wait == Wait::warp && f.mask != first.mask)) other = t;
  }
  place_thread(c, waiting);
  std::string detail = std::string("waits at ") + name_of(first.wait) + " in line " + std::to_string(first.line);
  unsigned other_line = 0;
  if (other < c.threads_per_block) {
    const Fiber& f = fibers[other];
    other_line = f.line;
    detail += " while thread " + position(other, blockDim);
    if (f.wait == Wait::ended) {
      detail += f.line ? " ended after line " + std::to_string(f.line) : std::string(" ended");
    } else {
      detail += std::string(" waits at ") + name_of(f.wait) + " in line " + std::to_string(f.line);
    }
  }
  const char* kind = first.wait == Wait::barrier ? "divergent barrier" : "divergent warp collective";
  report(c, kind, first.line, "", -1, -1, other_line, detail);
  c.stopped = true;
}

inline void run_block_as_fibers(Context& c) {
  FiberPool& pool = *c.fibers;
  const std::uint32_t count = c.threads_per_block;
  for (std::uint32_t t = 0; t < count; ++t) pool.start(t);
  for (;;) {
    for (std::uint32_t t = 0; t < count; ++t) {
      if (pool.fibers[t].wait != Wait::ready) continue;
      place_thread(c, t);
      c.warp_phase = pool.warp_phases[t / 32];
      c.last_line = pool.fibers[t].line;
      pool.resume(t);
      if (c.stopped) return;
    }
    std::uint32_t ended = 0, at_barrier = 0;
    std::uint32_t line = 0;
    bool same_line = true;
    for (std::uint32_t t = 0; t < count; ++t) {
      const Fiber& fiber = pool.fibers[t];
      ended += fiber.wait == Wait::ended;
      if (fiber.wait != Wait::barrier) continue;
      if (at_barrier++ && fiber.line != line) same_line = false;
      line = fiber.line;
    }
    if (ended == count) return;
    if (at_barrier == count && same_line) {
      c.counters.barriers += 1;
      next_phase(c);
      for (std::uint32_t t = 0; t < count; ++t) pool.fibers[t].wait = Wait::ready;
    } else if (!resolve_warps(c)) {
      report_divergence(c);
    }
    if (c.stopped) return;
  }
}

inline void run_block_as_loop(Context& c, const Body& body) {
  for (std::uint32_t t = 0; t < c.threads_per_block; ++t) {
    place_thread(c, t);
    body();
  }
}

Buffer& shared_buffer(const char* name, unsigned line, long long count, std::uint32_t cell_size) {
  Context& c = *active;
  for (const auto& known : c.shared) {
    if (known->line == line && known->buffer.name == name) return known->buffer;
  }
  auto fresh = std::make_unique<SharedArray>();
  const std::size_t bytes = static_cast<std::size_t>(count) * cell_size;
  fresh->line = line;
  fresh->storage.reset(new std::uint64_t[(bytes + 7) / 8]);
  std::memset(fresh->storage.get(), 0xff, (bytes + 7) / 8 * 8);
  fresh->shadow = new_shadow(count);
  Buffer& b = fresh->buffer;
  b.context = &c;
  b.name = name;
  b.data = fresh->storage.get();
  b.length = count;
  b.cell_size = cell_size;
  b.live_since = b.undefined_since = c.block_phase;
  b.shadow = fresh->shadow.get();
  b.parameter = -1 - static_cast<int>(c.shared.size());
  b.writable = true;
  c.shared.push_back(std::move(fresh));
  long long total = 0;
  for (const auto& known : c.shared) total += known->buffer.length * known->buffer.cell_size;
  Buffer& made = c.shared.back()->buffer;
  if (total > shared_limit_bytes) {
    fault(c, "too much shared memory", line, &made, -1, 0,
          std::to_string(total) + " bytes in a block, at most " + std::to_string(shared_limit_bytes));
  }
  return made;
}

}  // namespace sim
}  // namespace stencil
