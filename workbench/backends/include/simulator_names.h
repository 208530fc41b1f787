// The CUDA names that generated text may use, as ordinary C++: qualifiers, warp functions, atomics, mathematics.
#pragma once

#include "simulator_threads.h"

#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __shared__ static_assert(false, "write STENCIL_SHARED(type, name, count) so that shared memory is checked");
#define __cluster_dims__(...) static_assert(false, "thread block clusters are not simulated; emit the plain variant");

inline void __syncthreads(unsigned line = __builtin_LINE()) { stencil::barrier(line); }
inline void __syncwarp(unsigned mask = 0xffffffffu, unsigned line = __builtin_LINE()) {
  stencil::sim::meet_warp(stencil::sim::Collective::sync, mask, 0, 0, line);
}
inline unsigned __ballot_sync(unsigned mask, int predicate, unsigned line = __builtin_LINE()) {
  using stencil::sim::Collective;
  return static_cast<unsigned>(stencil::sim::meet_warp(Collective::ballot, mask, predicate != 0, 0, line));
}
inline int __any_sync(unsigned mask, int predicate, unsigned line = __builtin_LINE()) {
  return __ballot_sync(mask, predicate, line) != 0;
}
inline int __all_sync(unsigned mask, int predicate, unsigned line = __builtin_LINE()) {
  return __ballot_sync(mask, !predicate, line) == 0;
}
inline unsigned __activemask() = delete;  // its value is no part of a program's meaning

namespace stencil {
namespace sim {
namespace {

template <class T>
inline T shuffle(unsigned mask, T value, unsigned source_lane, unsigned line) {
  static_assert(sizeof(T) <= 8, "a shuffle moves at most eight bytes");
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  bits = meet_warp(Collective::shuffle, mask, bits, source_lane, line);
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}

inline unsigned segment(int width) { return lane() & ~(static_cast<unsigned>(width) - 1u); }

inline unsigned lane_at(unsigned source, int width) {
  return segment(width) + (source & (static_cast<unsigned>(width) - 1u));
}
inline unsigned lane_up(unsigned delta, int width) {
  return lane() >= segment(width) + delta ? lane() - delta : lane();
}
inline unsigned lane_down(unsigned delta, int width) {
  return lane() + delta < segment(width) + static_cast<unsigned>(width) ? lane() + delta : lane();
}
inline unsigned lane_xor(unsigned bits, int width) {
  return (lane() ^ bits) < segment(width) + static_cast<unsigned>(width) ? lane() ^ bits : lane();
}

}  // namespace
}  // namespace sim
}  // namespace stencil

// Plain overloads, not templates, so that a cell u[i] converts to its value.
#define STENCIL_SIM_SHUFFLE(T)                                                                                    \
  inline T __shfl_sync(unsigned m, T v, int lane, int width = 32, unsigned line = __builtin_LINE()) {             \
    return stencil::sim::shuffle(m, v, stencil::sim::lane_at(static_cast<unsigned>(lane), width), line);          \
  }                                                                                                               \
  inline T __shfl_up_sync(unsigned m, T v, unsigned delta, int width = 32, unsigned line = __builtin_LINE()) {    \
    return stencil::sim::shuffle(m, v, stencil::sim::lane_up(delta, width), line);                                \
  }                                                                                                               \
  inline T __shfl_down_sync(unsigned m, T v, unsigned delta, int width = 32, unsigned line = __builtin_LINE()) {  \
    return stencil::sim::shuffle(m, v, stencil::sim::lane_down(delta, width), line);                              \
  }                                                                                                               \
  inline T __shfl_xor_sync(unsigned m, T v, int bits, int width = 32, unsigned line = __builtin_LINE()) {         \
    return stencil::sim::shuffle(m, v, stencil::sim::lane_xor(static_cast<unsigned>(bits), width), line);         \
  }
