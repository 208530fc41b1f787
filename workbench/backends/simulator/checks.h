// The checks of one access: bounds, races, missing values; and what is kept of it on request.
//
// A race is two accesses to a cell, at least one a write and not both atomic, by different threads of a block with no
// barrier between them, or by different blocks of one launch.
#pragma once

#include "context.h"

namespace stencil {
namespace sim {

inline bool concurrent(const Context& c, const Buffer& b, const Access& a) {
  if (a.phase < b.live_since) return false;
  if (a.phase < c.block_phase) return true;
  if (a.phase != c.phase) return false;
  const unsigned other = a.thread & many_threads;
  if (other == c.thread) return false;
  return (other >> 5) != (c.thread >> 5u) || a.warp_phase >= c.warp_phase;
}

__attribute__((noinline, cold)) inline void race(Context& c, const Buffer& b, long long index, unsigned line,
                                                 bool writes, const Access& other, bool other_writes) {
  std::uint32_t block = c.block;
  for (const auto& start : c.block_phases) {
    if (start.first <= other.phase) block = start.second;
  }
  const unsigned thread = other.thread & many_threads;
  const std::string who = thread == many_threads ? "several threads" : "thread " + position(thread, blockDim);
  const std::string what = std::string(other_writes ? "written" : "read") + " by " + who + " of block " +
                           position(block, gridDim) + " in line " + std::to_string(other.line);
  const char* kind = block != c.block ? "race between blocks" : "race in a block";
  fault(c, kind, line, &b, index, other.line, std::string(writes ? "written" : "read") + " here, " + what);
}

__attribute__((noinline, cold)) inline void outside(Context& c, const Buffer& b, long long index, unsigned line,
                                                    bool writes) {
  fault(c, writes ? "write out of bounds" : "read out of bounds", line, &b, index);
}

__attribute__((noinline)) inline void observe(Context& c, const Buffer& b, long long index, unsigned line,
                                              unsigned kind) {
  if ((c.observe & keep_trace) && c.trace.size() < trace_limit) {
    c.trace.push_back({index, c.block, c.thread, line, b.parameter, kind, c.phase - c.block_phase});
  }
  if ((c.observe & count_sectors) && b.parameter >= 0) {
    const Site site{b.parameter, line, kind != 0};
    const std::uint32_t turn = c.occurrences[{c.thread, site}]++;
    c.warp_groups[std::make_tuple(c.thread / 32u, site, turn)].push_back(index * b.cell_size);
  }
}

inline void check_undefined(Context& c, const Buffer& b, long long index, unsigned line, const Cell& cell) {
  if (__builtin_expect(b.undefined_since != 0, 0) && cell.writer.phase < b.undefined_since) {
    fault(c, b.parameter < 0 ? "read of uninitialised shared memory" : "read of an uninitialised cell", line, &b,
          index);
  }
}

// True when a later read may take this record's place without hiding a race.
inline bool replaceable(const Context& c, const Buffer& b, const Access& a) {
  if (a.phase < b.live_since) return true;
  if (a.phase < c.block_phase) return false;
  if (a.phase != c.phase) return true;
  return (a.thread >> 5u) == (c.thread >> 5u) && a.warp_phase < c.warp_phase;
}

inline void check_read(Context& c, const Buffer& b, long long index, unsigned line) {
  Cell& cell = b.shadow[index];
  if (concurrent(c, b, cell.writer)) race(c, b, index, line, false, cell.writer, true);
  check_undefined(c, b, index, line, cell);
  for (Access& reader : cell.readers) {
    if (reader.phase == c.phase && reader.thread == c.thread) {
      reader.warp_phase = c.warp_phase;
      return;
    }
    if (replaceable(c, b, reader)) {
      reader = {c.phase, c.thread, c.warp_phase, line};
      return;
    }
  }
}

inline void check_write(Context& c, const Buffer& b, long long index, unsigned line, bool atomic) {
  Cell& cell = b.shadow[index];
  const bool live = concurrent(c, b, cell.writer);
  const bool both_atomic = atomic && (cell.writer.thread & atomic_bit);
  if (live && !both_atomic) race(c, b, index, line, true, cell.writer, true);
  for (const Access& reader : cell.readers) {
    if (concurrent(c, b, reader)) race(c, b, index, line, true, reader, false);
  }
  if (atomic) check_undefined(c, b, index, line, cell);
  const std::uint16_t thread = live && both_atomic ? many_threads : c.thread;
  cell.writer = {c.phase, static_cast<std::uint16_t>(thread | (atomic ? atomic_bit : 0)), c.warp_phase, line};
}

inline bool inside(Context& c, Buffer& b, long long index, unsigned line, bool writes) {
  c.last_line = line;
  if (static_cast<unsigned long long>(index) < static_cast<unsigned long long>(b.length)) return true;
  outside(c, b, index, line, writes);
  return false;
}

bool checked_load(Buffer& b, long long index, unsigned line) {
  Context& c = *b.context;
  b.loads += 1;
  if (!inside(c, b, index, line, false)) return false;
  if (b.shadow) check_read(c, b, index, line);
  if (__builtin_expect(c.observe != 0, 0)) observe(c, b, index, line, 0);
  return true;
}

bool checked_store(Buffer& b, long long index, unsigned line) {
  Context& c = *b.context;
  b.stores += 1;
  if (!inside(c, b, index, line, true)) return false;
  check_write(c, b, index, line, false);
  if (__builtin_expect(c.observe != 0, 0)) observe(c, b, index, line, 1);
  return true;
}

bool checked_update(Buffer& b, long long index, unsigned line) {
  Context& c = *b.context;
  b.loads += 1;
  b.stores += 1;
  if (!inside(c, b, index, line, true)) return false;
  check_write(c, b, index, line, true);
  if (__builtin_expect(c.observe != 0, 0)) observe(c, b, index, line, 2);
  return true;
}

}  // namespace sim
}  // namespace stencil
