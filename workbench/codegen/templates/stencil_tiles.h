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

    int64_t bands_end() const { return (depth - 1) / height + 1; }  // the first band is -1
    int64_t tiles(int64_t band) const { return band % 2 != 0 ? spaces : spaces + 1; }
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

// The levels of a tile in the order in which they run, with their planes along the wave axis.
template <class Body>
inline void wave(int64_t planes, int64_t skew, int64_t chunk, const Span& levels, const Body& body) {
    const int64_t end = planes + (levels.high - levels.low - 1) * skew;
    for (int64_t start = 0; start < end; start += chunk) {
        for (int64_t level = levels.low; level < levels.high; ++level) {
            const int64_t low = start - (level - levels.low) * skew;
            const Span part = {at_least(low, 0), at_most(low + chunk, planes)};
            if (part.low < part.high) body(level, part);
        }
    }
}

// The boxes of one tile: diamonds along axis DIAMOND, a wave along axis WAVE (-1 for none), other axes whole.
template <int DIAMOND, int WAVE, int D, class Body>
inline void for_tile(
    const Shape<D>& shape, const Lattice& lattice, int64_t band, int64_t tile, int64_t skew, int64_t chunk,
    const Body& body) {
    Box<D> box;
    for (int k = 0; k < D; ++k) {
        box.low[k] = 0;
        box.high[k] = shape.extents[k];
    }
    const auto part = [&](int64_t level, const Span& planes) {
        const Span rows = lattice.rows_of(band, tile, level);
        if (rows.low >= rows.high) return;
        box.low[DIAMOND] = rows.low;
        box.high[DIAMOND] = rows.high;
        if (WAVE >= 0) {
            box.low[WAVE < 0 ? 0 : WAVE] = planes.low;
            box.high[WAVE < 0 ? 0 : WAVE] = planes.high;
        }
        body(level, box);
    };
    if (WAVE < 0) {
        wave(1, 0, 1, lattice.levels(band), part);
    } else {
        wave(shape.extents[WAVE < 0 ? 0 : WAVE], skew, chunk, lattice.levels(band), part);
    }
}

}  // namespace stencil

#endif
