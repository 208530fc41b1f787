// Checked arrays: an access goes through the core, which tests it for bounds, races and missing values.
#pragma once

#include <type_traits>

#include "simulator_records.h"

namespace stencil {
namespace sim {
namespace {

template <class T>
inline T load(const T* data, Buffer& b, long long index, unsigned line) {
  return checked_load(b, index, line) ? data[index] : T{};
}

template <class T>
inline void store(T* data, Buffer& b, long long index, unsigned line, T value) {
  if (checked_store(b, index, line)) data[index] = value;
}

// Replaces a cell by change(old) in one step and returns the old value.
template <class T, class Change>
inline T atomic_update(T* data, Buffer& b, long long index, unsigned line, Change change) {
  if (!checked_update(b, index, line)) return T{};
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
