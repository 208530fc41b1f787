// Double-double arithmetic: each function is one sequence of f64 operations (graph/extended.py, from which this text is
// made), the same on all backends.
#ifndef STENCIL_EXTENDED_H
#define STENCIL_EXTENDED_H

#include "stencil_prelude.h"

namespace stencil {

struct alignas(16) dd {
    double hi, lo;

    dd() = default;
    STENCIL_FUNCTION dd(double hi, double lo) : hi(hi), lo(lo) {}
    STENCIL_FUNCTION explicit dd(double x) : hi(x), lo(0.0) {}  // of whole numbers below 2^53 too
    dd(const dd&) = default;
    // By parts, because gcc has no vectors for loops that move a whole struct.
    STENCIL_FUNCTION dd& operator=(const dd& other) {
        hi = other.hi;
        lo = other.lo;
        return *this;
    }
};
template <> struct is_float<dd> {
    static constexpr bool value = true;
};

// a + b by the units that multiply. The bits are the same: a * 1.0 is exact, and the sum is rounded once.
STENCIL_FUNCTION double by_fma(double a, double b) {
#if defined(__x86_64__) && defined(__FMA__) && !defined(STENCIL_CUDA_H)
    return STENCIL_MATH fma(a, 1.0, b);
#else
    return a + b;
#endif
}

STENCIL_FUNCTION dd dd_add(dd a, dd b) {
    const double t1 = a.hi + b.hi;
    const double t2 = t1 - a.hi;
    const double t3 = a.lo + b.lo;
    const double t4 = t3 - a.lo;
    const double t5 = a.hi - (t1 - t2) + (b.hi - t2) + t3;
    const double t6 = t1 + t5;
    const double t7 = t5 - (t6 - t1) + (a.lo - (t3 - t4) + (b.lo - t4));
    const double t8 = t6 + t7;
    const bool t9 = is_finite(t8);
    return dd{t9 ? t8 : t1, t9 ? t7 - (t8 - t6) : 0.0};
}

STENCIL_FUNCTION dd dd_subtract(dd a, dd b) {
    const double t1 = -b.hi;
    const double t2 = -b.lo;
    const double t3 = a.hi + t1;
    const double t4 = t3 - a.hi;
    const double t5 = a.lo + t2;
    const double t6 = t5 - a.lo;
    const double t7 = a.hi - (t3 - t4) + (t1 - t4) + t5;
    const double t8 = t3 + t7;
    const double t9 = t7 - (t8 - t3) + (a.lo - (t5 - t6) + (t2 - t6));
    const double t10 = t8 + t9;
    const bool t11 = is_finite(t10);
    return dd{t11 ? t10 : t3, t11 ? t9 - (t10 - t8) : 0.0};
}

STENCIL_FUNCTION dd dd_multiply(dd a, dd b) {
    const double t1 = a.hi * b.hi;
    const double t2 = STENCIL_MATH fma(a.lo, b.hi, STENCIL_MATH fma(a.hi, b.lo, a.lo * b.lo));
    const double t3 = STENCIL_MATH fma(a.hi, b.hi, -t1) + t2;
    const double t4 = t1 + t3;
    const bool t5 = is_finite(t4);
    return dd{t5 ? t4 : t1, t5 ? t3 - (t4 - t1) : 0.0};
}

STENCIL_FUNCTION dd dd_divide(dd a, dd b) {
    const bool t1 = STENCIL_MATH fabs(a.hi) < 0x1p-900 /* 1.1830521861667747e-271 */;
    const bool t2 = STENCIL_MATH fabs(b.hi) < 0x1p-900 /* 1.1830521861667747e-271 */;
    const double t3 = (t1 | t2) ? 0x1p+110 /* 1.298074214633707e+33 */ : 1.0;
    const double t4 = a.hi * t3;
    const double t5 = b.hi * t3;
    const double t6 = b.lo * t3;
    const double t7 = 1.0 / t5;
    const double t8 = t4 / t5;
    const double t9 = -t8;
    const double t10 = STENCIL_MATH fma(t9, t5, t4);
    const double t11 = STENCIL_MATH fma(t9, t6, a.lo * t3);
    const double t12 = t10 + t11;
    const double t13 = t12 - t10;
    const double t14 = t12 * t7;
    const double t15 = -t14;
    const double t16 = STENCIL_MATH fma(t15, t5, t12) + STENCIL_MATH fma(t15, t6, t10 - (t12 - t13) + (t11 - t13));
    const double t17 = t8 + t14;
    const double t18 = t14 - (t17 - t8) + t16 * t7;
    const double t19 = t17 + t18;
    const bool t20 = is_finite(t19);
    return dd{t20 ? t19 : a.hi / b.hi, t20 ? t18 - (t19 - t17) : 0.0};
}

STENCIL_FUNCTION dd dd_negative(dd a) {
    return dd{-a.hi, -a.lo};
}

STENCIL_FUNCTION dd dd_absolute(dd a) {
    return dd{STENCIL_MATH fabs(a.hi), (a.hi < 0.0) ? -a.lo : a.lo};
}

STENCIL_FUNCTION dd dd_sign(dd a) {
    return dd{sign_of(a.hi), 0.0};
}

STENCIL_FUNCTION dd dd_sqrt(dd a) {
    const bool t1 = a.hi < 0x1p-900 /* 1.1830521861667747e-271 */;
    const double t2 = t1 ? 0x1p+128 /* 3.402823669209385e+38 */ : 1.0;
    const double t3 = t1 ? 0x1p-64 /* 5.421010862427522e-20 */ : 1.0;
    const double t4 = a.hi * t2;
    const double t5 = STENCIL_MATH sqrt(t4);
    const double t6 = (STENCIL_MATH fma(-t5, t5, t4) + a.lo * t2) / (t5 + t5);
    const double t7 = t5 + t6;
    const double t8 = t7 * t3;
    const bool t9 = is_finite(t8);
    return dd{t9 ? t8 : STENCIL_MATH sqrt(a.hi), t9 ? (t6 - (t7 - t5)) * t3 : 0.0};
}

STENCIL_FUNCTION dd dd_minimum(dd a, dd b) {
    const bool t1 = (a.hi < b.hi) | ((a.hi == b.hi) & (a.lo < b.lo)) | (a.hi != a.hi);
    return dd{t1 ? a.hi : b.hi, t1 ? a.lo : b.lo};
}

STENCIL_FUNCTION dd dd_maximum(dd a, dd b) {
    const bool t1 = (b.hi < a.hi) | ((b.hi == a.hi) & (b.lo < a.lo)) | (a.hi != a.hi);
    return dd{t1 ? a.hi : b.hi, t1 ? a.lo : b.lo};
}

STENCIL_FUNCTION bool dd_less(dd a, dd b) {
    return (a.hi < b.hi) | ((a.hi == b.hi) & (a.lo < b.lo));
}

STENCIL_FUNCTION bool dd_less_equal(dd a, dd b) {
    return (a.hi < b.hi) | ((a.hi == b.hi) & (a.lo <= b.lo));
}

STENCIL_FUNCTION bool dd_greater(dd a, dd b) {
    return (b.hi < a.hi) | ((b.hi == a.hi) & (b.lo < a.lo));
}

STENCIL_FUNCTION bool dd_greater_equal(dd a, dd b) {
    return (b.hi < a.hi) | ((b.hi == a.hi) & (b.lo <= a.lo));
}

STENCIL_FUNCTION bool dd_equal(dd a, dd b) {
    return (a.hi == b.hi) & (a.lo == b.lo);
}

STENCIL_FUNCTION bool dd_not_equal(dd a, dd b) {
    return (a.hi != b.hi) | (a.lo != b.lo);
}

STENCIL_FUNCTION bool dd_isnan(dd a) {
    return a.hi != a.hi;
}

STENCIL_FUNCTION bool dd_isfinite(dd a) {
    return is_finite(a.hi);
}

STENCIL_FUNCTION dd dd_select(bool condition, dd a, dd b) {
    return dd{condition ? a.hi : b.hi, condition ? a.lo : b.lo};
}

STENCIL_FUNCTION dd dd_from_bool(bool x) {
    return dd{double(x), 0.0};
}

STENCIL_FUNCTION bool bool_from_dd(dd a) {
    return a.hi != 0.0;
}

STENCIL_FUNCTION dd dd_from_i8(int8_t x) {
    return dd{double(x), 0.0};
}

STENCIL_FUNCTION int8_t i8_from_dd(dd a) {
    const double t1 = STENCIL_MATH trunc(a.hi);
    const double t2 = (a.hi > 0.0) ? STENCIL_MATH floor(a.lo) : STENCIL_MATH ceil(a.lo);
    return saturated<int8_t>(t1 + ((t1 == a.hi) ? t2 : 0.0));
}

STENCIL_FUNCTION dd dd_from_i16(int16_t x) {
    return dd{double(x), 0.0};
}

STENCIL_FUNCTION int16_t i16_from_dd(dd a) {
    const double t1 = STENCIL_MATH trunc(a.hi);
    const double t2 = (a.hi > 0.0) ? STENCIL_MATH floor(a.lo) : STENCIL_MATH ceil(a.lo);
    return saturated<int16_t>(t1 + ((t1 == a.hi) ? t2 : 0.0));
}

STENCIL_FUNCTION dd dd_from_i32(int32_t x) {
    return dd{double(x), 0.0};
}

STENCIL_FUNCTION int32_t i32_from_dd(dd a) {
    const double t1 = STENCIL_MATH trunc(a.hi);
    const double t2 = (a.hi > 0.0) ? STENCIL_MATH floor(a.lo) : STENCIL_MATH ceil(a.lo);
    return saturated<int32_t>(t1 + ((t1 == a.hi) ? t2 : 0.0));
}

STENCIL_FUNCTION dd dd_from_i64(int64_t x) {
    const double t1 = double(shifted_right(x, int64_t(32))) * 0x1p+32 /* 4294967296.0 */;
    const double t2 = double(x & int64_t(4294967295));
    const double t3 = t1 + t2;
    return dd{t3, t2 - (t3 - t1)};
}

STENCIL_FUNCTION int64_t i64_from_dd(dd a) {
    const double t1 = STENCIL_MATH trunc(a.hi);
    const double t2 = (a.hi > 0.0) ? STENCIL_MATH floor(a.lo) : STENCIL_MATH ceil(a.lo);
    const double t3 = (t1 == a.hi) ? t2 : 0.0;
    const bool t4 = (t1 > 0x1p+63 /* 9.223372036854776e+18 */) | ((t1 == 0x1p+63 /* 9.223372036854776e+18 */) & (t3 >= 0.0));
    const bool t5 = (t1 < -0x1p+63 /* 9.223372036854776e+18 */) | ((t1 == -0x1p+63 /* 9.223372036854776e+18 */) & (t3 < 0.0));
    const bool t6 = STENCIL_MATH fabs(t1) >= 0x1p+62 /* 4.611686018427388e+18 */;
    const int64_t t7 = saturated<int64_t>(t6 ? t1 * 0.5 : t1);
    const int64_t t8 = wrapped_add(t6 ? wrapped_add(t7, t7) : t7, saturated<int64_t>(t3));
    const int64_t t9 = t4 ? int64_t(9223372036854775807) : (t5 ? int64_t(int64_t(-9223372036854775807) - 1) : t8);
    return t9;
}

STENCIL_FUNCTION dd dd_from_u8(uint8_t x) {
    return dd{double(x), 0.0};
}

STENCIL_FUNCTION uint8_t u8_from_dd(dd a) {
    const double t1 = STENCIL_MATH trunc(a.hi);
    const double t2 = (a.hi > 0.0) ? STENCIL_MATH floor(a.lo) : STENCIL_MATH ceil(a.lo);
    return saturated<uint8_t>(t1 + ((t1 == a.hi) ? t2 : 0.0));
}

STENCIL_FUNCTION dd dd_from_u16(uint16_t x) {
    return dd{double(x), 0.0};
}

STENCIL_FUNCTION uint16_t u16_from_dd(dd a) {
    const double t1 = STENCIL_MATH trunc(a.hi);
    const double t2 = (a.hi > 0.0) ? STENCIL_MATH floor(a.lo) : STENCIL_MATH ceil(a.lo);
    return saturated<uint16_t>(t1 + ((t1 == a.hi) ? t2 : 0.0));
}

STENCIL_FUNCTION dd dd_from_u32(uint32_t x) {
    return dd{double(x), 0.0};
}

STENCIL_FUNCTION uint32_t u32_from_dd(dd a) {
    const double t1 = STENCIL_MATH trunc(a.hi);
    const double t2 = (a.hi > 0.0) ? STENCIL_MATH floor(a.lo) : STENCIL_MATH ceil(a.lo);
    return saturated<uint32_t>(t1 + ((t1 == a.hi) ? t2 : 0.0));
}

STENCIL_FUNCTION dd dd_from_u64(uint64_t x) {
    const double t1 = double(shifted_right(x, uint64_t(32))) * 0x1p+32 /* 4294967296.0 */;
    const double t2 = double(x & uint64_t(4294967295u));
    const double t3 = t1 + t2;
    return dd{t3, t2 - (t3 - t1)};
}

STENCIL_FUNCTION uint64_t u64_from_dd(dd a) {
    const double t1 = STENCIL_MATH trunc(a.hi);
    const double t2 = (a.hi > 0.0) ? STENCIL_MATH floor(a.lo) : STENCIL_MATH ceil(a.lo);
    const double t3 = (t1 == a.hi) ? t2 : 0.0;
    const bool t4 = (t1 > 0x1p+64 /* 1.8446744073709552e+19 */) | ((t1 == 0x1p+64 /* 1.8446744073709552e+19 */) & (t3 >= 0.0));
    const bool t5 = STENCIL_MATH fabs(t1) >= 0x1p+63 /* 9.223372036854776e+18 */;
    const uint64_t t6 = saturated<uint64_t>(t5 ? t1 * 0.5 : t1);
    const uint64_t t7 = ((t1 < 0.0) | ((t1 == 0.0) & (t3 < 0.0))) ? uint64_t(0) : (t5 ? t6 + t6 : t6) + uint64_t(saturated<int64_t>(t3));
    return t4 ? uint64_t(18446744073709551615u) : t7;
}

STENCIL_FUNCTION dd dd_from_f32(float x) {
    return dd{double(x), 0.0};
}

STENCIL_FUNCTION float f32_from_dd(dd a) {
    return float(a.hi);
}

STENCIL_FUNCTION dd dd_from_f64(double x) {
    return dd{x, 0.0};
}

STENCIL_FUNCTION double f64_from_dd(dd a) {
    return a.hi;
}

// What reductions and boundary rules write, which are templates of the type.
STENCIL_FUNCTION dd operator+(dd a, dd b) { return dd_add(a, b); }
STENCIL_FUNCTION dd operator-(dd a, dd b) { return dd_subtract(a, b); }
STENCIL_FUNCTION dd operator*(dd a, dd b) { return dd_multiply(a, b); }
STENCIL_FUNCTION dd operator-(dd a) { return dd_negative(a); }
STENCIL_FUNCTION dd minimum(dd a, dd b) { return dd_minimum(a, b); }
STENCIL_FUNCTION dd maximum(dd a, dd b) { return dd_maximum(a, b); }

#ifdef STENCIL_CUDA_H
STENCIL_FUNCTION dd from_lane_above(dd value, int distance) {
    return dd{from_lane_above(value.hi, distance), from_lane_above(value.lo, distance)};
}
template <> STENCIL_FUNCTION dd read_global<dd>(array<const uint64_t> globals, int slot) {
    const double hi = read_global<double>(globals, slot), lo = read_global<double>(globals, slot + 1);
    return dd{hi, lo};
}
template <> STENCIL_FUNCTION void write_global<dd>(array<uint64_t> globals, int slot, dd value) {
    write_global(globals, slot, value.hi);
    write_global(globals, slot + 1, value.lo);
}
#endif

}  // namespace stencil
#endif
