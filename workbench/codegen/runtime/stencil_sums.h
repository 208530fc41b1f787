// Reductions in the canonical order: lanes, chunks, rows, planes.
#ifndef STENCIL_SUMS_H
#define STENCIL_SUMS_H

#include "stencil_rows.h"

namespace stencil {

template <int D> inline int64_t chunk_end(const Shape<D>& shape, int64_t first, int64_t last) {
    const int64_t origin = shape.origin[D - 1], end = ((origin + first) / CHUNK + 1) * CHUNK - origin;
    return end < last ? end : last;
}

template <int D> inline int64_t partial_index(const Shape<D>& shape, int64_t row, int64_t first) {
    const int64_t origin = shape.origin[D - 1];
    return row * chunk_count(shape) + (origin + first) / CHUNK - origin / CHUNK;
}

// Neighbours (0, 1), (2, 3), ...; an odd last one is carried up; until one is left, in values[0].
template <class T, class Combine> inline void tree(T* values, int64_t count, const Combine& combine) {
    while (count > 1) {
        const int64_t pairs = count / 2;
        for (int64_t k = 0; k < pairs; ++k) values[k] = combine(values[2 * k], values[2 * k + 1]);
        if (count % 2) values[pairs] = values[count - 1];
        count = pairs + count % 2;
    }
}

// The same of as many as the compiler knows, a power of two: each level is one loop of vectors.
template <int N, class T, class Combine> STENCIL_FUNCTION T tree_of(const T (&values)[N], const Combine& combine) {
    if constexpr (N == 1) {
        return values[0];
    } else {
        T pairs[N / 2];
#pragma omp simd
        for (int k = 0; k < N / 2; ++k) pairs[k] = combine(values[2 * k], values[2 * k + 1]);
        return tree_of<N / 2>(pairs, combine);
    }
}

// The lanes of a whole chunk, which takes its cells 16 at a time.
template <class T> struct ChunkLanes : LaneValues<T> {
    using LaneValues<T>::LaneValues;

    template <class Combine> T root(const Combine& combine) {
        this->close(combine);
        return tree_of<LANES>(this->lanes, combine);
    }
};

// The cells of one chunk; the first lies in lane `lane`.
template <class T, class Combine>
inline T reduce_chunk(const T* cells, int64_t count, int64_t lane, T identity, const Combine& combine) {
    LaneValues<T> all(identity);
    T(&lanes)[LANES] = all.lanes;
    int64_t c = 0;
    for (; lane % LANES != 0 && c < count; ++c, ++lane) lanes[lane % LANES] = combine(lanes[lane % LANES], cells[c]);
    if constexpr (of_numbers<T, Combine>::known) all.note(lanes);
    for (; c + LANES <= count; c += LANES) all.take(cells + c, combine);
    all.close(combine);
    for (int l = 0; c < count; ++c, ++l) lanes[l] = combine(lanes[l], cells[c]);
    return tree_of<LANES>(lanes, combine);
}

// Chunks to rows, rows to planes, and so on; `partials` has one value for each chunk of each row and is used up.
template <class T, int D, class Combine>
STENCIL_PROCEDURE T reduce_partials(const Shape<D>& shape, T* partials, const Combine& combine) {
    int64_t groups = 1;
    for (int k = 0; k + 1 < D; ++k) groups *= shape.extents[k];
    int64_t each = chunk_count(shape);
    for (int k = D - 2;; --k) {
        for (int64_t g = 0; g < groups; ++g) {
            tree(partials + g * each, each, combine);
            partials[g] = partials[g * each];
        }
        if (k < 0) return partials[0];
        each = shape.extents[k];
        groups /= each;
    }
}

}  // namespace stencil

#endif
