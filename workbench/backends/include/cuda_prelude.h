// What every generated CUDA text may use: the same names on the device and in the simulator.
//
// Device (nvcc, NVRTC): this file alone, put in front of the text. Simulator (g++ or clang++): given with `-include`.
//
//   stencil::array<T>              a parameter that points at cells; read and written as name[index]
//   stencil::array<const T>        the same, read only
//   STENCIL_SHARED(T, name, n)     n cells of shared memory of the block; n is a constant
//   stencil::barrier()             all threads of the block wait for each other here
//   STENCIL_PREFETCH(name, index)  asks for the cache line of a cell; no access, and without effect on results
//
// Arrays are `__restrict__`: no two arguments of one launch may overlap when one of them is written.
// Read a cell into a variable with a written type (`const double x = u[i];`, not `auto`).
#pragma once

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)

namespace stencil {

template <class T>
using array = T* __restrict__;

__device__ __forceinline__ void barrier() { __syncthreads(); }

}  // namespace stencil

#if defined(__linux__) && !defined(__CUDACC_RTC__)
// nvcc takes uint64_t from the host's headers, which say `unsigned long` there; CUDA's atomics do not know that type.
__device__ __forceinline__ unsigned long atomicOr(unsigned long* address, unsigned long value) {
    return atomicOr(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(value));
}
#endif

#define STENCIL_SHARED(T, name, count) __shared__ T name[count]
#define STENCIL_PREFETCH(name, index) asm volatile("prefetch.global.L2 [%0];" ::"l"((name) + (index)))

#else

#include "simulator.h"
#define STENCIL_PREFETCH(name, index) static_cast<void>(index)

#endif
