// Rolling ghosts: ghost cells of values that live in the buffers of a tile, and images of cells that are in no buffer.
#ifndef STENCIL_ROLLING_GHOSTS_H
#define STENCIL_ROLLING_GHOSTS_H

#include "stencil_images.h"
#include "stencil_rolling.h"

namespace stencil {

// Whether the cells that ghost cells along an axis come from are in the buffers: not along a ring that tiles cut, nor
// along one of planes, of which few are kept.
template <int D>
inline bool is_at_hand(const Shape<D>& shape, const Tile<D>& tile, const bool (&rings)[D], int axis) {
    if (!rings[axis]) return true;
    return axis > 0 && tile.box.low[axis] == 0 && tile.box.high[axis] == shape.extents[axis];
}

template <int K, int D, class Body>
inline void for_pieces_from(
    const Shape<D>& shape, const Tile<D>& tile, const bool (&rings)[D], const Box<D>& part, Tile<D>& turned,
    Box<D>& piece, const Body& body) {
    if constexpr (K == D) {
        body(turned, piece);
    } else {
        const int64_t n = shape.extents[K];
        if (is_at_hand(shape, tile, rings, K)) {
            piece.low[K] = at_least(part.low[K], 0);
            piece.high[K] = at_most(part.high[K], n);
            if (piece.low[K] < piece.high[K]) for_pieces_from<K + 1>(shape, tile, rings, part, turned, piece, body);
            return;
        }
        const int64_t base = turned.base[K];
        for (int64_t i = part.low[K]; i < part.high[K];) {
            const int64_t cell = modulo(i, n), away = i - cell;
            const int64_t end = at_most(part.high[K], away + n);
            piece.low[K] = cell;
            piece.high[K] = end - away;
            if (K == 0) turned.turn = away;
            else turned.base[K] = base - away;
            for_pieces_from<K + 1>(shape, tile, rings, part, turned, piece, body);
            i = end;
        }
        if (K == 0) turned.turn = 0;
        else turned.base[K] = base;
    }
}

// The cells of the domain in a part of a tile, and beyond it the cells that those of rings are images of: body(tile,
// box) with a tile whose buffers have the images' places.
template <int D, class Body>
inline void for_pieces(
    const Shape<D>& shape, const Tile<D>& tile, const bool (&rings)[D], const Box<D>& part, const Body& body) {
    Tile<D> turned = tile;
    Box<D> piece;
    for_pieces_from<0>(shape, tile, rings, part, turned, piece, body);
}

// The ghost cells of a value in a buffer, as far as a tile grown by some cells needs them and finds what they come from.
template <class Rules, int Planes, int D> struct RollingGhosts {
    static constexpr int64_t MOST = Rules::grown.sides[D - 1][0] + Rules::grown.sides[D - 1][1];
    int64_t low[D], high[D];  // of the cells that are needed; those of the domain where there is nothing to do
    Column columns[MOST + 1];
    int count = 0;

    RollingGhosts(const Shape<D>& shape, const Tile<D>& tile, const bool (&rings)[D], const Margins<D>& grown) {
        for (int k = 0; k < D; ++k) {
            const bool at_hand = is_at_hand(shape, tile, rings, k);
            const bool below = at_hand && Rules::table[k][0].kind != UNDEFINED;
            const bool above = at_hand && Rules::table[k][1].kind != UNDEFINED;
            const int64_t n = shape.extents[k];
            const int64_t first = at_least(tile.box.low[k] - grown.sides[k][0], -Rules::grown.sides[k][0]);
            low[k] = below ? at_most(first, 0) : 0;
            const int64_t last = at_most(tile.box.high[k] + grown.sides[k][1], n + Rules::grown.sides[k][1]);
            high[k] = above ? at_least(last, n) : n;
        }
        const int64_t n = shape.extents[D - 1];
        for (int64_t x = low[D - 1]; x < 0; ++x) columns[count++] = column_at<Rules>(shape, x);
        for (int64_t x = n; x < high[D - 1]; ++x) columns[count++] = column_at<Rules>(shape, x);
    }

    // Those whose values come from a piece of one plane.
    template <class T>
    void fill(
        const Shape<D>& shape, const unsigned char* globals, T* buffer, const Tile<D>& tile,
        const Box<D>& piece) const {
        int64_t at[D];
        at[0] = piece.low[0];
        at[D - 1] = 0;
        rows<1>(shape, globals, buffer, tile, piece, at, true);
        if (low[0] == 0 && high[0] == shape.extents[0]) return;
        if (!is_near_end<Rules>(shape, piece, 0)) return;
        const auto plane = [&](int64_t i) {
            if (home_along<Rules>(shape, 0, i) != piece.low[0]) return;
            at[0] = i;
            rows<1>(shape, globals, buffer, tile, piece, at, false);
        };
        for (int64_t i = low[0]; i < 0; ++i) plane(i);
        for (int64_t i = shape.extents[0]; i < high[0]; ++i) plane(i);
    }

private:
    template <int K, class T>
    void rows(
        const Shape<D>& shape, const unsigned char* globals, T* buffer, const Tile<D>& tile, const Box<D>& piece,
        int64_t (&at)[D], bool inside) const {
        if constexpr (K == D - 1) {
            row(shape, globals, buffer, tile, piece, at, inside);
        } else {
            const int64_t n = shape.extents[K];
            const int64_t first = low[K] < 0 ? low[K] : piece.low[K], last = high[K] > n ? high[K] : piece.high[K];
            if (inside && count == 0 && first == piece.low[K] && last == piece.high[K] && K == D - 2) return;
            for (int64_t i = first; i < last; ++i) {
                at[K] = i;
                rows<K + 1>(shape, globals, buffer, tile, piece, at, inside && i >= 0 && i < n);
            }
        }
    }

    static int64_t start(const Tile<D>& tile, const int64_t (&at)[D]) {
        constexpr int64_t here[D] = {};
        return rolling_row<Planes>(tile, at, here);
    }

    template <class T>
    void row(
        const Shape<D>& shape, const unsigned char* globals, T* buffer, const Tile<D>& tile, const Box<D>& piece,
        const int64_t (&at)[D], bool inside) const {
        T* const cells = buffer + start(tile, at);
        Walk<D, Rules::most_steps> walk;
        if (!inside) {
            for (int k = 0; k < D; ++k) walk.at[k] = at[k];
            walk_inside(Rules::table, shape, 0, D - 1, walk);
            const int64_t first = piece.low[D - 1], last = piece.high[D - 1];
            fill_run<Rules>(shape, globals, walk, buffer + start(tile, walk.at), cells, first, last, false);
            finish_run<Rules>(shape, globals, walk, cells, first, last, false);
        }
        for (int c = 0; c < count; ++c) {
            const Column& column = columns[c];
            if (inside && column.copies) {
                const T cell = cells[column.from];
                cells[column.x] = column.negates ? T(-cell) : cell;
            } else {
                for (int k = 0; k < D; ++k) walk.at[k] = at[k];
                walk.at[D - 1] = column.x;
                walk_inside(Rules::table, shape, 0, D, walk);
                const int64_t x = column.x;
                fill_run<Rules>(shape, globals, walk, buffer + start(tile, walk.at), cells, x, x + 1, true);
                finish_run<Rules>(shape, globals, walk, cells, x, x + 1, true);
            }
        }
    }
};

}  // namespace stencil

#endif
