// Launches: a table of slots becomes the parameters of a kernel, its blocks run one after another.
#pragma once

#include <exception>
#include <numeric>

#include "threads.h"

namespace stencil {
namespace sim {

constexpr std::size_t kept_regions = 64;
constexpr std::uint32_t last_phase = 0xf0000000u;

inline void bad_launch(Context& c, const std::string& detail) {
  report(c, "bad launch", 0, "", -1, -1, 0, detail);
  c.stopped = true;
}

// Puts what the caller gave for one parameter into its buffer.
inline void bind(Context& c, const stencil_sim_slot& slot, const ParameterKind& kind, int k) {
  Buffer& b = c.buffers[k];
  b.name = slot.name;
  if (!kind.is_array) {
    if (slot.length != static_cast<long long>(kind.size)) {
      bad_launch(c, std::string("parameter ") + slot.name + " has " + std::to_string(kind.size) + " bytes, given are " +
                        std::to_string(slot.length));
    }
    return;
  }
  b.context = &c;
  b.data = slot.data;
  b.length = slot.length;
  b.cell_size = kind.size;
  b.live_since = c.launch_phase;
  b.parameter = k;
  b.writable = kind.writable;
  if (reinterpret_cast<std::uintptr_t>(slot.data) % kind.alignment) {
    bad_launch(c, std::string("array ") + slot.name + " is not aligned to its cells");
  }
}

inline Region& region_of(Context& c, const Buffer& b) {
  for (Region& region : c.regions) {
    if (region.data == b.data && region.length == b.length && region.cell_size == b.cell_size) return region;
  }
  if (c.regions.size() >= kept_regions) {
    const auto older = [](const Region& a, const Region& o) { return a.last_launch < o.last_launch; };
    const auto oldest = std::min_element(c.regions.begin(), c.regions.end(), older);
    if (oldest->last_launch < c.counters.launches) c.regions.erase(oldest);
  }
  c.regions.push_back({b.data, b.length, b.cell_size, 0, 0, new_shadow(b.length)});
  return c.regions.back();
}

// Gives a shadow to every array that is written, or that may hold cells without a value.
inline void attach_shadows(Context& c, const stencil_sim_slot* slots) {
  for (std::size_t k = 0; k < c.buffers.size(); ++k) {
    Buffer& b = c.buffers[k];
    if (!b.data || !b.context || b.length <= 0) continue;
    for (std::size_t n = 0; n < k; ++n) {
      const Buffer& o = c.buffers[n];
      const char *start = static_cast<char*>(b.data), *other = static_cast<char*>(o.data);
      if (!o.data || (!b.writable && !o.writable)) continue;
      if (start < other + o.length * o.cell_size && other < start + b.length * b.cell_size) {
        bad_launch(c, std::string("arrays ") + o.name + " and " + b.name +
                          " overlap and one is written; arrays are __restrict__, pass one array instead");
      }
    }
    Region& region = region_of(c, b);
    region.last_launch = c.counters.launches;
    if (!region.shadow) return bad_launch(c, std::string("no memory to check array ") + b.name);
    if (slots[k].flags & slot_undefined) region.undefined_since = c.launch_phase;
    if (slots[k].flags & slot_filled) region.undefined_since = 0;
    b.undefined_since = region.undefined_since;
    if (b.writable || b.undefined_since) b.shadow = region.shadow.get();
  }
}

inline std::vector<std::uint32_t> block_order(std::uint32_t count, unsigned long long seed) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  if (!seed) return order;
  auto next = [&seed] {  // splitmix64
    unsigned long long z = (seed += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  };
  for (std::uint32_t k = count; k > 1; --k) std::swap(order[k - 1], order[next() % k]);
  return order;
}

inline void finish_observing(Context& c) {
  for (auto& group : c.warp_groups) {
    const Site& site = std::get<1>(group.first);
    Sectors& sum = c.sectors[site];
    sum.array = c.buffers[site.parameter].name;
    sum.warp_accesses += 1;
    sum.lanes += group.second.size();
    for (const long long size : {32ll, 128ll}) {
      std::set<long long> touched;
      for (const long long byte : group.second) touched.insert(byte / size);
      (size == 32 ? sum.sectors32 : sum.sectors128) += touched.size();
    }
  }
  c.warp_groups.clear();
  c.occurrences.clear();
}

inline void run_blocks(Context& c, const stencil_sim_config& config, FiberPool* pool, const Body& body) {
  for (const std::uint32_t block : block_order(gridDim.x * gridDim.y * gridDim.z, config.seed)) {
    if (c.stopped || c.cancelled.load(std::memory_order_relaxed)) break;
    next_phase(c);
    c.block_phase = c.phase;
    c.block = block;
    c.block_phases.emplace_back(c.phase, block);
    blockIdx = {block % gridDim.x, block / gridDim.x % gridDim.y, block / gridDim.x / gridDim.y};
    for (const auto& shared : c.shared) {
      shared->buffer.live_since = shared->buffer.undefined_since = c.phase;
    }
    try {
      pool ? run_block_as_fibers(c) : run_block_as_loop(c, body);
    } catch (const Stop&) {
    }
    if (c.observe & count_sectors) finish_observing(c);
    c.counters.blocks += 1;
    c.counters.threads += c.threads_per_block;
  }
}

inline bool begin_launch(Context& c, const char* kernel, const stencil_sim_config& config, int given, int wanted) {
  const auto &grid = config.grid, &block = config.block;
  c.kernel = kernel;
  c.stopped = false;
  c.faults_in_launch = 0;
  gridDim = {grid[0], grid[1], grid[2]};
  blockDim = {block[0], block[1], block[2]};
  if (c.phase > last_phase) {  // start counting again; nothing may remember the old phases
    c.phase = 1;
    c.regions.clear();
  }
  next_phase(c);
  c.launch_phase = c.block_phase = c.phase;
  c.thread = 0;
  c.block = 0;
  c.last_line = 0;
  c.observe = config.flags;
  c.block_phases.clear();
  c.shared.clear();
  c.buffers.assign(static_cast<std::size_t>(wanted), Buffer{});
  c.counters.launches += 1;
  const double threads = double(block[0]) * block[1] * block[2], blocks = double(grid[0]) * grid[1] * grid[2];
  if (threads < 1 || threads > 1024 || block[2] > 64) bad_launch(c, "a block has 1 to 1024 threads, at most 64 in z");
  if (blocks < 1 || grid[0] > 0x7fffffffu || grid[1] > 65535 || grid[2] > 65535) {
    bad_launch(c, "a grid has 1 to 2147483647 blocks in x and 1 to 65535 in y and z");
  }
  if (blocks > 0x3fffffff) bad_launch(c, "the simulator runs at most 1073741823 blocks in a launch");
  if (given != wanted) {
    bad_launch(c, "the kernel has " + std::to_string(wanted) + " parameters, given are " + std::to_string(given));
  }
  c.threads_per_block = static_cast<std::uint32_t>(threads);
  return !c.stopped;
}

inline void run_bound(Context& c, bool uses_barrier, const stencil_sim_config& config, const Body& body) {
  if (uses_barrier) {
    if (!c.pool) c.pool = std::make_shared<FiberPool>();
    if (!c.pool->reserve(c.threads_per_block)) return bad_launch(c, "no memory for the stacks of a block's threads");
    c.pool->body = body;
    c.fibers = c.pool.get();
  }
  run_blocks(c, config, c.fibers, body);
  c.fibers = nullptr;
  for (const Buffer& b : c.buffers) {
    c.counters.loads += b.loads;
    c.counters.stores += b.stores;
  }
  for (const auto& shared : c.shared) {
    c.counters.shared_loads += shared->buffer.loads;
    c.counters.shared_stores += shared->buffer.stores;
  }
}

int run_launch(void* context, const char* kernel, bool uses_barrier, const stencil_sim_config& config,
               const stencil_sim_slot* slots, int given, const ParameterKind* kinds, int wanted,
               void (*thread)(void* closure, Buffer* buffers), void* closure) {
  Context& c = *static_cast<Context*>(context);
  Context* const before = active;
  active = &c;
  try {
    if (begin_launch(c, kernel, config, given, wanted)) {
      for (int k = 0; k < wanted; ++k) bind(c, slots[k], kinds[k], k);
      if (!c.stopped) attach_shadows(c, slots);
      if (!c.stopped) run_bound(c, uses_barrier, config, Body{thread, closure, c.buffers.data()});
    }
  } catch (const std::exception& problem) {
    bad_launch(c, std::string("the simulator failed: ") + problem.what());
  }
  c.fibers = nullptr;
  active = before;
  return static_cast<int>(std::min(c.faults_in_launch, 0x7fffffffll));
}

}  // namespace sim
}  // namespace stencil
