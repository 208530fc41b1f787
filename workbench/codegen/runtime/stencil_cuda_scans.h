// Scans and folds of segments on a CUDA device: a thread does a line or a segment, in the canonical order.
#ifndef STENCIL_CUDA_SCANS_H
#define STENCIL_CUDA_SCANS_H

#include "stencil_cuda_folds.h"

namespace stencil {

constexpr int RUN = 32;  // cells of a chunk that are combined one after the other, counted by global index

// The tree over the leaves so far: complete subtrees, the larger ones of earlier leaves first.
template <class T> class Prefix {
    T kept[DEEPEST];
    int64_t leaves = 0;
    int depth = 0;

   public:
    STENCIL_FUNCTION bool empty() const { return depth == 0; }
    STENCIL_FUNCTION void clear() { leaves = depth = 0; }

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

// A line on the way: what is combined of the run so far, and the trees over runs and chunks before it.
template <class T> class Line {
    Prefix<T> chunks, runs;
    T so_far, before;
    bool begun = false, follows = false;

   public:
    // The result at the next cell, which has this global index.
    template <class Combine> STENCIL_FUNCTION T next(int64_t index, bool reverse, T value, const Combine& combine) {
        const int64_t border = reverse ? index + 1 : index;
        if (begun && border % RUN == 0) {
            runs.add(so_far, combine);
            if (border % CHUNK == 0) {
                chunks.add(runs.root(combine), combine);
                runs.clear();
            }
            follows = true;
            before = runs.empty() ? chunks.root(combine) : runs.root(combine);
            if (!runs.empty() && !chunks.empty()) {
                const T left = chunks.root(combine);
                before = combine(left, before);
            }
            begun = false;
        }
        so_far = begun ? combine(so_far, value) : value;
        begun = true;
        return follows ? combine(before, so_far) : so_far;
    }
};

STENCIL_FUNCTION int64_t thread_number() {
    const int64_t across = int64_t(gridDim.x) * blockDim.x;
    return (int64_t(blockIdx.y) * blockDim.y + threadIdx.y) * across + int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
}
STENCIL_FUNCTION int64_t thread_count() {
    return int64_t(gridDim.x) * blockDim.x * (int64_t(gridDim.y) * blockDim.y);
}

// Lines along an axis, and the first cell of one.
template <int D> STENCIL_FUNCTION int64_t line_count(const Shape<D>& shape, int axis) {
    int64_t count = 1;
    for (int k = 0; k < D; ++k) count *= k == axis ? 1 : shape.extents[k];
    return count;
}
template <int D>
STENCIL_FUNCTION void line_at(const Shape<D>& shape, int axis, int64_t number, Index (&at)[D]) {
    for (int k = D - 1; k >= 0; --k) {
        const int64_t n = k == axis ? 1 : shape.extents[k];
        at[k] = Index(number % n);
        number /= n;
    }
}

}  // namespace stencil

#endif
