// Stencil prelude: the exact meaning of every operator, and reads of the Globals block.
// Shared by all targets; a target may define STENCIL_FUNCTION before it includes this file.
#ifndef STENCIL_PRELUDE_H
#define STENCIL_PRELUDE_H

#if !defined(__CUDACC_RTC__)
#include <stdint.h>
#include <string.h>
#endif

#ifndef STENCIL_FUNCTION
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define STENCIL_FUNCTION __device__ __forceinline__
#else
#define STENCIL_FUNCTION inline __attribute__((always_inline))
#endif
#endif

// For functions too large to be copied to every call, and for those that are called once a task or once a step: copies of
// them would take a third of the compiler's time, for which a user waits.
#ifndef STENCIL_PROCEDURE
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define STENCIL_PROCEDURE __device__
#else
#define STENCIL_PROCEDURE inline __attribute__((noinline))
#endif
#endif

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define STENCIL_MATH
#else
#define STENCIL_MATH math::
#include "stencil_mathematics.h"
#endif

#include "stencil_pairs.h"

namespace stencil {

template <class T> struct unsigned_of { typedef T type; };
template <> struct unsigned_of<int8_t> { typedef uint8_t type; };
template <> struct unsigned_of<int16_t> { typedef uint16_t type; };
template <> struct unsigned_of<int32_t> { typedef uint32_t type; };
template <> struct unsigned_of<int64_t> { typedef uint64_t type; };
template <class T> struct is_float { static constexpr bool value = false; };
template <> struct is_float<float> { static constexpr bool value = true; };
template <> struct is_float<double> { static constexpr bool value = true; };
template <class T> struct is_signed { static constexpr bool value = T(-1) < T(0); };

// ---- operators ------------------------------------------------------------------------------------------------------

// Integers wrap around; C++ leaves that undefined for signed ones, so these go through unsigned arithmetic.
template <class T> STENCIL_FUNCTION T wrapped_add(T a, T b) {
    typedef typename unsigned_of<T>::type U;
    return T(U(U(a) + U(b)));
}
template <class T> STENCIL_FUNCTION T wrapped_subtract(T a, T b) {
    typedef typename unsigned_of<T>::type U;
    return T(U(U(a) - U(b)));
}
template <class T> STENCIL_FUNCTION T wrapped_multiply(T a, T b) {
    typedef typename unsigned_of<T>::type U;
    return T(U(uint64_t(U(a)) * uint64_t(U(b))));
}
template <class T> STENCIL_FUNCTION T wrapped_negative(T a) { return wrapped_subtract(T(0), a); }

// Whether a value is a number known to the compiler, so that one comparison tells all.
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define STENCIL_IS_NUMBER(b) false
#else
#define STENCIL_IS_NUMBER(b) (__builtin_constant_p(b) && b == b)
#endif

// minimum(a, b), propagating NaN from either side: no comparison with NaN holds. The middle lines are one instruction
// each on x86, whose minimum is b unless a < b.
template <class T> STENCIL_FUNCTION T minimum(T a, T b) {
    if (STENCIL_IS_NUMBER(b)) return a >= b ? b : a;
    const T less = a < b ? a : b;
    return a != a ? a : less;
}
template <class T> STENCIL_FUNCTION T maximum(T a, T b) {
    if (STENCIL_IS_NUMBER(b)) return a <= b ? b : a;
    const T greater = a > b ? a : b;
    return a != a ? a : greater;
}

template <class T> STENCIL_FUNCTION T sign_of(T a) { return T(int(a > T(0)) - int(a < T(0))); }

// NaN counts as positive: the sign that an operation gives it differs between processors.
template <class T> STENCIL_FUNCTION T with_sign_of(T a, T b) { return STENCIL_MATH copysign(a, b != b ? T(1) : b); }

template <class T> STENCIL_FUNCTION T absolute(T a) {
    if constexpr (is_signed<T>::value) return a < T(0) ? wrapped_negative(a) : a;
    return a;
}

// The quotient up to which a // b of floats needs no exact remainder of C, and its rounding no second look.
template <class T> struct most_quotient {};
template <> struct most_quotient<float> { static constexpr float value = 1048576.0f; };
template <> struct most_quotient<double> { static constexpr double value = 562949953421312.0; };
template <class T> STENCIL_FUNCTION bool is_small_quotient(T quotient, T b) {
    return STENCIL_MATH fabs(quotient) <= most_quotient<T>::value && b - b == T(0);
}

// a // b and a % b of any floats, as NumPy has them.
template <class T> STENCIL_PROCEDURE T quotient_of_any(T a, T b) {
    if (b == T(0)) return a / b;
    const T rest = STENCIL_MATH fmod(a, b);
    T quotient = (a - rest) / b;
    if (rest != T(0) && (rest < T(0)) != (b < T(0))) quotient -= T(1);
    if (quotient == T(0)) return STENCIL_MATH copysign(T(0), a / b);
    const T below = STENCIL_MATH floor(quotient);
    return quotient - below > T(0.5) ? below + T(1) : below;
}
template <class T> STENCIL_PROCEDURE T remainder_of_any(T a, T b) {
    const T rest = STENCIL_MATH fmod(a, b);
    if (rest == T(0)) return STENCIL_MATH copysign(T(0), b);
    return (rest < T(0)) != (b < T(0)) ? rest + b : rest;
}

// By zero gives 0; the one overflow, min // -1, wraps to min. Of floats a / b may round to the whole number above; then
// what is left is too small by b, exactly, which its sign tells. fma rounds once, where C's remainder and b are added.
template <class T> STENCIL_FUNCTION T floor_divide(T a, T b) {
    if constexpr (is_float<T>::value) {
        const T quotient = STENCIL_MATH floor(a / b);
        if (!is_small_quotient(quotient, b)) return quotient_of_any(a, b);
        const T rest = STENCIL_MATH fma(-quotient, b, a);
        return rest != T(0) && (rest < T(0)) != (b < T(0)) ? quotient - T(1) : quotient;
    } else {
        if (b == T(0)) return T(0);
        if constexpr (is_signed<T>::value) {
            if (b == T(-1)) return wrapped_negative(a);
            const T quotient = T(a / b), rest = T(a % b);
            return (rest != T(0) && (rest < T(0)) != (b < T(0))) ? T(quotient - 1) : quotient;
        }
        return T(a / b);
    }
}

template <class T> STENCIL_FUNCTION T floored_remainder(T a, T b) {
    if constexpr (is_float<T>::value) {
        const T quotient = STENCIL_MATH floor(a / b);
        if (!is_small_quotient(quotient, b)) return remainder_of_any(a, b);
        const T rest = STENCIL_MATH fma(-quotient, b, a);
        const T found = (rest < T(0)) != (b < T(0)) ? rest + b : rest;
        return rest == T(0) ? STENCIL_MATH copysign(T(0), b) : found;
    } else {
        if (b == T(0)) return T(0);
        if constexpr (is_signed<T>::value) {
            if (b == T(-1)) return T(0);
            const T rest = T(a % b);
            return (rest != T(0) && (rest < T(0)) != (b < T(0))) ? T(rest + b) : rest;
        }
        return T(a % b);
    }
}

// A count below 0 or not below the width moves every bit out.
template <class T> STENCIL_FUNCTION T shifted_left(T a, T b) {
    typedef typename unsigned_of<T>::type U;
    const bool inside = b >= T(0) && b < T(8 * sizeof(T));
    return inside ? T(U(U(a) << int(inside ? b : T(0)))) : T(0);
}
template <class T> STENCIL_FUNCTION T shifted_right(T a, T b) {
    const bool inside = b >= T(0) && b < T(8 * sizeof(T));
    return inside ? T(a >> int(inside ? b : T(0))) : (a < T(0) ? T(-1) : T(0));
}

template <class To> struct integer_range {
    static constexpr bool has_sign = is_signed<To>::value;
    static constexpr To low = has_sign ? To(uint64_t(1) << (8 * sizeof(To) - 1)) : To(0);
    static constexpr To high = To(~low);
};

// Float to integer: truncated, saturated, NaN gives 0. The bounds are powers of two and so exact in either float type.
// Fractions get a branch of their own, because gcc with -fno-trapping-math turns double(int(a)) into trunc(a), which is
// -0.0 where a is in (-1, 0).
template <class To, class From> STENCIL_FUNCTION To saturated(From a) {
    constexpr int bits = 8 * int(sizeof(To)) - (integer_range<To>::has_sign ? 1 : 0);
    constexpr From above = From(uint64_t(1) << (bits - 1)) * From(2);
    constexpr From below = integer_range<To>::has_sign ? -above : From(0);
    const To inside = (a > From(-1)) & (a < From(1)) ? To(0) : To(a);
    return a != a ? To(0) : a <= below ? integer_range<To>::low : a >= above ? integer_range<To>::high : inside;
}

template <class T> STENCIL_FUNCTION bool is_finite(T a) { return a - a == T(0); }

template <class T, class Bits> STENCIL_FUNCTION T from_bits(Bits bits) {
    static_assert(sizeof(T) == sizeof(Bits), "a value and its bits have one size");
    T value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#if !(defined(__CUDACC__) || defined(__CUDACC_RTC__))
// A condition in memory: of bytes that are compared gcc makes vectors, of most that is done with bools it makes none.
STENCIL_FUNCTION bool is_true(const bool& cell) {
    uint8_t byte;
    memcpy(&byte, &cell, sizeof byte);
    return byte != 0;
}
#endif

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
// 1 / sqrt(a) as the device has it, within 1 unit for f64, 2 for f32; stencil_roots.h is the same for CPUs.
template <class T> STENCIL_FUNCTION T reciprocal_sqrt(T a) { return rsqrt(a); }
#endif

// ---- Globals block: 8-byte slots, each value in its own type at the low end -------------------------------------------

template <class T> STENCIL_FUNCTION T read_global(const unsigned char* globals, int slot) {
    T value;
    memcpy(&value, globals + 8 * slot, sizeof value);
    return value;
}
template <class T> STENCIL_FUNCTION void write_global(unsigned char* globals, int slot, T value) {
    memcpy(globals + 8 * slot, &value, sizeof value);
}

// ---- reductions: what combines two values -----------------------------------------------------------------------------

// The second is not deduced: in C++ the exclusive or of two bools is an int.
template <class T> struct plain {
    using type = T;
};

struct combine_add {
    template <class T> STENCIL_FUNCTION T operator()(T a, typename plain<T>::type b) const { return T(a + b); }
};
struct combine_multiply {
    template <class T> STENCIL_FUNCTION T operator()(T a, typename plain<T>::type b) const { return T(a * b); }
};
struct combine_minimum {
    template <class T> STENCIL_FUNCTION T operator()(T a, typename plain<T>::type b) const { return minimum(a, b); }
};
struct combine_maximum {
    template <class T> STENCIL_FUNCTION T operator()(T a, typename plain<T>::type b) const { return maximum(a, b); }
};
struct combine_logical_or {
    template <class T> STENCIL_FUNCTION T operator()(T a, typename plain<T>::type b) const { return T(a | b); }
};
struct combine_logical_and {
    template <class T> STENCIL_FUNCTION T operator()(T a, typename plain<T>::type b) const { return T(a & b); }
};

}  // namespace stencil
#endif
