// Tiles of several steps: which cells of which levels a tile has. The same as workbench/planning/schedules/diamond.py,
// which says how tiles stand.
#ifndef STENCIL_TILES_H
#define STENCIL_TILES_H

#include "stencil_rows.h"
#include "stencil_team.h"

namespace stencil {

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

// A part of a march along axis 0: all of it (size 0), a number of planes or tiles that moves back with each level or band
// by as much as tiles lean, or the rest, which the others leave around the cut of a ring.
struct Window {
    int64_t number, size;
    bool rest;
};

// The windows of a march in the order in which they run.
struct Windows {
    int64_t size, count;
    bool rest;

    int64_t all() const { return count + (rest ? 1 : 0); }
    Window operator[](int64_t number) const { return {number, size, number == count}; }
};

inline Windows windows_of_planes(int64_t planes, int64_t skew, int64_t levels, int64_t size, bool ring) {
    if (size <= 0) return {0, 1, false};
    const int64_t most = (levels - 1) * skew;
    return {size, divide_up(planes + (ring ? 0 : most), size), ring && most > 0};
}

inline Windows windows_of_tiles(const Lattice& lattice, int64_t size) {
    if (size <= 0) return {0, 1, false};
    return {size, divide_up(lattice.spaces + (lattice.ring ? 0 : 1 + lattice.bands_end() / 2), size), lattice.ring};
}

// Tiles of a band from `first` on, but for `left_out` ones after the first `before`.
struct BandTiles {
    int64_t count, first, before, left_out;

