// Reductions that have the same bits in any order: whole numbers, whose sums and products wrap, and conditions.
#ifndef STENCIL_FREE_ORDER_H
#define STENCIL_FREE_ORDER_H

#include "stencil_folds.h"

namespace stencil {

constexpr int64_t AT_A_TIME = 8 * CHUNK;  // cells of a row that are reduced to one value
constexpr int64_t FREE_LANES = 64;              // lanes, each of which takes 128 of them at most

// A lane's type: one that holds the sum of 128 narrow numbers, of conditions one whose vectors need no masks.
template <class T> struct sum_of { using type = int64_t; };
template <> struct sum_of<bool> { using type = uint8_t; };
template <> struct sum_of<uint8_t> { using type = uint16_t; };
template <> struct sum_of<int8_t> { using type = int16_t; };
template <> struct sum_of<uint16_t> { using type = uint32_t; };
template <> struct sum_of<int16_t> { using type = int32_t; };
template <class Taken, class Combine> struct lane_of { using type = Taken; };
template <class Combine> struct lane_of<bool, Combine> { using type = uint8_t; };
template <class Taken> struct lane_of<Taken, combine_add> : sum_of<Taken> {};
template <> struct lane_of<bool, combine_add> : sum_of<bool> {};

template <class T, class Taken, class Combine> class FreeLanes {
    using Lane = typename lane_of<Taken, Combine>::type;
    alignas(64) Lane lanes[FREE_LANES];

   public:
    FreeLanes(T identity) {
        for (int l = 0; l < FREE_LANES; ++l) lanes[l] = Lane(identity);
    }
    template <class Count> STENCIL_FUNCTION void take(const Taken* cells, Count count) {
#pragma omp simd
        for (int64_t l = 0; l < count; ++l) lanes[l] = Combine()(lanes[l], Lane(cells[l]));
    }
    STENCIL_FUNCTION T result() const {
        T made = T(lanes[0]);
        for (int l = 1; l < FREE_LANES; ++l) made = Combine()(made, T(lanes[l]));
        return made;
    }
};

// As many cells as a chunk has, at most.
template <class T, class Combine, class Taken> STENCIL_FUNCTION T reduce_freely(const Taken* cells, int64_t count, T identity) {
    FreeLanes<T, Taken, Combine> lanes(identity);
    for_lanes<FREE_LANES>(0, count, [&](int64_t first, auto wide) { lanes.take(cells + first, wide); });
    return lanes.result();
}

}  // namespace stencil

#endif
