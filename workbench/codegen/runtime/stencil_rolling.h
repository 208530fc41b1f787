// Rolling: sub-kernels that run together over a tile, plane by plane along axis 0; what they hand on stays in a buffer.
#ifndef STENCIL_ROLLING_H
#define STENCIL_ROLLING_H

#include "stencil_rows.h"

namespace stencil {

constexpr int64_t WIDE = 16;                // cells of the last axis that tiles and buffers are multiples of
constexpr int64_t BUFFER_BYTES = 384 << 10;  // a part of the second cache: the arrays that stream past need room too
constexpr int64_t UNCUT_CELLS = 512;         // of a row of three dimensions in one tile, or more where
constexpr int64_t FEW_ROWS = 8;              // it still has so many rows

// A block of the domain, and where its buffers lie: `base` is the cell that has element 0 of a plane. `turn`: planes to
// add where a member computes images of cells that lie elsewhere.
template <int D> struct Tile {
    Box<D> box;
    int64_t base[D], strides[D], plane, turn;
};

// `spread`: how far members grow beyond a tile along each axis. All tiles have one size, but for the last of an axis.
template <int D> struct Tiles {
    Box<D> whole;
    int64_t size[D], count_of[D], strides[D], below[D], plane;

    int64_t count() const {
        int64_t count = 1;
        for (int k = 0; k < D; ++k) count *= count_of[k];
        return count;
    }
    Tile<D> operator[](int64_t task) const {
        Tile<D> tile;
        for (int k = D - 1; k >= 0; --k) {
            tile.box.low[k] = whole.low[k] + task % count_of[k] * size[k];
            const int64_t high = tile.box.low[k] + size[k];
            tile.box.high[k] = high < whole.high[k] ? high : whole.high[k];
            tile.base[k] = tile.box.low[k] - below[k];
            tile.strides[k] = strides[k];
            task /= count_of[k];
        }
        tile.plane = plane;
        tile.turn = 0;
        return tile;
    }
};

inline int64_t whole_lines(int64_t cells) { return divide_up(cells, WIDE) * WIDE; }

// Tile height in planes that minimises the makespan of all threads; each tile computes `around` planes more. Of heights
// within 1/32 of the minimum the smallest: a thread that the system delays then delays the others less.
STENCIL_PROCEDURE int64_t tile_height(int64_t extent, int64_t around, int64_t others, int threads) {
    if (threads == 1) return extent;
    int64_t best = 0, height = extent;
    for (int64_t each = 1; each <= 8; ++each) {  // tiles a thread
        const int64_t wanted = at_most(at_least(each * threads / others, 1), extent);
        const int64_t planes = divide_up(extent, wanted), parts = divide_up(extent, planes);
        const int64_t longest = divide_up(parts * others, threads) * (planes + around);
        if (best == 0 || longest < best) best = longest;
        if (longest <= best + best / 32) height = planes;
    }
    return height;
}

// Tiles whose buffers, of `cell_bytes` for each cell of a plane, fit into the cache.
template <int D>
inline Tiles<D> cut_tiles(
    const Shape<D>& shape, const Margins<D>& grown, const Margins<D>& spread, int64_t cell_bytes, int threads,
    int64_t tall) {
    Tiles<D> tiles;
    int64_t cells = BUFFER_BYTES / cell_bytes, others = 1;
    for (int k = D - 1; k >= 0; --k) {
        tiles.whole.low[k] = -grown.sides[k][0];
        tiles.whole.high[k] = shape.extents[k] + grown.sides[k][1];
        const int64_t extent = tiles.whole.high[k] - tiles.whole.low[k];
        const int64_t around = spread.sides[k][0] + spread.sides[k][1];
        if (k > 0) {  // all of the axis, or equal parts that are not too small beside what surrounds them
            const int64_t least = k == D - 1 ? 256 : 4 * around + 4;
            const int64_t whole = at_least(at_most(cells, UNCUT_CELLS), cells / FEW_ROWS);
            const int64_t most = at_least(k == 1 ? cells : whole, least);
            tiles.count_of[k] = divide_up(extent, most);
            const int64_t size = divide_up(extent, tiles.count_of[k]);
            tiles.size[k] = k == D - 1 && tiles.count_of[k] > 1 ? whole_lines(size) : size;
            cells = cells / (tiles.size[k] + around);
        } else {
            tiles.size[k] = tall > 0 ? at_most(tall, extent) : tile_height(extent, around, others, threads);
        }
        tiles.count_of[k] = divide_up(extent, tiles.size[k]);
        others *= tiles.count_of[k];
        tiles.below[k] = k == D - 1 ? whole_lines(spread.sides[k][0]) : spread.sides[k][0];
    }
    int64_t elements = 1;
    for (int k = D - 1; k > 0; --k) {
        tiles.strides[k] = elements;
        const int64_t extent = tiles.below[k] + tiles.size[k] + spread.sides[k][1];
        elements *= k == D - 1 ? whole_lines(extent) + WIDE : extent;
    }
    tiles.strides[0] = tiles.plane = elements;
    return tiles;
}

// The cells of one plane that a member computes: the tile's, grown. Nothing where the plane is beyond them.
template <int D> inline bool plane_of(const Tile<D>& tile, const Margins<D>& grown, int64_t plane, Box<D>& part) {
    for (int k = 1; k < D; ++k) {
        part.low[k] = tile.box.low[k] - grown.sides[k][0];
        part.high[k] = tile.box.high[k] + grown.sides[k][1];
    }
    part.low[0] = plane;
    part.high[0] = plane + 1;
    return plane >= tile.box.low[0] - grown.sides[0][0] && plane < tile.box.high[0] + grown.sides[0][1];
}

// The element of a buffer with a power of two of planes where the row at `at` + `move` has its cell 0.
template <int Planes, int D>
inline int64_t rolling_row(const Tile<D>& tile, const int64_t (&at)[D], const int64_t (&move)[D]) {
    int64_t element = ((at[0] + move[0] + tile.turn) & (Planes - 1)) * tile.plane - tile.base[D - 1];
    for (int k = 1; k + 1 < D; ++k) element += (at[k] + move[k] - tile.base[k]) * tile.strides[k];
    return element;
}

}  // namespace stencil

#endif
