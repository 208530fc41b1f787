// Sums over pairs and chains of double-double values as one writes them by hand for AVX-512: what bench_pairs compares
// with. Products and sums are contracted (fma), roots are the processor's estimate and Newton steps, arrays are padded
// to whole vectors, and what is infinite or not a number is not looked after: a program in the language promises more.
#include <immintrin.h>

namespace {

struct Single {
    typedef float number;
    typedef __m512 vector;
    static constexpr long width = 16;
    static constexpr int newton_steps = 1;
    static vector load(const float* p) { return _mm512_loadu_ps(p); }
    static void store(float* p, vector a) { _mm512_storeu_ps(p, a); }
    static vector all(float a) { return _mm512_set1_ps(a); }
    static vector fma(vector a, vector b, vector c) { return _mm512_fmadd_ps(a, b, c); }
    static vector estimate(vector a) { return _mm512_rsqrt14_ps(a); }
};
struct Double {
    typedef double number;
    typedef __m512d vector;
    static constexpr long width = 8;
    static constexpr int newton_steps = 2;
    static vector load(const double* p) { return _mm512_loadu_pd(p); }
    static void store(double* p, vector a) { _mm512_storeu_pd(p, a); }
    static vector all(double a) { return _mm512_set1_pd(a); }
    static vector fma(vector a, vector b, vector c) { return _mm512_fmadd_pd(a, b, c); }
    static vector estimate(vector a) { return _mm512_rsqrt14_pd(a); }
};

// Four vectors of targets in registers, one source at a time.
template <class T>
void gravity(long n, const typename T::number* x, const typename T::number* y, const typename T::number* z,
             const typename T::number* m, typename T::number* found, typename T::number e2) {
    typedef typename T::vector V;
    constexpr int together = 4;
    const V softening = T::all(e2), half = T::all(-0.5), more = T::all(1.5);
    for (long i = 0; i < n; i += together * T::width) {
        V xi[together], yi[together], zi[together], ax[together], ay[together], az[together];
        for (int k = 0; k < together; ++k) {
            const long at = i + k * T::width;
            xi[k] = T::load(x + at), yi[k] = T::load(y + at), zi[k] = T::load(z + at);
            ax[k] = ay[k] = az[k] = T::all(0);
        }
        for (long j = 0; j < n; ++j) {
            const V xj = T::all(x[j]), yj = T::all(y[j]), zj = T::all(z[j]), mj = T::all(m[j]);
#pragma GCC unroll 4
            for (int k = 0; k < together; ++k) {
                const V dx = xj - xi[k], dy = yj - yi[k], dz = zj - zi[k];
                const V r2 = T::fma(dx, dx, T::fma(dy, dy, T::fma(dz, dz, softening)));
                V r1i = T::estimate(r2);
#pragma GCC unroll 2
                for (int step = 0; step < T::newton_steps; ++step) r1i = r1i * T::fma(r2 * (r1i * r1i), half, more);
                const V af = (mj * r1i) * (r1i * r1i);
                ax[k] = T::fma(af, dx, ax[k]), ay[k] = T::fma(af, dy, ay[k]), az[k] = T::fma(af, dz, az[k]);
            }
        }
        for (int k = 0; k < together; ++k) {
            const long at = i + k * T::width;
            T::store(found + at, ax[k]), T::store(found + n + at, ay[k]), T::store(found + 2 * n + at, az[k]);
        }
    }
}

// One after the other in hi and lo: the sum of Knuth's and the quick one of Dekker, with 20 operations, the product
// with 7 (the product of the low parts is left out, nothing is done on overflow).
struct Pair {
    __m512d hi, lo;
};
inline Pair quick(__m512d a, __m512d b) {
    const __m512d s = a + b;
    return {s, b - (s - a)};
}
inline Pair two_sum(__m512d a, __m512d b) {
    const __m512d s = a + b, t = s - a;
    return {s, (a - (s - t)) + (b - t)};
}
inline Pair add(Pair a, Pair b) {
    const Pair s = two_sum(a.hi, b.hi), t = two_sum(a.lo, b.lo);
    const Pair u = quick(s.hi, s.lo + t.hi);
    return quick(u.hi, u.lo + t.lo);
}
inline Pair multiply(Pair a, Pair b) {
    const __m512d p = a.hi * b.hi;
    __m512d e = _mm512_fmsub_pd(a.hi, b.hi, p);
    e = _mm512_fmadd_pd(a.hi, b.lo, e);
    return quick(p, _mm512_fmadd_pd(a.lo, b.hi, e));
}

}  // namespace

extern "C" void gravity_f32(long n, const float* x, const float* y, const float* z, const float* m, float* found, double e2) {
    gravity<Single>(n, x, y, z, m, found, float(e2));
}
extern "C" void gravity_f64(long n, const double* x, const double* y, const double* z, const double* m, double* found, double e2) {
    gravity<Double>(n, x, y, z, m, found, e2);
}
// y <- y * a + x, `links` times, beginning with x. hi and lo of an element stand side by side, as a dd does.
extern "C" void chain(long n, long links, const double* x, const double* a, double* found) {
    const __m512i low = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0), high = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
    const __m512i first = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0), second = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
    const auto taken = [&](const double* p) {
        const __m512d u = _mm512_loadu_pd(p), v = _mm512_loadu_pd(p + 8);
        return Pair{_mm512_permutex2var_pd(u, low, v), _mm512_permutex2var_pd(u, high, v)};
    };
    constexpr int together = 4;  // chains side by side hide what each operation waits for
    for (long i = 0; i < n; i += 8 * together) {
        Pair y[together], b[together], f[together];
        for (int k = 0; k < together; ++k) b[k] = y[k] = taken(x + 2 * (i + 8 * k)), f[k] = taken(a + 2 * (i + 8 * k));
        for (long link = 0; link < links; ++link)
#pragma GCC unroll 4
            for (int k = 0; k < together; ++k) y[k] = add(multiply(y[k], f[k]), b[k]);
        for (int k = 0; k < together; ++k) {
            double* const p = found + 2 * (i + 8 * k);
            _mm512_storeu_pd(p, _mm512_permutex2var_pd(y[k].hi, first, y[k].lo));
            _mm512_storeu_pd(p + 8, _mm512_permutex2var_pd(y[k].hi, second, y[k].lo));
        }
    }
}
