// Images: the ghost cells whose values come from the cells of a box, written right after these.
#ifndef STENCIL_IMAGES_H
#define STENCIL_IMAGES_H

#include "stencil_ghosts.h"

namespace stencil {

// The index in the domain that a ghost cell's value comes from along one axis; the nearest one where no cell's does.
template <class Rules, int D> STENCIL_PROCEDURE int64_t home_along(const Shape<D>& shape, int axis, int64_t i) {
    Walk<D, Rules::most_steps> walk;
    for (int k = 0; k < D; ++k) walk.at[k] = 0;
    walk.at[axis] = i;
    walk_inside(Rules::table, shape, axis, axis + 1, walk);
    const int64_t home = walk.base == CELL ? walk.at[axis] : i;
    return home < 0 ? 0 : home >= shape.extents[axis] ? shape.extents[axis] - 1 : home;
}

// Whether some ghost index of an axis may come from those of a box; most boxes are too far from both ends.
template <class Rules, int D> inline bool is_near_end(const Shape<D>& shape, const Box<D>& box, int axis) {
    const int64_t most = at_least(Rules::grown.sides[axis][0], Rules::grown.sides[axis][1]);
    return most > 0 && (box.low[axis] <= most || box.high[axis] >= shape.extents[axis] - most);
}

// Calls body(i) for the ghost indices [first, last) of an axis that come from a box.
template <class Rules, int D, class Body>
inline void for_images_in(
    const Shape<D>& shape, const Box<D>& box, int axis, int64_t first, int64_t last, const Body& body) {
    for (int64_t i = first; i < last; ++i) {
        const int64_t home = home_along<Rules>(shape, axis, i);
        if (home >= box.low[axis] && home < box.high[axis]) body(i);
    }
}

template <class Rules, int D, class Body>
inline void for_images(const Shape<D>& shape, const Box<D>& box, int axis, const Body& body) {
    if (!is_near_end<Rules>(shape, box, axis)) return;
    const int64_t n = shape.extents[axis], below = Rules::grown.sides[axis][0], above = Rules::grown.sides[axis][1];
    if (Rules::table[axis][0].kind != UNDEFINED) for_images_in<Rules>(shape, box, axis, -below, 0, body);
    if (Rules::table[axis][1].kind != UNDEFINED) for_images_in<Rules>(shape, box, axis, n, n + above, body);
}

// The rows of a box and those outside the domain that come from it, by their outer indices; those inside only where
// `ends`, as seen from the innermost of the outer axes.
template <class Rules, int K, int D, class Body>
inline void for_image_rows(
    const Shape<D>& shape, const Box<D>& box, bool ends, bool inside, int64_t (&at)[D], const Body& body) {
    if constexpr (K == D - 1) {
        body(inside);
    } else {
        if (K < D - 2 || ends || !inside) {
            for (int64_t i = box.low[K]; i < box.high[K]; ++i) {
                at[K] = i;
                for_image_rows<Rules, K + 1>(shape, box, ends, inside, at, body);
            }
        }
        for_images<Rules>(shape, box, K, [&](int64_t i) {
            at[K] = i;
            for_image_rows<Rules, K + 1>(shape, box, ends, false, at, body);
        });
    }
}

// All ghost cells whose values come from a box of the array; each cell of the domain is in one box.
template <class Rules, class T, int D>
STENCIL_PROCEDURE void fill_images(const Shape<D>& shape, const unsigned char* globals, T* array, const Box<D>& box) {
    bool near = false;
    for (int k = 0; k < D; ++k) near = near || is_near_end<Rules>(shape, box, k);
    if (!near) return;
    constexpr int64_t both = Rules::grown.sides[D - 1][0] + Rules::grown.sides[D - 1][1];
    constexpr int64_t most = both < COLUMNS ? both : COLUMNS;
    Column columns[most + 1];
    int64_t count = 0;
    const int64_t first = box.low[D - 1], last = box.high[D - 1];
    int64_t at[D];
    at[D - 1] = 0;
    const auto some_columns = [&](bool middle) {
        for_image_rows<Rules, 0>(shape, box, count > 0, true, at, [&](bool inside) {
            T* const cells = array + row_element(shape, at);
            if (middle && !inside) {
                Walk<D, Rules::most_steps> walk;
                for (int k = 0; k < D; ++k) walk.at[k] = at[k];
                walk_inside(Rules::table, shape, 0, D - 1, walk);
                fill_run<Rules>(shape, globals, walk, array + row_element(shape, walk.at), cells, first, last, false);
                finish_run<Rules>(shape, globals, walk, cells, first, last, false);
            }
            for (int64_t c = 0; c < count; ++c) {
                const Column& column = columns[c];
                if (inside && column.copies) {
                    const T cell = cells[column.from];
                    cells[column.x] = column.negates ? T(-cell) : cell;
                } else {
                    fill_cell<Rules>(shape, globals, array, cells, at, column.x);
                }
            }
        });
    };
    bool begun = false;
    for_images<Rules>(shape, box, D - 1, [&](int64_t x) {
        if (count == most) {
            some_columns(!begun);
            begun = true;
            count = 0;
        }
        columns[count++] = column_at<Rules>(shape, x);
    });
    if (!begun || count > 0) some_columns(!begun);
}

}  // namespace stencil

#endif