STENCIL_SIM_SHUFFLE(int)
STENCIL_SIM_SHUFFLE(unsigned)
STENCIL_SIM_SHUFFLE(long)
STENCIL_SIM_SHUFFLE(unsigned long)
STENCIL_SIM_SHUFFLE(long long)
STENCIL_SIM_SHUFFLE(unsigned long long)
STENCIL_SIM_SHUFFLE(float)
STENCIL_SIM_SHUFFLE(double)
#undef STENCIL_SIM_SHUFFLE

#define STENCIL_SIM_ATOMIC(name, T, result)                                                     \
  inline T name(stencil::sim::Pointer<T> p, T value) {                                          \
    return stencil::sim::atomic_update(p.data, *p.buffer, p.index, p.line,                      \
                                       [value]([[maybe_unused]] T old) { return static_cast<T>(result); });      \
  }
STENCIL_SIM_ATOMIC(atomicAdd, float, old + value)
STENCIL_SIM_ATOMIC(atomicAdd, double, old + value)

// Whole numbers of every type, though a device knows fewer names: CUDA text casts to those (stencil_cuda_atomics.h).
#define STENCIL_SIM_ATOMICS(T, U)                                                             \
  STENCIL_SIM_ATOMIC(atomicAdd, T, static_cast<U>(old) + static_cast<U>(value))               \
  STENCIL_SIM_ATOMIC(atomicExch, T, value)                                                    \
  STENCIL_SIM_ATOMIC(atomicMax, T, old < value ? value : old)                                 \
  STENCIL_SIM_ATOMIC(atomicMin, T, value < old ? value : old)                                 \
  STENCIL_SIM_ATOMIC(atomicAnd, T, old & value)                                               \
  STENCIL_SIM_ATOMIC(atomicOr, T, old | value)                                                \
  STENCIL_SIM_ATOMIC(atomicXor, T, old ^ value)                                               \
  inline T atomicCAS(stencil::sim::Pointer<T> p, T expected, T value) {                       \
    return stencil::sim::atomic_update(p.data, *p.buffer, p.index, p.line,                    \
                                       [=](T old) { return old == expected ? value : old; }); \
  }
STENCIL_SIM_ATOMICS(int, unsigned)
STENCIL_SIM_ATOMICS(unsigned, unsigned)
STENCIL_SIM_ATOMICS(long, unsigned long)
STENCIL_SIM_ATOMICS(unsigned long, unsigned long)
STENCIL_SIM_ATOMICS(long long, unsigned long long)
STENCIL_SIM_ATOMICS(unsigned long long, unsigned long long)
#undef STENCIL_SIM_ATOMICS
#undef STENCIL_SIM_ATOMIC

template <class T>
inline std::remove_const_t<T> __ldg(stencil::sim::Pointer<T> p) {
  return stencil::sim::load(p.data, *p.buffer, p.index, p.line);
}

template <class... A>
inline void __pipeline_memcpy_async(A&&...) {
  static_assert(sizeof...(A) > 99, "cp.async is not simulated; emit the variant with plain loads");
}
template <class... A>
inline void stencil_tma_load(A&&...) {
  static_assert(sizeof...(A) > 99, "TMA is not simulated; emit the variant with plain loads");
}

