// Folds of segments on a CUDA device: a thread does a segment, in the canonical order.
#ifndef STENCIL_CUDA_SEGMENTS_H
#define STENCIL_CUDA_SEGMENTS_H

#include "stencil_cuda_folds.h"

namespace stencil {

// The tree over the leaves so far: complete subtrees, the larger ones of earlier leaves first.
template <class T> class Prefix {
    T kept[DEEPEST];
    int64_t leaves = 0;
    int depth = 0;

   public:
    STENCIL_FUNCTION bool empty() const { return depth == 0; }

    template <class Combine> STENCIL_FUNCTION void add(T leaf, const Combine& combine) {
        for (int64_t n = ++leaves; n % 2 == 0; n /= 2) {
            const T left = kept[--depth];
            leaf = combine(left, leaf);
        }
        kept[depth++] = leaf;
    }

    // What is carried up joins its left neighbour, the last first.
    template <class Combine> STENCIL_FUNCTION T root(const Combine& combine) const {
        T result = kept[depth - 1];
        for (int k = depth - 2; k >= 0; --k) {
            const T left = kept[k];
            result = combine(left, result);
        }
        return result;
    }
};

}  // namespace stencil

#endif
