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

// The lanes of a whole chunk, which takes its cells 16 at a time.
template <class T> struct ChunkLanes {
    T lanes[LANES];

    explicit ChunkLanes(T identity) {
        for (int l = 0; l < LANES; ++l) lanes[l] = identity;
    }
    template <class Combine> void take(const T (&cells)[LANES], const Combine& combine) {
#pragma omp simd
        for (int l = 0; l < LANES; ++l) lanes[l] = combine(lanes[l], cells[l]);
    }
    template <class Combine> T root(const Combine& combine) {
        tree(lanes, LANES, combine);
        return lanes[0];
    }
};

// The cells of one chunk; the first lies in lane `lane`.
template <class T, class Combine>
inline T reduce_chunk(const T* cells, int64_t count, int64_t lane, T identity, const Combine& combine) {
    T lanes[LANES];
    for (int l = 0; l < LANES; ++l) lanes[l] = identity;
    int64_t c = 0;
    for (; lane % LANES != 0 && c < count; ++c, ++lane) lanes[lane % LANES] = combine(lanes[lane % LANES], cells[c]);
    for (; c + LANES <= count; c += LANES) {
#pragma omp simd
        for (int l = 0; l < LANES; ++l) lanes[l] = combine(lanes[l], cells[c + l]);
    }
    for (int l = 0; c < count; ++c, ++l) lanes[l] = combine(lanes[l], cells[c]);
    tree(lanes, LANES, combine);
    return lanes[0];
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
