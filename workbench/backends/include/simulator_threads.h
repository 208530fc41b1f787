// Barriers and shared memory, as kernels write them.
#pragma once

#include "simulator_memory.h"

namespace stencil {
namespace sim {
namespace {

template <class T>
inline array<T> shared(const char* name, long long count, unsigned line) {
  static_assert(std::is_trivially_default_constructible<T>::value && std::is_trivially_destructible<T>::value &&
                    alignof(T) <= 16,
                "shared memory holds numbers and records of them");
  Buffer& found = shared_buffer(name, line, count, sizeof(T));
  return {static_cast<T*>(found.data), &found};
}

}  // namespace
}  // namespace sim

inline void barrier(unsigned line = __builtin_LINE()) { sim::wait_at_barrier(line); }

}  // namespace stencil

#define STENCIL_SHARED(T, name, count) stencil::array<T> name = stencil::sim::shared<T>(#name, count, __LINE__)
