// What one simulated device remembers: where it is in a launch, what it found, what it counted.
//
// A context belongs to one owner thread at a time; two contexts share nothing. Only the C interface is visible to other
// libraries, so that several with this core can live in one process.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "simulator_records.h"

__thread uint3 threadIdx, blockIdx, blockDim, gridDim;

namespace stencil {
namespace sim {

constexpr std::size_t error_limit = 8;
constexpr std::size_t trace_limit = 4u << 20;
constexpr unsigned long long slot_undefined = 1, slot_filled = 2;
constexpr unsigned long long keep_trace = 1, count_sectors = 2;
constexpr std::uint16_t atomic_bit = 0x8000, many_threads = 0x7fff;

struct Stop {};  // leaves a kernel after the last error; never leaves the launcher

// `phase` grows with every block and every barrier, so it orders accesses and old records need no clearing.
struct Access {
  std::uint32_t phase;
  std::uint16_t thread;  // with atomic_bit
  std::uint16_t warp_phase;
  std::uint32_t line;
};

struct Cell {
  Access writer;
  Access readers[2];
};

struct FreeCells {
  void operator()(Cell* cells) const { std::free(cells); }
};
using Shadow = std::unique_ptr<Cell[], FreeCells>;

// Shadow of one host array, kept between launches.
struct Region {
  void* data;
  long long length;
  std::uint32_t cell_size;
  std::uint32_t undefined_since;
  unsigned long long last_launch;
  Shadow shadow;
};

struct SharedArray {
  Buffer buffer;
  unsigned line;
  std::unique_ptr<std::uint64_t[]> storage;
  Shadow shadow;
};

struct Site {
  int parameter;
  std::uint32_t line;
  bool store;
  bool operator<(const Site& o) const {
    return std::tie(parameter, line, store) < std::tie(o.parameter, o.line, o.store);
  }
};
struct Sectors {
  std::string array;
  unsigned long long warp_accesses = 0, lanes = 0, sectors32 = 0, sectors128 = 0;
};

struct FiberPool;

struct Context {
  std::uint32_t phase = 1, launch_phase = 1, block_phase = 1;
  std::uint16_t thread = 0, warp_phase = 0;
  std::uint32_t last_line = 0;
  unsigned long long observe = 0;

  std::uint32_t block = 0;
  std::uint32_t threads_per_block = 0;
  const char* kernel = "";
  FiberPool* fibers = nullptr;  // set while a kernel with barriers runs
  std::shared_ptr<FiberPool> pool;  // its stacks are freed with the context
  bool stopped = false;
  std::atomic<bool> cancelled{false};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> block_phases;  // (first phase, block) in the order run

  std::vector<Buffer> buffers;
  std::vector<std::unique_ptr<SharedArray>> shared;
  std::vector<Region> regions;

  std::set<std::tuple<std::string, std::string, unsigned, unsigned>> seen;
  long long faults_in_launch = 0;  // known ones included
  std::string errors;
  stencil_sim_counters_t counters{};
  std::vector<stencil_sim_event> trace;

  std::map<std::pair<std::uint32_t, Site>, std::uint32_t> occurrences;                         // (thread, site)
  std::map<std::tuple<std::uint32_t, Site, std::uint32_t>, std::vector<long long>> warp_groups;  // (warp, site, n-th)
  std::map<Site, Sectors> sectors;
  std::string text;  // what the last text call returned
};

static thread_local Context* active = nullptr;

inline Shadow new_shadow(long long length) {
  return Shadow(static_cast<Cell*>(std::calloc(length > 0 ? static_cast<std::size_t>(length) : 1, sizeof(Cell))));
}

// ---- errors -------------------------------------------------------------------------------------------------------

inline std::string position(std::uint32_t linear, const uint3& extent) {
  const unsigned x = extent.x ? extent.x : 1, y = extent.y ? extent.y : 1;  // a refused launch may have neither
  char text[64];
  std::snprintf(text, sizeof text, "(%u, %u, %u)", linear % x, linear / x % y, linear / x / y);
  return text;
}

inline std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// Adds one record (a JSON object on a line of its own) unless the same fault at the same place is known.
inline void report(Context& c, const char* kind, unsigned line, const char* array, long long index, long long length,
                   unsigned other_line, const std::string& detail) {
  c.faults_in_launch += 1;
  const bool is_new = c.seen.insert(std::make_tuple(std::string(kind), std::string(array), line, other_line)).second;
  if (c.seen.size() >= error_limit) c.stopped = true;
  if (!is_new) return;
  const std::string block = position(c.block, gridDim), thread = position(c.thread, blockDim);
  std::string message = std::string(kind) + " in kernel " + c.kernel;
  if (line) message += ", line " + std::to_string(line);
  if (*array) message += ": " + std::string(array);
  if (index >= 0 || length >= 0) message += "[" + std::to_string(index) + "] of " + std::to_string(length) + " cells";
  if (line) message += ", block " + block + ", thread " + thread;
  if (!detail.empty()) message += "; " + detail;
  auto list = [](std::string text) {
    text.front() = '[';
    text.back() = ']';
    return text;
  };
  c.errors += "{\"kind\": " + quoted(kind) + ", \"kernel\": " + quoted(c.kernel) + ", \"line\": " +
              std::to_string(line) + ", \"other_line\": " + std::to_string(other_line) + ", \"array\": " +
              quoted(array) + ", \"index\": " + std::to_string(index) + ", \"length\": " + std::to_string(length) +
              ", \"block\": " + list(block) + ", \"thread\": " + list(thread) + ", \"message\": " + quoted(message) +
              "}\n";
}

// For faults found inside a kernel: leaves it once there are enough.
inline void fault(Context& c, const char* kind, unsigned line, const Buffer* buffer, long long index,
                  unsigned other_line = 0, const std::string& detail = "") {
  report(c, kind, line, buffer ? buffer->name : "", index, buffer ? buffer->length : -1, other_line, detail);
  if (c.stopped) throw Stop{};
}

}  // namespace sim
}  // namespace stencil