// The mathematics library by the names that compilers have for it: <cmath> would take a third of the time in which a
// small kernel is compiled.
#define STENCIL_SIM_OF_ONE(name)                                  \
  inline float name(float a) { return __builtin_##name##f(a); }   \
  inline float name##f(float a) { return __builtin_##name##f(a); } \
  inline double name(double a) { return __builtin_##name(a); }
#define STENCIL_SIM_OF_TWO(name)                                                      \
  inline float name(float a, float b) { return __builtin_##name##f(a, b); }           \
  inline float name##f(float a, float b) { return __builtin_##name##f(a, b); }        \
  inline double name(double a, double b) { return __builtin_##name(a, b); }
#define STENCIL_SIM_TEST(name)                               \
  inline bool name(float a) { return __builtin_##name(a); }  \
  inline bool name(double a) { return __builtin_##name(a); }
STENCIL_SIM_OF_ONE(acos) STENCIL_SIM_OF_ONE(acosh) STENCIL_SIM_OF_ONE(asin) STENCIL_SIM_OF_ONE(asinh)
STENCIL_SIM_OF_ONE(atan) STENCIL_SIM_OF_ONE(atanh) STENCIL_SIM_OF_ONE(cbrt) STENCIL_SIM_OF_ONE(ceil)
STENCIL_SIM_OF_ONE(cos) STENCIL_SIM_OF_ONE(cosh) STENCIL_SIM_OF_ONE(erf) STENCIL_SIM_OF_ONE(erfc)
STENCIL_SIM_OF_ONE(exp) STENCIL_SIM_OF_ONE(exp2) STENCIL_SIM_OF_ONE(expm1) STENCIL_SIM_OF_ONE(fabs)
STENCIL_SIM_OF_ONE(floor) STENCIL_SIM_OF_ONE(lgamma) STENCIL_SIM_OF_ONE(log) STENCIL_SIM_OF_ONE(log10)
STENCIL_SIM_OF_ONE(log1p) STENCIL_SIM_OF_ONE(log2) STENCIL_SIM_OF_ONE(nearbyint) STENCIL_SIM_OF_ONE(rint)
STENCIL_SIM_OF_ONE(round) STENCIL_SIM_OF_ONE(sin) STENCIL_SIM_OF_ONE(sinh) STENCIL_SIM_OF_ONE(sqrt)
STENCIL_SIM_OF_ONE(tan) STENCIL_SIM_OF_ONE(tanh) STENCIL_SIM_OF_ONE(tgamma) STENCIL_SIM_OF_ONE(trunc)
STENCIL_SIM_OF_TWO(atan2) STENCIL_SIM_OF_TWO(copysign) STENCIL_SIM_OF_TWO(fmax) STENCIL_SIM_OF_TWO(fmin)
STENCIL_SIM_OF_TWO(fmod) STENCIL_SIM_OF_TWO(hypot) STENCIL_SIM_OF_TWO(pow)
STENCIL_SIM_TEST(isfinite) STENCIL_SIM_TEST(isinf) STENCIL_SIM_TEST(isnan) STENCIL_SIM_TEST(signbit)
#undef STENCIL_SIM_OF_ONE
#undef STENCIL_SIM_OF_TWO
#undef STENCIL_SIM_TEST

inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }

inline float rsqrt(float x) { return 1.0f / sqrt(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rsqrtf(float x) { return 1.0f / sqrt(x); }

#define STENCIL_SIM_MINMAX(T)                           \
  inline T min(T a, T b) { return b < a ? b : a; }      \
  inline T max(T a, T b) { return a < b ? b : a; }
STENCIL_SIM_MINMAX(int)
STENCIL_SIM_MINMAX(unsigned)
STENCIL_SIM_MINMAX(long)
STENCIL_SIM_MINMAX(unsigned long)
STENCIL_SIM_MINMAX(long long)
STENCIL_SIM_MINMAX(unsigned long long)
#undef STENCIL_SIM_MINMAX
inline float min(float a, float b) { return fmin(a, b); }
inline float max(float a, float b) { return fmax(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }

inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fsqrt_rn(float a) { return sqrt(a); }
inline float __fmaf_rn(float a, float b, float c) { return fma(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __dsqrt_rn(double a) { return sqrt(a); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

#define STENCIL_SIM_SAME_BITS(name, To, From)  \
  inline To name(From value) {                 \
    To bits;                                   \
    __builtin_memcpy(&bits, &value, sizeof bits); \
    return bits;                               \
  }
STENCIL_SIM_SAME_BITS(__float_as_int, int, float)
STENCIL_SIM_SAME_BITS(__float_as_uint, unsigned, float)
STENCIL_SIM_SAME_BITS(__int_as_float, float, int)
STENCIL_SIM_SAME_BITS(__uint_as_float, float, unsigned)
STENCIL_SIM_SAME_BITS(__double_as_longlong, long long, double)
STENCIL_SIM_SAME_BITS(__longlong_as_double, double, long long)
#undef STENCIL_SIM_SAME_BITS
