// What kernels and the simulator's core share: the records of a launch, built-in variables, arrays under check.
//
// Kernels are compiled with this header and those beside it, which name no standard container: the checks themselves
// are compiled once, as an object that every library of kernels links (../simulator).
#pragma once

#include <cstdint>

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct uint3 {
  unsigned x, y, z;
};

// __thread, not thread_local: it promises that nothing has to be constructed, so an access needs no wrapper function.
extern __thread uint3 threadIdx, blockIdx, blockDim, gridDim;
static constexpr int warpSize = 32;

extern "C" {
// One parameter of a kernel. An array: its first cell, its length in cells. A plain value: its bytes, their number.
struct stencil_sim_slot {
  void* data;
  long long length;
  const char* name;
  unsigned long long flags;  // 1: contents undefined from now on; 2: the host has filled it
};
struct stencil_sim_config {
  unsigned grid[3];
  unsigned block[3];
  unsigned long long seed;   // 0: blocks in index order; else the order is shuffled
  unsigned long long flags;  // 1: keep a trace; 2: count memory sectors per warp access
};
struct stencil_sim_counters_t {
  unsigned long long launches, blocks, threads, loads, stores, shared_loads, shared_stores, barriers;
};
// One access of the trace. kind: 0 load, 1 store, 2 atomic; parameter: its number, or -1 - n for the n-th shared array.
struct stencil_sim_event {
  long long index;
  unsigned block, thread, line;
  int parameter;
  unsigned kind, phase;
};
}

namespace stencil {
namespace sim {

struct Context;  // one simulated device
struct Cell;     // what is known of one cell of an array

struct Buffer {
  Context* context = nullptr;
  const char* name = "";
  void* data = nullptr;
  long long length = 0;
  std::uint32_t cell_size = 0;
  std::uint32_t live_since = 0;       // accesses before this phase are over: of former launches; shared: former blocks
  std::uint32_t undefined_since = 0;  // cells not written since this phase have no value; 0: all have
  Cell* shadow = nullptr;             // null: no thread writes here during this launch
  int parameter = 0;
  bool writable = false;
  unsigned long long loads = 0, stores = 0;
};

// What a kernel's parameter list says of one parameter. `size`: bytes of a cell, or of the plain value.
struct ParameterKind {
  bool is_array, writable;
  std::uint32_t size, alignment;
};

enum class Collective : std::uint8_t { sync, shuffle, ballot };

// The core's functions. A kernel is left by an exception that only the core throws and catches.

// True when the access may be made; false when it lies outside and the kernel goes on without it.
bool checked_load(Buffer& buffer, long long index, unsigned line);
bool checked_store(Buffer& buffer, long long index, unsigned line);
bool checked_update(Buffer& buffer, long long index, unsigned line);

void wait_at_barrier(unsigned line);
std::uint64_t meet_warp(Collective collective, unsigned mask, std::uint64_t value, unsigned source_lane, unsigned line);
unsigned lane();

// The array of this name declared in this line of the running block.
Buffer& shared_buffer(const char* name, unsigned line, long long count, std::uint32_t cell_size);

// Runs `thread(closure, buffers)` for every thread of the launch; buffers[k] stands for the k-th parameter. Returns the
// number of faults met, repeated ones included.
int run_launch(void* context, const char* kernel, bool uses_barrier, const stencil_sim_config& config,
               const stencil_sim_slot* slots, int given, const ParameterKind* kinds, int wanted,
               void (*thread)(void* closure, Buffer* buffers), void* closure);

}  // namespace sim
}  // namespace stencil
