// Towers of DiamondTorre: which cells of which levels a tower has; `workbench.planning.schedules.torre` is the same in
// Python, and says why.
//
// A level's values after t steps that a tower may read are its cover, (a, b) with 0 <= a, b < COVER and a + b even,
// counted where they were computed. A level computes those with a, b < WIDE of the values after t + 1 steps.
#ifndef STENCIL_TORRE_H
#define STENCIL_TORRE_H

#include "stencil_cuda.h"

// Registers have no numbers at run time: loops over places are unrolled on a device.
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define STENCIL_UNROLL _Pragma("unroll")
#else
#define STENCIL_UNROLL
#endif

namespace stencil {

// A row of towers: p = first + blockIdx.x and q = number - p; the cells of axis 0 at level t are low + low_lean t <= x <
// high + high_lean t. Cuts repeat: `many` of them in `period` cells. A Globals block has `words` words.
struct Stage {
    int64_t number, first, levels, low, low_lean, high, high_lean, many, period, words;
};

// The Globals block of one level, of as many as a move has, one behind the other.
struct LevelGlobals {
    array<const uint64_t> blocks;
    int64_t first;
};
template <class T> STENCIL_FUNCTION T read_global(const LevelGlobals& globals, int slot) {
    const uint64_t word = globals.blocks[globals.first + slot];
    T value;
    memcpy(&value, &word, sizeof value);
    return value;
}

template <bool B> struct Flag {
    static constexpr bool value = B;
};
template <int N> struct Turn {
    static constexpr int value = N;
};

template <int REACH, int SIZE, bool RING_X, bool RING_Y> struct Tower {
    static constexpr int WIDE = 2 * REACH * SIZE, COVER = WIDE + 2 * REACH;
    static constexpr int CELLS = WIDE * WIDE / 2, COVERED = COVER * COVER / 2;

    Index x, y, wide_a, wide_b, levels, rows, columns, low, low_lean, high, high_lean;
    Index below_x, above_x, below_y, above_y, start, stride_x, stride_y;

    static STENCIL_FUNCTION Index cut(const Stage& stage, int64_t number) {
        const int64_t turns = (number >= 0 ? number : number - stage.many + 1) / stage.many;
        return Index(turns * stage.period + (number - turns * stage.many) * WIDE);
    }

    STENCIL_FUNCTION Tower(const Shape<3>& shape, const Stage& stage, const Margins<3>& around) {
        const int64_t p = stage.first + blockIdx.x, q = stage.number - p;
        const Index u = cut(stage, p), v = cut(stage, q);
        wide_a = cut(stage, p + 1) - u;
        wide_b = cut(stage, q + 1) - v;
        levels = Index(stage.levels);
        rows = Index(shape.extents[0]);
        columns = Index(shape.extents[1]);
        x = (u + v) / 2;
        y = (u - v) / 2;
        if (RING_Y) y = ((y % columns) + columns) % columns;
        low = Index(stage.low);
        low_lean = Index(stage.low_lean);
        high = Index(stage.high);
        high_lean = Index(stage.high_lean);
        below_x = RING_X ? REACH : around.sides[0][0];
        above_x = RING_X ? REACH : around.sides[0][1];
        below_y = around.sides[1][0];
        above_y = around.sides[1][1];
        start = Index(shape.start);
        stride_x = Index(shape.strides[0]);
        stride_y = Index(shape.strides[1]);
    }

    // Where registers hold the cell (a, b) of a cover, and the cell of a level by its number.
    static constexpr STENCIL_FUNCTION int place(int a, int b) { return (a * COVER + b) / 2; }
    static constexpr STENCIL_FUNCTION int a_of(int cell) { return cell / (WIDE / 2); }
    static constexpr STENCIL_FUNCTION int b_of(int cell) { return cell % (WIDE / 2) * 2 + a_of(cell) % 2; }

    STENCIL_FUNCTION Index x_of(Index level, int a, int b) const { return x + (a + b) / 2 + REACH * level; }
    STENCIL_FUNCTION Index y_of(int a, int b) const { return y + (a - b) / 2; }
    STENCIL_FUNCTION Index low_of(Index level) const { return low + low_lean * level; }
    STENCIL_FUNCTION Index high_of(Index level) const { return high + high_lean * level; }
    static STENCIL_FUNCTION Index home(Index at, Index cells) {
        return at < 0 ? at + cells : at >= cells ? at - cells : at;
    }
    STENCIL_FUNCTION Index home_x(Index level, int a, int b) const {
        return RING_X ? home(x_of(level, a, b), rows) : x_of(level, a, b);
    }
    STENCIL_FUNCTION Index home_y(int a, int b) const { return RING_Y ? home(y_of(a, b), columns) : y_of(a, b); }

    // The element of the last axis' cell 0. All cells of a whole cover lie in the domain as they are.
    template <bool WHOLE> STENCIL_FUNCTION Index element(Index level, int a, int b) const {
        const Index corner = start + x_of(level, 0, 0) * stride_x + y * stride_y;  // the same for all cells of a level
        if (WHOLE) return corner + (a + b) / 2 * stride_x + (a - b) / 2 * stride_y;
        return start + home_x(level, a, b) * stride_x + home_y(a, b) * stride_y;
    }

    STENCIL_FUNCTION bool computes(Index level, int a, int b) const {
        const Index at = x_of(level, a, b), across = y_of(a, b);
        const bool inside = RING_Y || (across >= 0 && across < columns);
        return a < wide_a && b < wide_b && at >= low_of(level) && at < high_of(level) && inside;
    }
    // Whether the level may read the cell of the level before, or the next one may as an older value.
    STENCIL_FUNCTION bool covers(Index level, int a, int b) const {
        const Index at = x_of(level - 1, a, b), across = y_of(a, b);
        const bool inside = RING_Y || (across >= -below_y && across < columns + above_y);
        const bool beside = a < wide_a + 2 * REACH && b < wide_b + 2 * REACH;
        return beside && at >= low_of(level) - below_x && at < high_of(level) + above_x && inside;
    }
    // Whether others read what the tower computes: it does not write the cell again two levels later, top levels apart.
    template <bool WHOLE> STENCIL_FUNCTION bool stores(Index level, int a, int b) const {
        if (a < 2 * REACH || b < 2 * REACH) return true;
        if (WHOLE) return false;
        const Index at = x_of(level, a, b);
        return at < low_of(level + 2) || at >= high_of(level + 2);
    }

    STENCIL_FUNCTION bool touches(Index level) const {
        const Index first = x + REACH * level;
        return low_of(level) < high_of(level) && first + WIDE > low_of(level) && first < high_of(level);
    }
    // The first level of a whole turn in which the tower may have cells.
    STENCIL_FUNCTION Index first_level() const {
        Index level = 0;
        while (level < levels && !touches(level) && !touches(level + 1)) level += 2;
        return level;
    }
    STENCIL_FUNCTION bool ends(Index level) const {
        return level >= levels || (!touches(level) && !touches(level + 1));
    }
    // Whether all that a level reads, computes and loads lies in the domain, far from the ends of a sweep.
    STENCIL_FUNCTION bool is_whole(Index level) const {
        const Index first = x + REACH * level, last = first + COVER + REACH;
        const Index half = COVER / 2;
        return wide_a == WIDE && wide_b == WIDE && y >= half && y + half < columns && first >= 0 && last < rows &&
               first >= low_of(level) && first >= low_of(level + 2) && last < high_of(level) &&
               last < high_of(level + 2);
    }
};

}  // namespace stencil
#endif
