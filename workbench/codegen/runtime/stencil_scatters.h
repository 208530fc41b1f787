// Scatters: destinations are shared out, and whoever has some of them looks at all senders in their order.
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

// Parts of the destinations along one axis; at least one, because indices are looked at even where there are none.
template <int D> struct Destinations {
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

// A part a thread, along the longest axis, where there is enough to do for several.
template <int D> inline Destinations<D> cut_destinations(const Shape<D>& shape, int64_t senders, int threads) {
    Destinations<D> made = {shape, 0, 1};
    for (int k = 1; k < D; ++k) made.axis = shape.extents[k] > shape.extents[made.axis] ? k : made.axis;
    if (senders + cell_count(shape) >= 4 * CHUNK) made.parts = at_least(at_most(threads, shape.extents[made.axis]), 1);
    return made;
}

}  // namespace stencil

#endif
