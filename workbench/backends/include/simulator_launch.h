// Launchers of kernels.
//
// One line per kernel at the end of the text makes `int stencil_sim_launch_NAME(context, config, slots, slot_count)`:
//
//   STENCIL_SIM_KERNEL(step, false)   // true when the kernel uses barriers, shared memory or warp functions
//
// The parameter list is read off the kernel itself: `stencil::array<T>` takes a slot {first cell, number of cells},
// any other plain type (a shape record, a number) takes a slot {its bytes, sizeof}. The result is the number of faults
// met, repeated ones included; stencil_sim_errors lists the distinct ones.
#pragma once

#include "simulator_threads.h"

namespace stencil {
namespace sim {
namespace {

template <class P>
struct Parameter {  // a plain value
  static_assert(std::is_trivially_copyable<P>::value, "a kernel parameter is a stencil::array or plain bytes");
  static constexpr ParameterKind kind{false, false, sizeof(P), alignof(P)};
  static P get(const stencil_sim_slot& slot, Buffer&) {
    P value;
    __builtin_memcpy(static_cast<void*>(&value), slot.data, sizeof(P));
    return value;
  }
};

template <class T>
struct Parameter<array<T>> {
  static constexpr ParameterKind kind{true, !std::is_const<T>::value, sizeof(T), alignof(T)};
  static array<T> get(const stencil_sim_slot& slot, Buffer& buffer) { return {static_cast<T*>(slot.data), &buffer}; }
};

template <unsigned... K>
struct Numbers {};
template <unsigned N, unsigned... K>
struct Below : Below<N - 1, N - 1, K...> {};  // Below<N>::Type is Numbers<0, ..., N - 1>
template <unsigned... K>
struct Below<0, K...> {
  using Type = Numbers<K...>;
};

template <class... P>
struct Call {
  void (*kernel)(P...);
  const stencil_sim_slot* slots;

  static void thread(void* closure, Buffer* buffers) {
    static_cast<Call*>(closure)->run(buffers, typename Below<sizeof...(P)>::Type());
  }
  template <unsigned... K>
  void run([[maybe_unused]] Buffer* buffers, Numbers<K...>) const {
    kernel(Parameter<P>::get(slots[K], buffers[K])...);
  }
};

template <class... P>
inline int launch(void* context, const char* name, void (*kernel)(P...), bool uses_barrier,
                  const stencil_sim_config* config, const stencil_sim_slot* slots, int count) {
  static constexpr ParameterKind kinds[] = {Parameter<P>::kind..., {}};  // the last one: an array has an element
  Call<P...> call{kernel, slots};
  void (*const thread)(void*, Buffer*) = &Call<P...>::thread;
  return run_launch(context, name, uses_barrier, *config, slots, count, kinds, sizeof...(P), thread, &call);
}

}  // namespace
}  // namespace sim
}  // namespace stencil

#define STENCIL_SIM_KERNEL(kernel, uses_barrier)                                                                  \
  extern "C" __attribute__((visibility("default"), used)) int stencil_sim_launch_##kernel(                        \
      void* context, const stencil_sim_config* config, const stencil_sim_slot* slots, int slot_count) {           \
    return stencil::sim::launch(context, #kernel, &kernel, uses_barrier, config, slots, slot_count);              \
  }
