// Folds over some axes on a CUDA device: a thread does all cells of one kept cell, in the canonical order.
#ifndef STENCIL_CUDA_FOLDS_H
#define STENCIL_CUDA_FOLDS_H

#include "stencil_cuda.h"

// In front of a loop: make n turns of it one, in their order.
#define STENCIL_PRAGMA(text) _Pragma(#text)
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && !defined(__CUDACC_RTC__)
#define STENCIL_UNROLL(n) STENCIL_PRAGMA(GCC unroll n)
#else
#define STENCIL_UNROLL(n) STENCIL_PRAGMA(unroll n)
#endif

namespace stencil {

constexpr int DEEPEST = 48;  // complete subtrees of a tree at a time: one more than it takes for 2^47 leaves

// The trees of one kept cell, one for each of Q folded axes. Of the leaves so far a tree keeps the complete subtrees, as
// a binary counter keeps its digits: the larger ones of earlier leaves come first.
template <class T, int Q> class Trees {
    T kept[Q][DEEPEST];
    int64_t leaves[Q];
    int depth[Q];

   public:
    STENCIL_FUNCTION Trees() {
        for (int q = 0; q < Q; ++q) leaves[q] = depth[q] = 0;
    }

    // The next leaf of axis q.
    template <class Combine> STENCIL_FUNCTION void add(int q, T leaf, const Combine& combine) {
        int top = depth[q];
        for (int64_t n = ++leaves[q]; n % 2 == 0; n /= 2) {
            const T left = kept[q][--top];
            leaf = combine(left, leaf);
        }
        kept[q][top] = leaf;
        depth[q] = top + 1;
    }

    // All leaves of axis q are there: what is carried up joins its left neighbour, the last first. The root is a leaf of
    // the tree of the axis before.
    template <class Combine> STENCIL_FUNCTION void close(int q, const Combine& combine) {
        int top = depth[q] - 1;
        T root = kept[q][top];
        while (top > 0) {
            const T left = kept[q][--top];
            root = combine(left, root);
        }
        leaves[q] = depth[q] = 0;
        if (q == 0) {
            kept[0][0] = root;
        } else {
            add(q - 1, root, combine);
        }
    }

    STENCIL_FUNCTION T result() const { return kept[0][0]; }
};

// The folded cells of one kept cell in order: chunk(low, high) for each chunk of the last folded axis, with the indices
// along the others set in `at`, and close(q) after the last cell of folded axis q.
template <int Q, int D, class Chunk, class Close>
STENCIL_FUNCTION void for_folded(
    const Shape<D>& shape, const int (&folded)[Q], Index (&at)[D], const Chunk& chunk, const Close& close) {
    for (int q = 0; q + 1 < Q; ++q) at[folded[q]] = 0;
    const int64_t n = shape.extents[folded[Q - 1]], origin = shape.origin[folded[Q - 1]];
    for (;;) {
        for (int64_t low = 0; low < n;) {
            const int64_t end = ((origin + low) / CHUNK + 1) * CHUNK - origin, high = end < n ? end : n;
            chunk(Index(low), Index(high));
            low = high;
        }
        int q = Q - 1;
        close(q);
        while (q > 0 && ++at[folded[q - 1]] == Index(shape.extents[folded[q - 1]])) {
            at[folded[--q]] = 0;
            close(q);
        }
        if (q == 0) return;
    }
}

}  // namespace stencil

#endif
