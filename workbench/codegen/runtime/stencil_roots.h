// Reciprocal square roots on CPUs, within 2 units in the last place: by the estimate that AVX-512 has, by products, or by the
// two operations, whichever the processor is fastest with. All loops of a processor have the same bits.
#ifndef STENCIL_ROOTS_H
#define STENCIL_ROOTS_H

#include "stencil_prelude.h"

namespace stencil {

// How 1 / sqrt begins: from_bits(seed - bits / 2) is within 6 % for normal positive numbers. `first` is a polynomial in
// 1 - a * y * y that makes 6e-7 (f64) or 2e-5 (f32) of that, its coefficients found by weighted least squares, highest first.
template <class T> struct rsqrt_start;
template <> struct rsqrt_start<double> {
    typedef uint64_t bits;
    static constexpr bits seed = 0x5fe66b50c7b537a9u, nan = 0x7ff8000000000000u;
    static constexpr double least = 2.2250738585072014e-308, up = 18014398509481984.0, back = 134217728.0;
    STENCIL_FUNCTION static double first(double e) {
        return STENCIL_MATH fma(
            STENCIL_MATH fma(STENCIL_MATH fma(e, 0.35753618, 0.37363355), e, 0.49997356), e, 1.00000049);
    }
    STENCIL_FUNCTION static double last(double y, double e) {
        return STENCIL_MATH fma(y * e, STENCIL_MATH fma(e, 0.375, 0.5), y);
    }
};
template <> struct rsqrt_start<float> {
    typedef uint32_t bits;
    static constexpr bits seed = 0x5f335a86u, nan = 0x7fc00000u;
    static constexpr float least = 1.17549435e-38f, up = 16777216.0f, back = 4096.0f;
    STENCIL_FUNCTION static float first(float e) {
        return STENCIL_MATH fma(STENCIL_MATH fma(e, 0.41287992f, 0.49957361f), e, 0.99998014f);
    }
    STENCIL_FUNCTION static float last(float y, float e) { return STENCIL_MATH fma(y * 0.5f, e, y); }
};

// 1 / sqrt(a) within 1.02 units in the last place, from multiplications and additions only, so that vectors of any width
// take as long as one number. Subnormal numbers are scaled by an even power of two.
template <class T> STENCIL_FUNCTION T rsqrt_of_products(T a) {
    typedef rsqrt_start<T> start;
    typedef typename start::bits Bits;
    constexpr T infinity = T(__builtin_inf());
    const bool scaled = a < start::least;
    const T x = scaled ? a * start::up : a;
    Bits bits;
    memcpy(&bits, &x, sizeof bits);
    T y = from_bits<T>(Bits(start::seed - (bits >> 1)));
    y *= start::first(STENCIL_MATH fma(-(x * y), y, T(1)));
    y = start::last(y, STENCIL_MATH fma(-(x * y), y, T(1)));
    y = scaled ? y * start::back : y;
    y = a == T(0) ? STENCIL_MATH copysign(infinity, a) : a == infinity ? T(0) : y;
    return a >= T(0) ? y : from_bits<T>(Bits(start::nan));
}

#if defined(__AVX512VL__) && defined(__GNUC__) && !defined(__clang__)
// gcc vectorises no instruction that it has no name for, but it does calls of functions that exist for vectors too. Their
// names are those of declarations with `simd`: e, d and b are AVX-512, AVX2 and SSE, to whose widths a loop may be cut.
extern "C" {
__attribute__((const, nothrow, simd("notinbranch"), visibility("hidden"))) float stencil_root_f32(float a);
__attribute__((const, nothrow, simd("notinbranch"), visibility("hidden"))) double stencil_root_f64(double a);
}

// The estimate y is within 2^-14 of the root, so e = 1 - a * y * y is below 2^-13, and the root is y / sqrt(1 - e). The
// series goes up to e (f32) or e^3 (f64), whose last but one coefficient has a bit of the next term; what is left out is
// 0.1 and 0.13 units. e is rounded as the result is: within 1.5 units together. For 0, infinity, NaN and negative numbers
// e is no number, and the estimate is the result: of f32 half of it, which is the same then and else less than the root,
// as one maximum gives whichever it is.
STENCIL_FUNCTION float refined(float a, float y) {
    const float half = y * 0.5f, root = math::fma(half, math::fma(-(a * y), y, 1.0f), y);
    return root > half ? root : half;
}
STENCIL_FUNCTION double refined(double a, double y) {
    const double e = math::fma(-(a * y), y, 1.0);
    return e == e ? math::fma(y * e, math::fma(math::fma(e, 0.3125, 0.37500000408), e, 0.5), y) : y;
}

template <class T, int W> struct vector_of { typedef T type __attribute__((vector_size(W * sizeof(T)))); };

STENCIL_FUNCTION auto estimate(vector_of<float, 16>::type a) { return __builtin_ia32_rsqrt14ps512_mask(a, a, -1); }
STENCIL_FUNCTION auto estimate(vector_of<float, 8>::type a) { return __builtin_ia32_rsqrt14ps256_mask(a, a, -1); }
STENCIL_FUNCTION auto estimate(vector_of<float, 4>::type a) { return __builtin_ia32_rsqrt14ps128_mask(a, a, -1); }
STENCIL_FUNCTION auto estimate(vector_of<double, 8>::type a) { return __builtin_ia32_rsqrt14pd512_mask(a, a, -1); }
STENCIL_FUNCTION auto estimate(vector_of<double, 4>::type a) { return __builtin_ia32_rsqrt14pd256_mask(a, a, -1); }
STENCIL_FUNCTION auto estimate(vector_of<double, 2>::type a) { return __builtin_ia32_rsqrt14pd128_mask(a, a, -1); }

template <class T, int W> STENCIL_FUNCTION typename vector_of<T, W>::type roots(typename vector_of<T, W>::type a) {
    const typename vector_of<T, W>::type y = estimate(a);
    typename vector_of<T, W>::type root;
    for (int w = 0; w < W; ++w) root[w] = refined(a[w], y[w]);
    return root;
}

#define STENCIL_ROOTS(name, T, W)                                                                                       \
    extern "C" __attribute__((weak, visibility("hidden"))) vector_of<T, W>::type name(vector_of<T, W>::type a) { \
        return roots<T, W>(a);                                                                                          \
    }
STENCIL_ROOTS(_ZGVeN16v_stencil_root_f32, float, 16)
STENCIL_ROOTS(_ZGVdN8v_stencil_root_f32, float, 8)
STENCIL_ROOTS(_ZGVbN4v_stencil_root_f32, float, 4)
STENCIL_ROOTS(_ZGVeN8v_stencil_root_f64, double, 8)
STENCIL_ROOTS(_ZGVdN4v_stencil_root_f64, double, 4)
STENCIL_ROOTS(_ZGVbN2v_stencil_root_f64, double, 2)
#undef STENCIL_ROOTS

// The function of one number, under another name in C++: gcc would make the vectors of the one above itself.
__attribute__((weak, visibility("hidden"))) float root_alone(float a) __asm__("stencil_root_f32");
__attribute__((weak, visibility("hidden"))) double root_alone(double a) __asm__("stencil_root_f64");
float root_alone(float a) { return roots<float, 4>(vector_of<float, 4>::type{a, a, a, a})[0]; }
double root_alone(double a) { return roots<double, 2>(vector_of<double, 2>::type{a, a})[0]; }

STENCIL_FUNCTION float reciprocal_sqrt(float a) { return stencil_root_f32(a); }
STENCIL_FUNCTION double reciprocal_sqrt(double a) { return stencil_root_f64(a); }

// Whole vectors of cells without a call.
template <class T, int L> STENCIL_FUNCTION int take_vectors(T (&cells)[L], int64_t count) {
    constexpr int W = 64 / sizeof(T);
    if (L % W || count < L) return 0;
    for (int first = 0; first < L; first += W) {
        typename vector_of<T, W>::type a;
        memcpy(&a, cells + first, sizeof a);
        a = roots<T, W>(a);
        memcpy(cells + first, &a, sizeof a);
    }
    return L;
}
#else
// Two operations, each rounded (1.5 units), hold a loop up where vectors have 512 bits; with 256 the products do: sums
// over pairs took 2.2 (f32) and 2.0 (f64) times as long with them.
template <class T> STENCIL_FUNCTION T reciprocal_sqrt(T a) {
#if defined(__AVX512F__) || defined(__ARM_FEATURE_FMA)
    return rsqrt_of_products(a);
#else
    return T(1) / math::sqrt(a);
#endif
}
template <class T, int L> STENCIL_FUNCTION int take_vectors(T (&)[L], int64_t) { return 0; }
#endif

// Targets of a sum over pairs whose roots are taken together. Three vectors of 512 bits are in registers, and one has
// operations to do while the others wait; four of 256 bits are as fast as any other number of them.
#if defined(__AVX512F__)
template <class T> constexpr int lanes_of_roots = 192 / sizeof(T);
#else
template <class T> constexpr int lanes_of_roots = 128 / sizeof(T);
#endif

// The roots of `count` cells, of all L where that is known to the compiler.
template <class T, int L> STENCIL_FUNCTION void take_roots(T (&cells)[L], int64_t count) {
#pragma omp simd
    for (int64_t lane = take_vectors(cells, count); lane < count; ++lane) cells[lane] = reciprocal_sqrt(cells[lane]);
}

}  // namespace stencil

#endif
