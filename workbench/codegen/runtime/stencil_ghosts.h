// Ghost cells: filling the outside of a domain row by row.
#ifndef STENCIL_GHOSTS_H
#define STENCIL_GHOSTS_H

#include "stencil_rows.h"

namespace stencil {

// Rules: `table`, `grown`, `most_steps` and `operand(number, shape, globals, use)`, which calls use(f) with a function
// f(at, i) that gives the operand's value at the cell with outer indices at and index i along the last axis.
template <class Rules, class T, int D>
inline void apply_step(
    const Shape<D>& shape, const unsigned char* globals, const Step<D>& step, const int64_t (&at)[D], T* cells,
    int64_t first, int64_t last) {
    if (step.kind == NEGATE) {
        for (int64_t i = first; i < last; ++i) cells[i] = T(-cells[i]);
    } else if (step.kind == ABOUT_FACE) {
        Rules::operand(step.operand, shape, globals, [&](const auto& value) {
#pragma omp simd
            for (int64_t i = first; i < last; ++i) {
                const T face = value(at, i);
                cells[i] = T(T(face + face) - cells[i]);
            }
        });
    } else {
        const T distance = T(step.distance);
        Rules::operand(step.operand, shape, globals, [&](const auto& value) {
#pragma omp simd
            for (int64_t i = first; i < last; ++i) cells[i] = T(cells[i] + T(distance * value(at, i)));
        });
    }
}

// One run of cells [first, last) of a row whose values all come the same way; `from` is what to add to i for the source.
template <class Rules, class T, int D>
inline void fill_run(
    const Shape<D>& shape, const unsigned char* globals, const Walk<D, Rules::most_steps>& walk, const T* source,
    T* cells, int64_t first, int64_t last, bool along_last) {
    if (walk.base == CELL) {
        const int64_t from = along_last ? walk.at[D - 1] - first : 0;
        const T* cell = source + from;
#pragma omp simd
        for (int64_t i = first; i < last; ++i) cells[i] = cell[i];
    } else if (walk.base == ZERO) {
        for (int64_t i = first; i < last; ++i) cells[i] = T(0);
    } else {
        const int64_t moved = along_last ? walk.at[D - 1] - first : 0;
        Rules::operand(walk.operand, shape, globals, [&](const auto& value) {
#pragma omp simd
            for (int64_t i = first; i < last; ++i) cells[i] = value(walk.at, i + moved);
        });
    }
}

template <class Rules, class T, int D>
inline void finish_run(
    const Shape<D>& shape, const unsigned char* globals, const Walk<D, Rules::most_steps>& walk, T* cells,
    int64_t first, int64_t last, bool along_last) {
    for (int s = walk.count - 1; s >= 0; --s) {
        const Step<D>& step = walk.steps[s];
        if (along_last) {  // the operand is taken where the step was made, which is one cell here
            T* cell = cells + (first - step.at[D - 1]);
            apply_step<Rules>(shape, globals, step, step.at, cell, step.at[D - 1], step.at[D - 1] + 1);
        } else {
            apply_step<Rules>(shape, globals, step, step.at, cells, first, last);
        }
    }
}

template <int D> inline int64_t row_element(const Shape<D>& shape, const int64_t (&at)[D]) {
    int64_t element = shape.start;
    for (int k = 0; k + 1 < D; ++k) element += at[k] * shape.strides[k];
    return element;
}

template <class Rules, class T, int D>
STENCIL_PROCEDURE void fill_cell(
    const Shape<D>& shape, const unsigned char* globals, const T* source, T* cells, const int64_t (&at)[D], int64_t x) {
    Walk<D, Rules::most_steps> walk;
    for (int k = 0; k < D; ++k) walk.at[k] = at[k];
    walk.at[D - 1] = x;
    walk_inside(Rules::table, shape, 0, D, walk);
    fill_run<Rules>(shape, globals, walk, source + row_element(shape, walk.at), cells, x, x + 1, true);
    finish_run<Rules>(shape, globals, walk, cells, x, x + 1, true);
}

template <class Rules, int D> inline bool belongs_to_neighbour(const Shape<D>& shape, const int64_t (&at)[D], int axes) {
    for (int k = 0; k < axes; ++k) {
        const int side = at[k] < 0 ? 0 : at[k] >= shape.extents[k] ? 1 : -1;
        if (side >= 0 && (shape.sides[k][side] == 0 || Rules::table[k][side].kind == UNDEFINED)) return true;
    }
    return false;
}

// A ghost cell that is a copy of a cell of its own row, perhaps with the other sign: true for most rules inside the
// domain's rows, and then known once for all of them.
struct Column {
    int64_t x, from;
    bool copies, negates;
};

template <class Rules, int D> STENCIL_PROCEDURE Column column_at(const Shape<D>& shape, int64_t x) {
    Walk<D, Rules::most_steps> walk;
    for (int k = 0; k < D; ++k) walk.at[k] = 0;
    walk.at[D - 1] = x;
    walk_inside(Rules::table, shape, D - 1, D, walk);
    const bool negates = walk.count == 1 && walk.steps[0].kind == NEGATE;
    return {x, walk.at[D - 1], walk.base == CELL && (walk.count == 0 || negates), negates};
}

// The middle of a row, as long as the domain: a row outside the domain takes it from one other row in vector loops.
template <class Rules, class T, int D>
inline void fill_middle(
    const Shape<D>& shape, const unsigned char* globals, const T* source, T* cells, const Row<D>& row) {
    const int64_t n = shape.extents[D - 1];
    if (row.inside) {
        const T* from = source + row.start;
        if (from == cells) return;
        for (int64_t i = 0; i < n; ++i) cells[i] = from[i];
    } else {
        Walk<D, Rules::most_steps> walk;
        for (int k = 0; k < D; ++k) walk.at[k] = row.at[k];
        walk_inside(Rules::table, shape, 0, D - 1, walk);
        fill_run<Rules>(shape, globals, walk, source + row_element(shape, walk.at), cells, 0, n, false);
        finish_run<Rules>(shape, globals, walk, cells, 0, n, false);
    }
}

constexpr int64_t COLUMNS = 128;  // looked at together: a long reach has more than a thread's stack has room for

// All ghost cells of some rows: a row's long middle at once, only its ends are looked at cell by cell.
template <class Rules, class T, int D>
STENCIL_PROCEDURE void fill_rows(
    const Shape<D>& shape, const unsigned char* globals, const T* source, T* target, int64_t first_row,
    int64_t last_row) {
    constexpr int64_t below = Rules::grown.sides[D - 1][0], above = Rules::grown.sides[D - 1][1];
    const int64_t n = shape.extents[D - 1];
    const bool fills_below = shape.sides[D - 1][0] != 0 && Rules::table[D - 1][0].kind != UNDEFINED;
    const bool fills_above = shape.sides[D - 1][1] != 0 && Rules::table[D - 1][1].kind != UNDEFINED;
    // A row's ghost cells have numbers, the lowest cell 0; those that a rule fills are [begin, end).
    const int64_t begin = fills_below ? 0 : below, end = below + (fills_above ? above : 0);
    constexpr int64_t most = below + above < COLUMNS ? below + above : COLUMNS;
    Column columns[most + 1];
    int64_t first = begin;
    do {
        const int64_t last = at_most(first + most, end);
        for (int64_t c = first; c < last; ++c) {
            columns[c - first] = column_at<Rules>(shape, c < below ? c - below : c - below + n);
        }
        Row<D> row = row_at(shape, Rules::grown, first_row);
        for (int64_t r = first_row; r < last_row; ++r, next_row(shape, Rules::grown, row)) {
            if (belongs_to_neighbour<Rules>(shape, row.at, D - 1)) continue;
            T* cells = target + row.start;
            if (first == begin) fill_middle<Rules>(shape, globals, source, cells, row);
            const T* own = source + row.start;
            for (int64_t c = 0; c < last - first; ++c) {
                const Column& column = columns[c];
                if (row.inside && column.copies) {
                    const T cell = own[column.from];
                    cells[column.x] = column.negates ? T(-cell) : cell;
                } else {
                    fill_cell<Rules>(shape, globals, source, cells, row.at, column.x);
                }
            }
        }
        first = last;
    } while (first < end);
}

}  // namespace stencil

#endif
