// Rows and blocks: how the cells of a grown domain are cut into tasks.
#ifndef STENCIL_ROWS_H
#define STENCIL_ROWS_H

#include "stencil_ahead.h"

namespace stencil {

constexpr int64_t CHUNK = 1024;  // cells whose sum is formed in one go, counted by global index
constexpr int LANES = 16;

// minimum and maximum of floats that are numbers: one instruction of x86.
template <class T, class Combine> struct of_numbers {
    static constexpr bool known = false;
};
template <class T> struct of_numbers<T, combine_minimum> {
    static constexpr bool known = is_float<T>::value;
    static T of(T a, T b) { return a < b ? a : b; }
};
template <class T> struct of_numbers<T, combine_maximum> {
    static constexpr bool known = is_float<T>::value;
    static T of(T a, T b) { return a > b ? a : b; }
};

// What lanes have so far. The lesser or greater of floats is taken as if all were numbers, so that no cell waits for a look
// at the one before; `nan` has NaN where one of two lanes had it, whose combination it is then.
template <class T> struct LaneValues {
    T lanes[LANES], nan[LANES / 2];

    explicit LaneValues(T identity) {
        for (int l = 0; l < LANES; ++l) lanes[l] = identity;
        for (int l = 0; l < LANES / 2; ++l) nan[l] = identity;
    }
    // Each lane takes a cell.
    template <class Combine> void take(const T* cells, const Combine& combine) {
        if constexpr (of_numbers<T, Combine>::known) {
#pragma omp simd
            for (int l = 0; l < LANES; ++l) lanes[l] = of_numbers<T, Combine>::of(lanes[l], cells[l]);
            note(cells);
        } else {
#pragma omp simd
            for (int l = 0; l < LANES; ++l) lanes[l] = combine(lanes[l], cells[l]);
        }
    }
    // After that: NaN to the lanes.
    template <class Combine> void close(const Combine&) {
        if constexpr (of_numbers<T, Combine>::known) {
#pragma omp simd
            for (int l = 0; l < LANES / 2; ++l) lanes[l] = nan[l] == nan[l] ? lanes[l] : nan[l];
        }
    }
    void note(const T* cells) {
#pragma omp simd
        for (int l = 0; l < LANES / 2; ++l) {
            nan[l] = __builtin_isunordered(cells[l], cells[l + LANES / 2]) ? T(__builtin_nan("")) : nan[l];
        }
    }
};

// A row goes in stretches: its cells from `low` to before `high` are one, each of the others is one. Where that of `first`
// ends.
inline int64_t end_of_stretch(int64_t first, int64_t last, int64_t low, int64_t high) {
    return first >= low && first < high ? minimum(last, high) : first + 1;
}

template <int D> struct Margins {
    int64_t sides[D][2];
};

// Cells [low, high) of each axis. ahead: what is fetched while they are computed, null for nothing.
template <int D> struct Box {
    int64_t low[D], high[D];
    Ahead* ahead = nullptr;
};

// Rows [first_row, last_row) of the grown domain, cells [first, last) of each.
struct Block {
    int64_t first_row, last_row, first, last;
};

template <int D> struct Blocks {
    int64_t rows, tall, row_blocks, chunks, wide, x_blocks, low, high, origin;
    int64_t plane = 0, planes = 0;  // rows of a plane, and planes, where blocks are strips; else 0

    int64_t count() const { return row_blocks * x_blocks; }
    int64_t border(int64_t x_block) const {
        if (x_block == 0) return low;
        if (x_block == x_blocks) return high;
        return (origin / CHUNK + x_block * wide) * CHUNK - origin;
    }
    Block operator[](int64_t task) const {
        const int64_t r = task / x_blocks, x = task % x_blocks;
        if (planes > 0) {
            const int64_t above = r % planes * plane, first = above + r / planes * tall, last = first + tall;
            return {first, last < above + plane ? last : above + plane, border(x), border(x + 1)};
        }
        const int64_t first = r * tall, last = first + tall;
        return {first, last < rows ? last : rows, border(x), border(x + 1)};
    }
};

// Adds bits to the word of the Globals block that notes indices outside; threads may do so at the same time.
inline void note_outside(const unsigned char* globals, int slot, uint64_t bits) {
    uint64_t* const word = reinterpret_cast<uint64_t*>(const_cast<unsigned char*>(globals) + 8 * slot);
#pragma omp atomic
    *word |= bits;
}

// Of loops over cells whose values are long chains of operations, as those of dd are: they also make a number of 16 bits,
// so compilers take as many cells at once as a vector has of these. That is four vectors of f64, which work while others
// wait.
constexpr int64_t AT_ONCE = 32;  // such cells whose results one look is for: numbers of 16 bits in a vector
inline void keep(int16_t made) { asm volatile("" : : "r"(made)); }

// 0 of a finite number, else bits that are not all 0: to join them takes one operation a vector, a comparison four.
STENCIL_FUNCTION uint64_t not_finite(double a) {
    const double none = a - a;
    uint64_t bits;
    memcpy(&bits, &none, sizeof bits);
    return bits;
}

inline int64_t at_least(int64_t a, int64_t b) { return a > b ? a : b; }
inline int64_t at_most(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

template <int D> inline int64_t chunk_count(const Shape<D>& shape) {
    return (shape.origin[D - 1] + shape.extents[D - 1] - 1) / CHUNK - shape.origin[D - 1] / CHUNK + 1;
}

constexpr int64_t MOST_CELLS = 1 << 20;  // of a block: threads look between blocks whether a march is to stop

// About 16384 cells a block, at least four blocks a thread; rows are cut only where there are too few of them. One thread
// has none to share with.
template <int D> STENCIL_PROCEDURE Blocks<D> cut(const Shape<D>& shape, const Margins<D>& grown, int threads, int64_t tile) {
    Blocks<D> blocks;
    blocks.rows = 1;
    for (int k = 0; k + 1 < D; ++k) blocks.rows *= shape.extents[k] + grown.sides[k][0] + grown.sides[k][1];
    blocks.low = -grown.sides[D - 1][0];
    blocks.high = shape.extents[D - 1] + grown.sides[D - 1][1];
    blocks.origin = shape.origin[D - 1];
    blocks.chunks = chunk_count(shape);
    const int64_t width = blocks.high - blocks.low, wanted = 4 * int64_t(threads);
    blocks.tall = threads == 1 ? at_most(at_least(MOST_CELLS / width, 1), blocks.rows)
                               : at_most(at_least(16384 / width, 1), divide_up(blocks.rows, wanted));
    if (tile > 0) blocks.tall = at_most(tile, blocks.rows);
    blocks.row_blocks = divide_up(blocks.rows, blocks.tall);
    blocks.x_blocks = threads == 1 ? at_most(divide_up(width, MOST_CELLS), blocks.chunks) : 1;
    if (threads > 1 && blocks.row_blocks < wanted) {
        blocks.x_blocks = at_most(blocks.chunks, at_least(divide_up(wanted, blocks.row_blocks), blocks.chunks / 16));
    }
    blocks.wide = divide_up(blocks.chunks, blocks.x_blocks);
    blocks.x_blocks = divide_up(blocks.chunks, blocks.wide);
    return blocks;
}

constexpr int64_t PLANES_BYTES = 2 << 20;  // planes that together have more than this leave the second cache

// The same for loops that touch several planes at each cell, so many bytes `around` for each cell of a plane. Where these
// are too much for a cache, blocks are strips of a plane, and that strip of the next plane comes next, so that the rows of
// the planes around are still there.
template <int D>
STENCIL_PROCEDURE Blocks<D> cut_in_strips(
    const Shape<D>& shape, const Margins<D>& grown, int threads, int64_t tile, int64_t around) {
    Blocks<D> blocks = cut(shape, grown, threads, tile);
    if (tile > 0 || blocks.x_blocks > 1) return blocks;
    const int64_t plane = shape.extents[D - 2] + grown.sides[D - 2][0] + grown.sides[D - 2][1];
    const int64_t cells = plane * (blocks.high - blocks.low), strips = cells / 16384;
    if (cells * around <= PLANES_BYTES || strips < 2) return blocks;
    blocks.plane = plane;
    blocks.planes = blocks.rows / plane;
    blocks.tall = divide_up(plane, strips);
    blocks.row_blocks = divide_up(plane, blocks.tall) * blocks.planes;
    return blocks;
}

// Whole rows, at least 16 to a block, for passes that touch only the ends of most rows.
template <int D> STENCIL_PROCEDURE Blocks<D> cut_rows(const Shape<D>& shape, const Margins<D>& grown, int threads) {
    Blocks<D> blocks = cut(shape, grown, 1, 0);
    blocks.tall = threads == 1 ? blocks.rows : at_least(divide_up(blocks.rows, 8 * int64_t(threads)), 16);
    blocks.row_blocks = divide_up(blocks.rows, blocks.tall);
    blocks.x_blocks = 1;
    blocks.wide = blocks.chunks;
    return blocks;
}

// A row by its indices along the outer axes; `start` is the element of its cell 0, `inside` whether it is in the domain.
template <int D> struct Row {
    int64_t at[D], start;
    bool inside;
};

// The row of a cell.
template <int D> inline Row<D> row_of(const Shape<D>& shape, const int64_t (&at)[D]) {
    Row<D> row;
    row.start = shape.start;
    row.inside = true;
    row.at[D - 1] = 0;
    for (int k = 0; k + 1 < D; ++k) {
        row.at[k] = at[k];
        row.start += at[k] * shape.strides[k];
    }
    return row;
}

template <int D> inline Row<D> row_at(const Shape<D>& shape, const Margins<D>& grown, int64_t number) {
    Row<D> row;
    row.start = shape.start;
    row.inside = true;
    row.at[D - 1] = 0;
    for (int k = D - 2; k >= 0; --k) {
        const int64_t below = grown.sides[k][0], n = shape.extents[k] + below + grown.sides[k][1];
        row.at[k] = number % n - below;
        number /= n;
        row.start += row.at[k] * shape.strides[k];
        row.inside = row.inside && row.at[k] >= 0 && row.at[k] < shape.extents[k];
    }
    return row;
}

// The row after this one, without dividing.
template <int D> inline void next_row(const Shape<D>& shape, const Margins<D>& grown, Row<D>& row) {
    row.inside = true;
    bool carry = true;
    for (int k = D - 2; k >= 0; --k) {
        if (carry) {
            ++row.at[k];
            row.start += shape.strides[k];
            carry = row.at[k] >= shape.extents[k] + grown.sides[k][1];
            if (carry) {
                const int64_t n = shape.extents[k] + grown.sides[k][0] + grown.sides[k][1];
                row.at[k] -= n;
                row.start -= n * shape.strides[k];
            }
        }
        row.inside = row.inside && row.at[k] >= 0 && row.at[k] < shape.extents[k];
    }
}

template <int D> inline int64_t rows_of(const Box<D>& part) {
    int64_t rows = 1;
    for (int k = 0; k + 1 < D; ++k) rows *= part.high[k] - part.low[k];
    return rows;
}

// The first row of a box, with its cell 0 where the domain's is, and the row after one.
template <int D> inline Row<D> row_at(const Shape<D>& shape, const Box<D>& part) {
    Row<D> row;
    row.start = shape.start;
    row.inside = true;
    row.at[D - 1] = 0;
    for (int k = 0; k + 1 < D; ++k) {
        row.at[k] = part.low[k];
        row.start += row.at[k] * shape.strides[k];
    }
    return row;
}

template <int D> inline void next_row(const Shape<D>& shape, const Box<D>& part, Row<D>& row) {
    for (int k = D - 2; k >= 0; --k) {
        row.start += shape.strides[k];
        if (++row.at[k] < part.high[k]) return;
        row.start -= (part.high[k] - part.low[k]) * shape.strides[k];
        row.at[k] = part.low[k];
    }
}

// The same for loops whose rows may run in any order. Of a box of few planes, as tiles of several steps have, the planes
// of one place along axis 1 come one after the other: they read the same rows, which the first cache still has.
constexpr int64_t FEW_PLANES = 16;
inline void next_near_row(const Shape<3>& shape, const Box<3>& part, Row<3>& row) {
    const int64_t planes = part.high[0] - part.low[0];
    if (planes > FEW_PLANES) return next_row(shape, part, row);
    if (part.ahead) part.ahead->fetch();
    row.start += shape.strides[0];
    if (++row.at[0] < part.high[0]) return;
    row.at[0] = part.low[0];
    ++row.at[1];
    row.start += shape.strides[1] - planes * shape.strides[0];
}

// The row's number among those of the domain.
template <int D> inline int64_t row_number(const Shape<D>& shape, const int64_t (&at)[D]) {
    int64_t number = 0;
    for (int k = 0; k + 1 < D; ++k) number = number * shape.extents[k] + at[k];
    return number;
}

// A block's cells as boxes, in the order of its rows: from three axes on these may begin and end inside a plane.
template <int D, class Body>
inline void for_boxes(const Shape<D>& shape, const Margins<D>& grown, const Block& block, const Body& body) {
    for (int64_t row = block.first_row; row < block.last_row;) {
        Box<D> part;
        part.low[D - 1] = block.first;
        part.high[D - 1] = block.last;
        int64_t number = row, inner = 1, rows = 1;
        bool whole = true;  // along the axes further in
        for (int k = D - 2; k >= 0; --k) {
            const int64_t below = grown.sides[k][0], n = shape.extents[k] + below + grown.sides[k][1];
            const int64_t at = number % n, count = whole ? at_most(n - at, (block.last_row - row) / inner) : 1;
            part.low[k] = at - below;
            part.high[k] = part.low[k] + count;
            whole = whole && count == n;
            number /= n;
            inner *= n;
            rows *= count;
        }
        body(part);
        row += rows;
    }
}

}  // namespace stencil

#endif
