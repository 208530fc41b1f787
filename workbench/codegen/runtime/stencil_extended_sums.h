// Reductions of double-double numbers in the canonical order: chunks. What follows, trees over lanes, chunks and rows,
// works on structs as on numbers (stencil_sums.h).
#ifndef STENCIL_EXTENDED_SUMS_H
#define STENCIL_EXTENDED_SUMS_H

#include "stencil_extended.h"
#include "stencil_sums.h"

namespace stencil {

// The cells of one chunk; the first lies in lane `lane`. Lanes in two arrays and a function that is made before the loop:
// what is a struct in a loop of OpenMP is kept for each of its lanes in memory.
template <class Combine>
inline dd reduce_chunk(const dd* cells, int64_t count, int64_t lane, dd identity, const Combine& combine) {
    double highs[LANES], lows[LANES];
    for (int l = 0; l < LANES; ++l) {
        highs[l] = identity.hi;
        lows[l] = identity.lo;
    }
    const auto take = [&](int64_t l, int64_t c) __attribute__((always_inline)) {
        const dd sum = combine(dd{highs[l], lows[l]}, cells[c]);
        highs[l] = sum.hi;
        lows[l] = sum.lo;
    };
    int64_t c = 0;
    for (; lane % LANES != 0 && c < count; ++c, ++lane) take(lane % LANES, c);
    for (; c + LANES <= count; c += LANES) {
#pragma omp simd
        for (int l = 0; l < LANES; ++l) take(l, c + l);
    }
    for (int64_t l = 0; c < count; ++c, ++l) take(l, c);
    dd lanes[LANES];
    for (int l = 0; l < LANES; ++l) lanes[l] = dd{highs[l], lows[l]};
    tree(lanes, LANES, combine);
    return lanes[0];
}

}  // namespace stencil

#endif
