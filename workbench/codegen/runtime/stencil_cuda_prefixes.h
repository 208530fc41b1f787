// Prefixes on a CUDA device: the tree over the first values of a line, of any number, from complete subtrees.
#ifndef STENCIL_CUDA_PREFIXES_H
#define STENCIL_CUDA_PREFIXES_H

#include "stencil_cuda.h"

namespace stencil {

constexpr int PART_BLOCK = 256;  // threads that a block has at most which scans or ranks
constexpr int AHEAD = 4;         // cells that a thread reads before it needs the first

// The tree over the first `count` values, at least one, of those that lie `distance` apart from `first` on. Value number
// n - 1 must be the tree over the last values up to it, as many as the lowest bit of n says. What is carried up joins its
// left neighbour, the last first.
template <class T, class Cells, class Combine>
STENCIL_FUNCTION T prefix(const Cells& cells, int64_t first, int distance, int64_t count, const Combine& combine) {
    T tree = cells[first + (count - 1) * distance];
    for (count &= count - 1; count > 0; count &= count - 1) {
        const T left = cells[first + (count - 1) * distance];
        tree = combine(left, tree);
    }
    return tree;
}

// Lines of `each` values get such trees over up to `width` of every `step` of them, a power of two; those over `step`
// values are there already. threadIdx.y: groups of width * step values side by side.
template <class T, class Combine>
STENCIL_FUNCTION void join_subtrees(
    array<T> values, int64_t lines, int64_t each, int64_t step, int64_t width, const Combine& combine) {
    const int64_t leaves = each / step, groups = (leaves - 1) / width + 1, count = lines * groups;
    for (int64_t first = int64_t(blockIdx.x) * blockDim.y; first < count; first += int64_t(gridDim.x) * blockDim.y) {
        const int64_t number = first + threadIdx.y, line = number / groups, before = (number - line * groups) * width;
        const int64_t inside = number >= count ? 0 : leaves - before < width ? leaves - before : width;
        for (int64_t reach = 1; reach < width; reach *= 2) {
            for (int64_t j = 2 * reach * (threadIdx.x + 1); j <= inside; j += 2 * reach * blockDim.x) {
                const int64_t last = line * each + (before + j) * step - 1;
                const T left = values[last - reach * step], right = values[last];
                values[last] = combine(left, right);
            }
            stencil::barrier();
        }
    }
}

}  // namespace stencil

#endif
