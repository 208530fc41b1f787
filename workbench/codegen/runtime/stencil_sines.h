// sin and cos of f32 on CPUs, in vectors: gcc has none of the C library's. All loops of a processor have the same bits.
#ifndef STENCIL_SINES_H
#define STENCIL_SINES_H

#include "stencil_prelude.h"

namespace stencil {

#if defined(__AVX2__) && defined(__FMA__) && defined(__GNUC__) && !defined(__clang__)
// gcc calls functions of vectors by these names (stencil_roots.h says more).
extern "C" {
__attribute__((const, nothrow, simd("notinbranch"), visibility("hidden"))) float stencil_sine_f32(float a);
__attribute__((const, nothrow, simd("notinbranch"), visibility("hidden"))) float stencil_cosine_f32(float a);
}

// Up to here three parts of pi / 2 (Cody and Waite) leave of an argument what lies within pi / 4, to the last bit but one:
// the first part has 21 bits, so that its product with a whole number below 2^16 is taken off exactly.
constexpr float FARTHEST_TURNED = 65536.0f;

// The sine `quarters` quarters of a turn ahead, for |a| <= FARTHEST_TURNED. Polynomials are those of least error on
// [-pi / 4, pi / 4]. With them an error is below 1.5 units in the last place.
template <uint32_t quarters> STENCIL_FUNCTION float sine_ahead(float a) {
    const float x = math::fabs(a), moved = math::fma(x, 0x1.45f306p-1f, 0x1.8p23f), turns = moved - 0x1.8p23f;
    const float nearly = math::fma(turns, -0x1.5110b4p-22f, math::fma(turns, -0x1.921fb0p+0f, x));
    const float rest = math::fma(turns, -0x1.846988p-48f, nearly), square = rest * rest;
    float sine = math::fma(0x1.7d3bbcp-19f, square, -0x1.a06bbap-13f), cosine = math::fma(0x1.98e616p-16f, square, -0x1.6c06dcp-10f);
    sine = math::fma(math::fma(sine, square, 0x1.11119ap-7f), square, -0x1.555556p-3f);
    cosine = math::fma(math::fma(cosine, square, 0x1.55553cp-5f), square, -0.5f);
    sine = math::fma(sine * square, rest, rest);
    cosine = math::fma(cosine, square, 1.0f);
    uint32_t turned, given, bits;
    memcpy(&turned, &moved, sizeof turned);  // whose last bits are those of the number of quarters
    memcpy(&given, &a, sizeof given);
    turned += quarters;
    const float found = turned & 1 ? cosine : sine;
    memcpy(&bits, &found, sizeof bits);
    return from_bits<float>(bits ^ (turned & 2) << 30 ^ (quarters == 0 ? given & 0x80000000u : 0u));
}

template <uint32_t quarters, int W> struct Sines {
    typedef float Vector __attribute__((vector_size(4 * W)));

    // Where one is larger, infinite or NaN, the C library has that one.
    STENCIL_FUNCTION static Vector of(Vector given) {
        float a[W], found[W];
        memcpy(a, &given, sizeof a);
        uint32_t larger = 0;
#pragma omp simd reduction(| : larger)
        for (int w = 0; w < W; ++w) {
            found[w] = sine_ahead<quarters>(a[w]);
            larger |= math::fabs(a[w]) <= FARTHEST_TURNED ? 0u : 1u;
        }
        if (larger) {
            for (int w = 0; w < W; ++w) {
                if (!(math::fabs(a[w]) <= FARTHEST_TURNED)) found[w] = quarters ? math::cos(a[w]) : math::sin(a[w]);
            }
        }
        Vector made;
        memcpy(&made, found, sizeof made);
        return made;
    }
};

#define STENCIL_SINES(name, quarters, W)                                                                  \
    extern "C" __attribute__((weak, visibility("hidden"))) Sines<quarters, W>::Vector name(Sines<quarters, W>::Vector a) { \
        return Sines<quarters, W>::of(a);                                                                 \
    }
#if defined(__AVX512F__)
STENCIL_SINES(_ZGVeN16v_stencil_sine_f32, 0, 16)
STENCIL_SINES(_ZGVeN16v_stencil_cosine_f32, 1, 16)
#endif
STENCIL_SINES(_ZGVdN8v_stencil_sine_f32, 0, 8)
STENCIL_SINES(_ZGVdN8v_stencil_cosine_f32, 1, 8)
STENCIL_SINES(_ZGVbN4v_stencil_sine_f32, 0, 4)
STENCIL_SINES(_ZGVbN4v_stencil_cosine_f32, 1, 4)
#undef STENCIL_SINES

// The functions of one number, under other names in C++: gcc would make the vectors of those above itself.
__attribute__((weak, visibility("hidden"))) float sine_alone(float a) __asm__("stencil_sine_f32");
__attribute__((weak, visibility("hidden"))) float cosine_alone(float a) __asm__("stencil_cosine_f32");
float sine_alone(float a) { return Sines<0, 4>::of(Sines<0, 4>::Vector{a, a, a, a})[0]; }
float cosine_alone(float a) { return Sines<1, 4>::of(Sines<1, 4>::Vector{a, a, a, a})[0]; }

STENCIL_FUNCTION float sine_of(float a) { return stencil_sine_f32(a); }
STENCIL_FUNCTION float cosine_of(float a) { return stencil_cosine_f32(a); }
#else
STENCIL_FUNCTION float sine_of(float a) { return math::sin(a); }
STENCIL_FUNCTION float cosine_of(float a) { return math::cos(a); }
#endif

}  // namespace stencil

#endif
