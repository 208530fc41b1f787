// Scatters: destinations are shared out, and each thread looks at all senders in their order. Where any
// order gives the same bits and destinations are few, senders are shared out instead, each part with a copy of its own.
#ifndef STENCIL_SCATTERS_H
#define STENCIL_SCATTERS_H

#include "stencil_rows.h"

namespace stencil {

template <int D> inline int64_t cell_count(const Shape<D>& shape) {
    int64_t count = 1;
    for (int k = 0; k < D; ++k) count *= shape.extents[k];
    return count;
}

template <int D> inline Box<D> domain_of(const Shape<D>& shape) {
    Box<D> all;
    for (int k = 0; k < D; ++k) {
        all.low[k] = 0;
        all.high[k] = shape.extents[k];
    }
    return all;
}

// Parts of the cells of a shape along one axis; at least one, because indices are looked at even where there are none.
template <int D> struct Parts {
    Shape<D> shape;
    int axis;
    int64_t parts;

    int64_t count() const { return parts; }
    Box<D> operator[](int64_t task) const {
        Box<D> box = domain_of(shape);
        const int64_t n = shape.extents[axis];
        box.low[axis] = n * task / parts;
        box.high[axis] = n * (task + 1) / parts;
        return box;
    }
};

template <int D> inline int longest_axis(const Shape<D>& shape) {
    int axis = 0;
    for (int k = 1; k < D; ++k) axis = shape.extents[k] > shape.extents[axis] ? k : axis;
    return axis;
}

// A part a thread, along the longest axis, where there is enough to do for several.
template <int D> inline Parts<D> cut_destinations(const Shape<D>& shape, int64_t senders, int threads) {
    Parts<D> made = {shape, longest_axis(shape), 1};
    if (senders + cell_count(shape) >= 4 * CHUNK) made.parts = at_least(at_most(threads, shape.extents[made.axis]), 1);
    return made;
}

// Destinations of which each thread may have a copy; the caller has room for them (workbench/planning/partials.py).
constexpr int64_t MOST_COPIED = 65536;

// A part a thread, along the longest axis, where its senders are many for each destination; else one part.
template <int D> inline Parts<D> cut_senders(const Shape<D>& shape, int64_t destinations, int threads) {
    Parts<D> made = {shape, longest_axis(shape), 1};
    const int64_t most = cell_count(shape) / (4 * CHUNK + 4 * destinations);
    if (destinations > MOST_COPIED) return made;
    made.parts = at_least(at_most(at_most(threads, most), shape.extents[made.axis]), 1);
    return made;
}

enum ScatterPass { BY_DESTINATIONS, INTO_COPIES, FROM_COPIES };

// What a pass is about: these senders; copies of the destinations in C order, one for each part of the senders.
template <class T, int S> struct Sending {
    ScatterPass pass;
    Box<S> senders;
    T* copies;
    int64_t parts, part;
};

// One part of the senders into its copy.
template <class T, int S> inline Sending<T, S> into_copies(const Parts<S>& senders, T* copies, int64_t part) {
    return {INTO_COPIES, senders[part], copies, senders.count(), part};
}

// To the destinations: from the copies of all parts, or from the senders themselves where they are one part.
template <class T, int S> inline Sending<T, S> to_destinations(const Parts<S>& senders, T* copies) {
    return {senders.count() == 1 ? BY_DESTINATIONS : FROM_COPIES, domain_of(senders.shape), copies, senders.count(), 0};
}

// The shape of a copy: that of the destinations without padding.
template <int D> inline Shape<D> shape_of_copy(const Shape<D>& shape) {
    Shape<D> copy = shape;
    copy.start = 0;
    copy.strides[D - 1] = 1;
    for (int k = D - 1; k > 0; --k) copy.strides[k - 1] = copy.strides[k] * shape.extents[k];
    return copy;
}

// Combines the destinations of a box, which have their defaults, with all copies of them.
template <int D, int S, class T, class Combine>
inline void take_copies(const Shape<D>& shape, const Box<D>& part, const Sending<T, S>& sending, T* array, const Combine& combine) {
    const int64_t cells = cell_count(shape);
    Row<D> row = row_at(shape, part);
    for (int64_t rows = rows_of(part); rows > 0; --rows, next_row(shape, part, row)) {
        const T* copy = sending.copies + row_number(shape, row.at) * shape.extents[D - 1];
        for (int64_t p = 0; p < sending.parts; ++p, copy += cells) {
            for (int64_t i = part.low[D - 1]; i < part.high[D - 1]; ++i) {
                array[row.start + i] = combine(copy[i], array[row.start + i]);
            }
        }
    }
}

}  // namespace stencil

#endif