    int64_t operator[](int64_t task) const { return first + task + (task < before ? 0 : left_out); }
};

// A tile needs the two below it only. On a ring those that need the tile at the cut are the rest.
inline BandTiles tiles_in(const Lattice& lattice, int64_t band, const Window& window) {
    const int64_t tiles = lattice.tiles(band), back = (band + 1) / 2;
    if (window.size <= 0) return {tiles, 0, tiles, 0};
    int64_t low = lattice.ring ? back + (band % 2 == 0 ? 1 : 0) : 0, high = lattice.ring ? tiles - back : tiles;
    if (low >= high) low = high = 0;
    if (window.rest) return {tiles - (high - low), 0, low, high - low};
    low = at_least(window.number * window.size - back, low);
    high = at_most((window.number + 1) * window.size - back, high);
    return {at_least(high - low, 0), low, at_least(high - low, 0), 0};
}

// After the last window.
inline void end_windows(Files& files, int64_t planes) {
    for (int64_t k = 0; k < files.count; ++k) {
        files.streamed += files.rows[k].bytes - place_of(files, files.rows[k], files.done, planes);
    }
    give_up_all(files);
}

// Rows of the planes [low, high) of a grown domain, as far as it has them; those outside of the domain are planes too.
template <int D> inline Span rows_of_planes(const Shape<D>& shape, const Margins<D>& grown, int64_t low, int64_t high) {
    int64_t rows = 1;
    for (int k = 1; k + 1 < D; ++k) rows *= shape.extents[k] + grown.sides[k][0] + grown.sides[k][1];
    const int64_t below = grown.sides[0][0], planes = below + shape.extents[0] + grown.sides[0][1];
    const int64_t first = at_most(at_least(low + below, 0), planes);
    return {first * rows, at_least(at_most(high + below, planes), first) * rows};
}

// body(first row, row after the last) for parts of some rows, of planes that are in memory.
template <class Body> inline void share_rows(Team& team, int rank, int member, const Span& rows, const Body& body) {
    const int64_t tall = at_least(divide_up(rows.high - rows.low, 8 * int64_t(team.size)), 16);
    share(team, rank, member, divide_up(rows.high - rows.low, tall), [&](int64_t task) {
        const int64_t first = rows.low + task * tall;
        body(first, at_most(first + tall, rows.high));
    }, &team);  // which is no array: nothing of files is asked for or given up
}

// Of arrays in files, by one thread after window `at`: its planes go to the disk. first(window) is the first plane that a
// window touches, end(window) the one after its last.
template <class First, class End>
inline void leave_window(
    Files* files, const Windows& windows, int64_t at, int64_t planes, const First& first, const End& end) {
    if (files == nullptr) return;
    if (at + 1 < windows.count) {
        pass_window(*files, planes, first(at + 1), end(at + 1), end(at + 2));
    } else {  // the rest comes next, which has planes at both ends
        pass_window(*files, planes, first(at + 1), 0, planes - first(at + 1));
    }
}

// Before the first window, by one thread: what other loops have left is given up.
template <class End> inline void begin_windows(Files* files, int64_t planes, const End& end) {
    if (files == nullptr) return;
    if (files->touched > 0) give_up_all(*files);
    ask_for_planes(*files, planes, 0, end(1));
}

// The levels of a tile in the order in which they run, with their planes along the wave axis. A ring is cut: what its
// chunks leave over at both ends is a wedge, done in the end.
template <class Body>
inline void wave(
    int64_t planes, int64_t skew, int64_t chunk, const Span& levels, bool ring, const Window& window, const Body& body) {
    const int64_t most = (levels.high - levels.low - 1) * skew;
    const bool is_all = window.size <= 0;
    if (is_all && (chunk >= planes || (ring && 2 * most > planes))) {  // no reason to cut, no room for a wedge
        for (int64_t level = levels.low; level < levels.high; ++level) body(level, Span{0, planes});
        return;
    }
    const int64_t whole = is_all ? levels.low : 0;  // the level that a ring is cut at without a wedge
    const int64_t begin = is_all ? 0 : window.number * window.size - levels.low * skew;
    const int64_t end = window.rest ? 0 : at_most(is_all ? planes + most : begin + window.size, planes + most);
    for (int64_t start = at_least(begin, 0); start < end; start += chunk) {
        const int64_t stop = at_most(start + chunk, end);
        for (int64_t level = levels.low; level < levels.high; ++level) {
            const int64_t lag = (level - levels.low) * skew, left = ring ? (level - whole) * skew : 0;
            const Span part = {at_least(start - lag, left), at_most(stop - lag, planes - left)};
            if (part.low < part.high) body(level, part);
        }
    }
    if (!ring || !(is_all || window.rest)) return;
    for (int64_t level = levels.low; level < levels.high; ++level) {
        const int64_t lag = at_most((level - whole) * skew, planes), right = at_least(planes - lag, lag);
        if (right < planes) body(level, Span{right, planes});
        if (lag > 0) body(level, Span{0, lag});
    }
}

// The rows of a tile with those around them that the next level reads.
inline Span rows_around(const Lattice& lattice, int64_t band, int64_t tile, int64_t level) {
    const Span rows = lattice.rows_of(band, tile, level);
    if (rows.low >= rows.high) return {0, 0};
    return {at_least(rows.low - lattice.slope, 0), at_most(rows.high + lattice.slope, lattice.rows)};
}

// Adds what the levels of a tile touch first when they come to the planes after these, which the first one computes: its
// rows, and of each further one those beyond the rows of the levels before it. Returns how many rows a plane has of all.
inline int64_t add_next(
    const Lattice& lattice, int64_t band, int64_t tile, int64_t skew, const Span& planes, int64_t all, Ahead& ahead) {
    const Span levels = lattice.levels(band);
    Span known = {0, 0};
    int64_t computed = 0;
    for (int64_t level = levels.low; level < levels.high; ++level) {
        const Span rows = lattice.rows_of(band, tile, level), around = rows_around(lattice, band, tile, level);
        if (around.low >= around.high) continue;
        if (known.low >= known.high) known = {around.low, around.low};
        const int64_t first = planes.high + skew - (level - levels.low) * skew;
        const Span next = {at_least(first, 0), at_most(first + planes.high - planes.low, all)};
        ahead.add(next, {around.low, at_most(known.low, around.high)});
        ahead.add(next, {at_least(known.high, around.low), around.high});
        known = {at_most(known.low, around.low), at_least(known.high, around.high)};
        computed += rows.high - rows.low;
    }
    return computed;
}

// The boxes of one tile: diamonds along axis DIAMOND, a wave along axis WAVE (-1 for none, CUT if it is a ring), other
// axes whole. window: of planes along the wave axis. ahead: arrays that are fetched where the wave goes over planes of
// whole rows, null for none.
template <int DIAMOND, int WAVE, bool CUT, int D, class Body>
inline void for_tile(
    const Shape<D>& shape, const Lattice& lattice, int64_t band, int64_t tile, int64_t skew, int64_t chunk,
    const Window& window, Ahead* ahead, const Body& body) {
    Box<D> box;
    box.ahead = ahead;
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
        if (D == 3 && WAVE == 0 && DIAMOND == 1 && ahead && level == lattice.levels(band).low) {
            ahead->clear();
            int64_t rows = add_next(lattice, band, tile, skew, planes, shape.extents[0], *ahead);
            if (both) rows += add_next(lattice, band, lattice.spaces, skew, planes, shape.extents[0], *ahead);
            ahead->begin(rows * (planes.high - planes.low));
        }
        of_rows(level, lattice.rows_of(band, tile, level), planes);
        if (both) of_rows(level, lattice.rows_of(band, lattice.spaces, level), planes);
    };
    if (WAVE < 0) {
        wave(1, 0, 1, lattice.levels(band), false, window, part);
    } else {
        wave(shape.extents[WAVE < 0 ? 0 : WAVE], skew, chunk, lattice.levels(band), CUT, window, part);
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
