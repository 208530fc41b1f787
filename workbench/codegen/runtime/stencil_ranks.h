// Ranks: the places of whole numbers in the stable order of their low bits, by counting (Knuth, vol. 3, §5.2).
#ifndef STENCIL_RANKS_H
#define STENCIL_RANKS_H

#include "stencil_rows.h"

namespace stencil {

// What a part of the cells counts in a first pass: how many of its cells have each digit, after those of parts before.
struct Digits {
    int64_t* counts;
    int64_t parts, part;
    bool first_pass;
};

// Parts of a line, one a thread where there is enough to do.
struct RankParts {
    int64_t cells, parts;

    int64_t count() const { return parts; }
    Box<1> operator[](int64_t task) const {
        Box<1> box;
        box.low[0] = cells * task / parts;
        box.high[0] = cells * (task + 1) / parts;
        return box;
    }
};

inline RankParts cut_ranks(const Shape<1>& shape, int64_t digits, int threads) {
    const int64_t cells = shape.extents[0];
    return {cells, at_least(at_most(threads, cells / (4 * CHUNK + 4 * digits)), 1)};
}

// load(cell) is the digit of a cell, store(cell, place) takes its place.
template <int64_t digits, class Load, class Store>
inline void rank_cells(int64_t low, int64_t high, const Digits& all, const Load& load, const Store& store) {
    int64_t counts[digits];
    if (all.first_pass || all.parts == 1) {
        for (int64_t d = 0; d < digits; ++d) counts[d] = 0;
        for (int64_t i = low; i < high; ++i) ++counts[load(i)];
        if (all.first_pass) {
            for (int64_t d = 0; d < digits; ++d) all.counts[all.part * digits + d] = counts[d];
            return;
        }
    }
    int64_t before = 0;
    for (int64_t d = 0; d < digits; ++d) {
        int64_t own = all.parts == 1 ? counts[d] : 0, earlier = 0;
        for (int64_t p = 0; all.parts > 1 && p < all.parts; ++p) {
            own += all.counts[p * digits + d];
            if (p < all.part) earlier += all.counts[p * digits + d];
        }
        counts[d] = before + earlier;
        before += own;
    }
    for (int64_t i = low; i < high; ++i) store(i, counts[load(i)]++);
}

}  // namespace stencil

#endif
