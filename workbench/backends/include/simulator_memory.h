// Checked arrays: every access is tested for bounds, races and missing values, and knows its source line.
//
// A race is two accesses to a cell, at least one a write and not both atomic, by different threads of a block with no
// barrier between them, or by different blocks of one launch.
#pragma once

#include <algorithm>
#include <type_traits>

#include "simulator_context.h"

namespace stencil {
namespace sim {
namespace {

inline bool concurrent(const Context& c, const Buffer& b, const Access& a) {
  if (a.phase < b.live_since) return false;
  if (a.phase < c.block_phase) return true;
  if (a.phase != c.phase) return false;
  const unsigned other = a.thread & many_threads;
  if (other == c.thread) return false;
  return (other >> 5) != (c.thread >> 5u) || a.warp_phase >= c.warp_phase;
}

__attribute__((noinline, cold)) void race(Context& c, const Buffer& b, long long index, unsigned line, bool writes,
                                          const Access& other, bool other_writes) {
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

__attribute__((noinline, cold)) void outside(Context& c, const Buffer& b, long long index, unsigned line, bool writes) {
  fault(c, writes ? "write out of bounds" : "read out of bounds", line, &b, index);
}

__attribute__((noinline)) void observe(Context& c, const Buffer& b, long long index, unsigned line, unsigned kind) {
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

template <class T>
inline T load(const T* data, Buffer& b, long long index, unsigned line) {
  Context& c = *b.context;
  b.loads += 1;
  c.last_line = line;
  if (static_cast<unsigned long long>(index) >= static_cast<unsigned long long>(b.length)) {
    outside(c, b, index, line, false);
    return T{};
  }
  if (b.shadow) check_read(c, b, index, line);
  if (__builtin_expect(c.observe != 0, 0)) observe(c, b, index, line, 0);
  return data[index];
}

template <class T>
inline void store(T* data, Buffer& b, long long index, unsigned line, T value) {
  Context& c = *b.context;
  b.stores += 1;
  c.last_line = line;
  if (static_cast<unsigned long long>(index) >= static_cast<unsigned long long>(b.length)) {
    outside(c, b, index, line, true);
    return;
  }
  check_write(c, b, index, line, false);
  if (__builtin_expect(c.observe != 0, 0)) observe(c, b, index, line, 1);
  data[index] = value;
}

// Replaces a cell by change(old) in one step and returns the old value.
template <class T, class Change>
inline T atomic_update(T* data, Buffer& b, long long index, unsigned line, Change change) {
  Context& c = *b.context;
  b.loads += 1;
  b.stores += 1;
  c.last_line = line;
  if (static_cast<unsigned long long>(index) >= static_cast<unsigned long long>(b.length)) {
    outside(c, b, index, line, true);
    return T{};
  }
  check_write(c, b, index, line, true);
  if (__builtin_expect(c.observe != 0, 0)) observe(c, b, index, line, 2);
  const T old = data[index];
  data[index] = change(old);
  return old;
}

template <class T>
struct Pointer {  // what &name[index] is
  T* data;
  Buffer* buffer;
  long long index;
  unsigned line;
};

// One cell in an expression. It reads or writes once, at once; it cannot be kept (`auto x = u[i]` does not compile on).
template <class T>
struct Reference {
  using Value = std::remove_const_t<T>;
  T* data;
  Buffer* buffer;
  long long index;
  unsigned line;

  Reference(T* data_, Buffer* buffer_, long long index_, unsigned line_)
      : data(data_), buffer(buffer_), index(index_), line(line_) {}
  Reference(const Reference&) = default;
  template <class U, class = std::enable_if_t<std::is_same<T, const U>::value>>
  Reference(Reference<U>&& o) : data(o.data), buffer(o.buffer), index(o.index), line(o.line) {}

  operator Value() && { return get(); }
  Value operator=(Value value) && { return put(value); }
  Value operator=(Reference&& o) && { return put(o.get()); }
  template <class U>
  Value operator=(Reference<U>&& o) && { return put(static_cast<Value>(o.get())); }
  Pointer<T> operator&() && { return {data, buffer, index, line}; }

#define STENCIL_SIM_COMPOUND(op)                                                                                  \
  template <class U, class = std::enable_if_t<std::is_arithmetic<U>::value>>                                      \
  Value operator op##=(U value) && { return put(static_cast<Value>(get() op value)); }                            \
  template <class U>                                                                                              \
  Value operator op##=(Reference<U>&& o) && { return put(static_cast<Value>(get() op o.get())); }
  STENCIL_SIM_COMPOUND(+)
  STENCIL_SIM_COMPOUND(-)
  STENCIL_SIM_COMPOUND(*)
  STENCIL_SIM_COMPOUND(/)
  STENCIL_SIM_COMPOUND(%)
  STENCIL_SIM_COMPOUND(&)
  STENCIL_SIM_COMPOUND(|)
  STENCIL_SIM_COMPOUND(^)
#undef STENCIL_SIM_COMPOUND

  Value get() const { return load(data, *buffer, index, line); }
  Value put(Value value) const {
    store(data, *buffer, index, line, value);
    return value;
  }
};

// An index that knows the line it was written in: the default argument is evaluated where the conversion happens.
struct Index {
  long long value;
  unsigned line;
  template <class I, class = std::enable_if_t<std::is_integral<I>::value || std::is_enum<I>::value>>
  Index(I i, unsigned line_ = __builtin_LINE()) : value(static_cast<long long>(i)), line(line_) {}
  template <class I>
  Index(Reference<I>&& i, unsigned line_ = __builtin_LINE()) : value(static_cast<long long>(i.get())), line(line_) {}
};

}  // namespace
}  // namespace sim

template <class T>
struct array {
  T* data;
  sim::Buffer* buffer;

  array(T* data_, sim::Buffer* buffer_) : data(data_), buffer(buffer_) {}
  template <class U, class = std::enable_if_t<std::is_same<T, const U>::value>>
  array(const array<U>& o) : data(o.data), buffer(o.buffer) {}

  sim::Reference<T> operator[](sim::Index i) const { return {data, buffer, i.value, i.line}; }
};

}  // namespace stencil
