// Places: the first place of the smallest or largest of a run of cells, whose values a function gives.
#ifndef STENCIL_PLACES_H
#define STENCIL_PLACES_H

#include "stencil_sums.h"

namespace stencil {

constexpr int64_t LOOKED_AT = 64;      // cells that are compared before one looks whether it was one of them
constexpr int64_t SOUGHT = 8 * CHUNK;  // cells of a row that are gone through before one looks for the place
constexpr int64_t NO_PLACE = INT64_MAX;

// The first cell of [first, last) that equals the value or is NaN. There must be one.
template <class T, class Cell> STENCIL_FUNCTION int64_t first_equal(const Cell& cell, int64_t first, int64_t last, T value) {
    for (; first + LOOKED_AT <= last; first += LOOKED_AT) {
        T found = T(0);
#pragma omp simd reduction(+ : found)
        for (int64_t k = 0; k < LOOKED_AT; ++k) {
            const T here = cell(first + k);
            found += here == value || here != here ? T(1) : T(0);
        }
        if (found != T(0)) break;
    }
    while (first < last - 1) {
        const T here = cell(first);
        if (here == value || here != here) break;
        ++first;
    }
    return first;
}

// The extreme of the cells [first, last) and of what is given; NaN if one is NaN. Any order has this value, but for the
// sign of 0, so that there are as many lanes as four vectors of 512 bits have.
template <class Combine, class T, class Cell>
STENCIL_FUNCTION T extreme_value(T given, const Cell& cell, int64_t first, int64_t last) {
    constexpr int W = 256 / int(sizeof(T)), HALF = W / 2;
    alignas(64) T lanes[HALF], others[HALF], nan[HALF];
    for (int l = 0; l < HALF; ++l) lanes[l] = others[l] = nan[l] = given;
    for (; first + W <= last; first += W) {
#pragma omp simd
        for (int64_t l = 0; l < HALF; ++l) {
            const T one = cell(first + l), other = cell(first + HALF + l);
            if constexpr (of_numbers<T, Combine>::known) {
                lanes[l] = of_numbers<T, Combine>::of(lanes[l], one);
                others[l] = of_numbers<T, Combine>::of(others[l], other);
                nan[l] = __builtin_isunordered(one, other) ? T(__builtin_nan("")) : nan[l];
            } else {
                lanes[l] = Combine()(lanes[l], one);
                others[l] = Combine()(others[l], other);
            }
        }
    }
    for (int l = 0; l < HALF; ++l) lanes[l] = Combine()(Combine()(lanes[l], others[l]), nan[l]);
    T found = tree_of<HALF>(lanes, Combine());
    for (; first < last; ++first) found = Combine()(found, cell(first));
    return found;
}

// What is best so far, an element and its place, or one of the cells [first, last), which come later. The place of cell i
// is origin + i. Where one is better, cells are gone through twice: what they read is in a near cache then.
template <class Combine, class T, class Cell>
STENCIL_FUNCTION pair_of<T, int64_t> first_extreme(
    const pair_of<T, int64_t>& best, const Cell& cell, int64_t first, int64_t last, int64_t origin) {
    if (best.first != best.first) return best;
    const T found = extreme_value<Combine>(best.first, cell, first, last);
    if (found == best.first && best.second != NO_PLACE) return best;
    const int64_t place = first_equal(cell, first, last, found);
    return {cell(place), origin + place};
}

// A whole number as wide as an element, so that vectors hold as many of both; rows of fewer than LONG_ROW cells have such
// places.
template <int Bytes> struct place_of_bytes { using type = int64_t; };
template <> struct place_of_bytes<1> { using type = int8_t; };
template <> struct place_of_bytes<2> { using type = int16_t; };
template <> struct place_of_bytes<4> { using type = int32_t; };

// The first extremes of short rows [first, first + width), W of them at most; cell(row, i) is an element.
template <class Combine, int W, class T, class Cell, class Width>
STENCIL_FUNCTION void first_extremes(
    pair_of<T, int64_t>* results, const Cell& cell, int64_t first, Width width, int64_t count, int64_t origin) {
    using Place = typename place_of_bytes<sizeof(T)>::type;
    T best[W];
    Place places[W];
    for (int64_t l = 0; l < width; ++l) {
        best[l] = cell(first + l, 0);
        places[l] = 0;
    }
    for (int64_t i = 1; i < count; ++i) {
#pragma omp simd
        for (int64_t l = 0; l < width; ++l) {
            const T here = cell(first + l, i);
            const bool is_better = !(Combine()(best[l], here) == best[l]) & (best[l] == best[l]);
            best[l] = is_better ? here : best[l];
            places[l] = is_better ? Place(i) : places[l];
        }
    }
    for (int64_t l = 0; l < width; ++l) results[first + l] = {best[l], origin + places[l]};
}

}  // namespace stencil

#endif
