// Panels: what rows of a fold read together of an array, a few cells of each of its rows, side by side in memory.
#ifndef STENCIL_PANELS_H
#define STENCIL_PANELS_H

#include "stencil_folds.h"

#include <stdlib.h>

namespace stencil {

constexpr int64_t MOST_PACKED = 16384;  // rows of a panel, which takes 1.5 MiB then, or 4 where vectors have 64 bytes
constexpr int64_t LEAST_READERS = 16;   // rows of kept cells for which it is worth a copy

// Where the rows of an array lie that a fold goes through.
template <class T> struct SharedRows {
    const T* first;
    int64_t step;

    STENCIL_FUNCTION const T* operator[](int64_t cell) const { return first + cell * step; }
};

// The cells [first, first + W) of `count` rows. In the array the next ones lie a whole row further, beyond a page, where no
// prefetcher follows; each is read again by all rows of kept cells that go through the same lanes.
template <class T, int W> class Panel {
    T* cells = nullptr;
    const int64_t count;

   public:
    Panel(int64_t rows, int64_t readers) : count(rows) {
        const size_t bytes = size_t(divide_up(rows * W * int64_t(sizeof(T)), 64)) * 64;
        if (rows <= MOST_PACKED && readers >= LEAST_READERS) cells = static_cast<T*>(aligned_alloc(64, bytes));
    }
    Panel(const Panel&) = delete;
    ~Panel() { free(cells); }

    // row, next: the first row of the array and the one after it; readers: as many as go through these lanes.
    template <class Width>
    STENCIL_FUNCTION SharedRows<T> packed(const T* row, const T* next, int64_t first, Width width, int64_t readers) const {
        const int64_t step = next - row;
        if (cells == nullptr || readers < LEAST_READERS) return {row, step};
        for (int64_t number = 0; number < count; ++number) {
#pragma omp simd
            for (int64_t lane = 0; lane < width; ++lane) cells[number * W + lane] = row[number * step + first + lane];
        }
        return {cells - first, W};
    }
};

}  // namespace stencil

#endif
