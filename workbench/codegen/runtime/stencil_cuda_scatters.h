// Scatters on a CUDA device: numbers of cells, and lists of the senders of each destination, which are sorted before they
// are gone through.
#ifndef STENCIL_CUDA_SCATTERS_H
#define STENCIL_CUDA_SCATTERS_H

#include "stencil_cuda_atomics.h"

namespace stencil {

constexpr int MOST_LISTS = 48;  // sorted lists on the way, of 1, 2, 4, ... senders

// Replaces an element and returns what it was, in one step.
STENCIL_FUNCTION int64_t exchange(array<int64_t> elements, int64_t index, int64_t value) {
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)  // which knows 64 bits by one name only
    return int64_t(atomicExch(
        reinterpret_cast<unsigned long long*>(&elements[index]), static_cast<unsigned long long>(value)));
#else
    return atomicExch(&elements[index], value);
#endif
}

// Two lists in ascending order as one.
STENCIL_FUNCTION int64_t merge_lists(array<int64_t> links, int64_t a, int64_t b) {
    int64_t first = -1, last = -1;
    while (a >= 0 && b >= 0) {
        const bool takes_a = a < b;
        const int64_t taken = takes_a ? a : b, after = links[taken];
        if (takes_a) {
            a = after;
        } else {
            b = after;
        }
        if (last < 0) {
            first = taken;
        } else {
            links[last] = taken;
        }
        last = taken;
    }
    const int64_t rest = a >= 0 ? a : b;
    if (last < 0) return rest;
    links[last] = rest;
    return first;
}

// A list in ascending order: merge sort, which keeps sorted lists of 1, 2, 4, ... as a binary counter its digits.
STENCIL_FUNCTION int64_t sort_list(array<int64_t> links, int64_t first) {
    int64_t lists[MOST_LISTS];
    int used = 0;
    while (first >= 0) {
        int64_t list = first;
        first = links[list];
        links[list] = -1;
        int k = 0;
        for (; k < used && lists[k] >= 0; ++k) {
            list = merge_lists(links, lists[k], list);
            lists[k] = -1;
        }
        if (k == used) ++used;
        lists[k] = list;
    }
    int64_t whole = -1;
    for (int k = 0; k < used; ++k) {
        if (lists[k] >= 0) whole = whole < 0 ? lists[k] : merge_lists(links, lists[k], whole);
    }
    return whole;
}

// The number in C order of cell i of a row, whose index along the last axis is 0.
template <int D> STENCIL_FUNCTION int64_t number_of_cell(const Shape<D>& shape, const Index (&at)[D], Index i) {
    int64_t number = 0;
    for (int k = 0; k + 1 < D; ++k) number = (number + at[k]) * shape.extents[k + 1];
    return number + i;
}

// The cell of this number in C order, and its element.
template <int D> STENCIL_FUNCTION void cell_of_number(const Shape<D>& shape, int64_t number, Index (&at)[D]) {
    for (int k = D - 1; k >= 0; --k) {
        at[k] = Index(number % shape.extents[k]);
        number /= shape.extents[k];
    }
}

}  // namespace stencil

#endif
