// Tiles of several steps: which cells of which levels a tile has. The same as workbench/planning/schedules/diamond.py,
// which says how tiles stand.
#ifndef STENCIL_TILES_H
#define STENCIL_TILES_H

#include "stencil_rows.h"

namespace stencil {

// Numbers [low, high): rows, planes or levels.
struct Span {
    int64_t low, high;
};

struct Lattice {
    int64_t rows, slope, height, spaces, depth;
    bool ring;

    int64_t bands_end() const { return (depth - 1) / height + 1; }  // the first band is -1
    int64_t tiles(int64_t band) const { return band % 2 != 0 || ring ? spaces : spaces + 1; }
    bool has_both_ends(int64_t band, int64_t tile) const { return ring && band % 2 == 0 && tile == 0; }
    Span levels(int64_t band) const {
        const int64_t first = band * height, end = first + 2 * height - (band % 2 != 0 ? 0 : 1);
        return {first > 0 ? first : 0, at_most(end, depth)};
    }
    Span rows_of(int64_t band, int64_t tile, int64_t level) const {
        const int64_t half = half_width(level);
        if (band % 2 != 0) return {centre(tile) + half, centre(tile + 1) - half};
        return {at_least(centre(tile) - half, 0), at_most(centre(tile) + half, rows)};
    }
    int64_t centre(int64_t number) const { return number * rows / spaces; }
    int64_t half_width(int64_t level) const {
        const int64_t phase = level % (2 * height);
        return slope * (phase < height ? phase + 1 : 2 * height - 1 - phase);
    }
};

// The levels of a tile in the order in which they run, with their planes along the wave axis. A ring is cut: what its
// chunks leave over at both ends is a wedge, done in the end.
template <class Body>
inline void wave(int64_t planes, int64_t skew, int64_t chunk, const Span& levels, bool ring, const Body& body) {
    const int64_t most = (levels.high - levels.low - 1) * skew;
    if (chunk >= planes || (ring && 2 * most > planes)) {  // no reason to cut, no room for a wedge
        for (int64_t level = levels.low; level < levels.high; ++level) body(level, Span{0, planes});
        return;
    }
    for (int64_t start = 0; start < planes + most; start += chunk) {
        for (int64_t level = levels.low; level < levels.high; ++level) {
            const int64_t lag = (level - levels.low) * skew, left = ring ? lag : 0;
            const Span part = {at_least(start - lag, left), at_most(start - lag + chunk, planes - left)};
            if (part.low < part.high) body(level, part);
        }
    }
    for (int64_t level = levels.low + 1; level < levels.high && ring && skew > 0; ++level) {
        const int64_t lag = (level - levels.low) * skew;
        body(level, Span{planes - lag, planes});
        body(level, Span{0, lag});
    }
}

// The boxes of one tile: diamonds along axis DIAMOND, a wave along axis WAVE (-1 for none, CUT if it is a ring), other
// axes whole.
template <int DIAMOND, int WAVE, bool CUT, int D, class Body>
inline void for_tile(
    const Shape<D>& shape, const Lattice& lattice, int64_t band, int64_t tile, int64_t skew, int64_t chunk,
    const Body& body) {
    Box<D> box;
    for (int k = 0; k < D; ++k) {
        box.low[k] = 0;
        box.high[k] = shape.extents[k];
    }
    const auto of_rows = [&](int64_t level, const Span& rows, const Span& planes) {
        if (rows.low >= rows.high) return;
        box.low[DIAMOND] = rows.low;
        box.high[DIAMOND] = rows.high;
        if (WAVE >= 0) {
            box.low[WAVE < 0 ? 0 : WAVE] = planes.low;
            box.high[WAVE < 0 ? 0 : WAVE] = planes.high;
        }
        body(level, box);
    };
    const bool both = lattice.has_both_ends(band, tile);
    const auto part = [&](int64_t level, const Span& planes) {
        of_rows(level, lattice.rows_of(band, tile, level), planes);
        if (both) of_rows(level, lattice.rows_of(band, lattice.spaces, level), planes);
    };
    if (WAVE < 0) {
        wave(1, 0, 1, lattice.levels(band), false, part);
    } else {
        wave(shape.extents[WAVE < 0 ? 0 : WAVE], skew, chunk, lattice.levels(band), CUT, part);
    }
}

// A box with the cells outside the domain that are computed beside it: they belong to the domain's next cells.
template <int D> inline Box<D> with_outside(const Shape<D>& shape, const Margins<D>& grown, Box<D> box) {
    for (int k = 0; k < D; ++k) {
        if (box.low[k] == 0) box.low[k] = -grown.sides[k][0];
        if (box.high[k] == shape.extents[k]) box.high[k] += grown.sides[k][1];
    }
    return box;
}

}  // namespace stencil

#endif
