// Folds over some axes in the canonical order: for each kept cell a lane for each chunk of the last folded axis, then trees.
#ifndef STENCIL_FOLDS_H
#define STENCIL_FOLDS_H

#include "stencil_rows.h"

namespace stencil {

constexpr int DEEPEST = 48;  // complete subtrees of a tree at a time: one more than it takes for 2^47 leaves

// What a chunk has so far, for W kept cells side by side: by itself, so that a compiler may keep it in registers.
template <class T, int W> struct Leaf {
    T cells[W];

    Leaf() {}
    explicit Leaf(T identity) {
        for (int w = 0; w < W; ++w) cells[w] = identity;
    }
    T& operator[](int64_t w) { return cells[w]; }
    T operator[](int64_t w) const { return cells[w]; }
};

// Of records: an array for each part, so that loops over cells are vectorised.
template <class A, class B, int W> struct Leaf<pair_of<A, B>, W> {
    Leaf<A, W> first;
    Leaf<B, W> second;

    struct Place {
        Leaf& leaf;
        int64_t w;

        operator pair_of<A, B>() const { return {leaf.first[w], leaf.second[w]}; }
        void operator=(const pair_of<A, B>& value) const {
            leaf.first[w] = value.first;
            leaf.second[w] = value.second;
        }
    };

    Leaf() {}
    explicit Leaf(const pair_of<A, B>& identity) : first(identity.first), second(identity.second) {}
    Place operator[](int64_t w) { return {*this, w}; }
    pair_of<A, B> operator[](int64_t w) const { return {first[w], second[w]}; }
};

// A number known to the compiler.
template <int64_t N> struct Constant {
    constexpr operator int64_t() const { return N; }
};

// Kept cells [low, high), W of them at a time: each(first, count), where the count is a constant but for the rest.
template <int W, class Each> inline void for_lanes(int64_t low, int64_t high, const Each& each) {
    for (; high - low >= W; low += W) each(low, Constant<W>{});
    if (low < high) each(low, high - low);
}

// The same of a fold, whose results may be made twice: where few cells are side by side, the last W take the place of a rest.
template <int W, bool FEW = W <= LANES, class Each> inline void for_kept(int64_t low, int64_t high, const Each& each) {
    if (FEW && high - low >= W) {
        for (; low < high; low += W) each(at_most(low, high - W), Constant<W>{});
    } else {
        for_lanes<W>(low, high, each);
    }
}

// Kept cells of one of several rows that a loop takes together: so many that their sums, what is read for all rows and what
// is read for one of them are in registers, which hold 64 bytes or 32. Four rows have 16 vectors of 32, or 12 of 16.
#if defined(__AVX512F__)
template <class T> constexpr int lanes_together = 256 / (sizeof(T) < 4 ? 4 : sizeof(T));
#else
template <class T> constexpr int lanes_together = 96 / (sizeof(T) < 4 ? 4 : sizeof(T));
#endif
// As many cells of a task as whole such lanes have.
template <class T> constexpr int64_t whole_lanes(int64_t most) { return most / lanes_together<T> * lanes_together<T>; }
// Rows that go through the same lanes one after another, so that what they share stays in a near cache.
constexpr int64_t ROWS_AT_A_TIME = 128;

// The trees of W kept cells side by side, one for each of Q folded axes. Leaves come in order; of what is done so far a
// tree keeps the complete subtrees, as a binary counter keeps its digits: the larger ones of earlier leaves come first.
template <class T, int Q, int W> class Trees {
    Leaf<T, W> kept[Q][DEEPEST];
    int64_t leaves[Q] = {};
    int depth[Q] = {};

    template <class Combine> static void join(Leaf<T, W>& left, const Leaf<T, W>& right, const Combine& combine) {
#pragma omp simd
        for (int w = 0; w < W; ++w) left[w] = combine(left[w], right[w]);
    }

    // The leaf above the others now belongs to the tree of axis q.
    template <class Combine> void count(int q, const Combine& combine) {
        int& top = depth[q];
        ++top;
        for (int64_t n = ++leaves[q]; n % 2 == 0; n /= 2, --top) join(kept[q][top - 2], kept[q][top - 1], combine);
    }

   public:
    // The next leaf of the last axis.
    template <class Combine> void add(const Leaf<T, W>& leaf, const Combine& combine) {
        Leaf<T, W>& cells = kept[Q - 1][depth[Q - 1]];
        for (int w = 0; w < W; ++w) cells[w] = leaf[w];
        count(Q - 1, combine);
    }

    // All leaves of axis q are there: what is carried up joins its left neighbour, the last first. The root is a leaf of
    // the tree of the axis before.
    template <class Combine> void close(int q, const Combine& combine) {
        for (int k = depth[q] - 1; k > 0; --k) join(kept[q][k - 1], kept[q][k], combine);
        leaves[q] = 0;
        depth[q] = 0;
        if (q == 0) return;
        Leaf<T, W>& leaf = kept[q - 1][depth[q - 1]];
        const Leaf<T, W>& root = kept[q][0];
        for (int w = 0; w < W; ++w) leaf[w] = root[w];
        count(q - 1, combine);
    }

    const Leaf<T, W>& result() const { return kept[0][0]; }
};

// The folded cells of one kept cell in order: chunk(low, high) for each chunk of the last folded axis, with the indices
// along the others set in `at`, and close(q) after the last cell of folded axis q.
template <int Q, int D, class Chunk, class Close>
inline void for_folded(
    const Shape<D>& shape, const int (&folded)[Q], int64_t (&at)[D], const Chunk& chunk, const Close& close) {
    for (int q = 0; q + 1 < Q; ++q) at[folded[q]] = 0;
    const int64_t n = shape.extents[folded[Q - 1]], origin = shape.origin[folded[Q - 1]];
    for (;;) {
        for (int64_t low = 0, high; low < n; low = high) {
            high = at_most(((origin + low) / CHUNK + 1) * CHUNK - origin, n);
            chunk(low, high);
        }
        int q = Q - 1;
        close(q);
        while (q > 0 && ++at[folded[q - 1]] == shape.extents[folded[q - 1]]) {
            at[folded[--q]] = 0;
            close(q);
        }
        if (q == 0) return;
    }
}

// Cells of a row from which on it is folded by itself, where its operator takes equal values any number of times.
constexpr int64_t LONG_ROW = 64;
// After its first 16 cells such a row goes on where its last 16 end it; cells are taken twice, but never before earlier ones.
inline int64_t first_again(int64_t high) { return high % LANES ? high % LANES : LANES; }

// What a lane for each 16th cell of a row makes of minimum, maximum, "and" or "or".
template <class T, class Combine> class RowLanes {
    LaneValues<T> all;
    T made;

   public:
    explicit RowLanes(T identity) : all(identity), made(identity) {}
    void take(const T (&cells)[LANES]) { all.take(cells, Combine()); }

    // Whether the result is known: not where some lanes end with 0 and some with -0, of which the last cell's is right.
    bool close() {
        const T(&lanes)[LANES] = all.lanes;
        all.close(Combine());
        made = lanes[0];
        for (int l = 1; l < LANES; ++l) made = Combine()(made, lanes[l]);
        if constexpr (is_float<T>::value) {
            if (made != T(0)) return true;
            int zeros = 0, negative = 0;
            for (int l = 0; l < LANES; ++l) {
                zeros += lanes[l] == T(0);
                negative += lanes[l] == T(0) && STENCIL_MATH copysign(T(1), lanes[l]) < T(0);
            }
            return negative == 0 || negative == zeros;
        }
        return true;
    }
    T result() const { return made; }
};

// The rows of folded cells of one kept cell, whose indices are set in `at`: each(row, its number of cells).
template <int Q, int D, class Each>
inline void for_rows(const Shape<D>& shape, const int (&folded)[Q], int64_t (&at)[D], const Each& each) {
    int64_t rows = 1;
    for (int q = 0; q + 1 < Q; ++q) {
        at[folded[q]] = 0;
        rows *= shape.extents[folded[q]];
    }
    for (; rows > 0; --rows) {
        each(row_of(shape, at), shape.extents[D - 1]);
        for (int q = Q - 2; q >= 0 && ++at[folded[q]] == shape.extents[folded[q]]; --q) at[folded[q]] = 0;
    }
}

// The kept cells as tasks: rows of them, cut into runs of lanes side by side.
template <int D> struct Lanes {
    int64_t rows, tall, row_blocks, wide, x_blocks, low, high;

    int64_t count() const { return row_blocks * x_blocks; }
    Block operator[](int64_t task) const {
        const int64_t r = task / x_blocks, x = task % x_blocks;
        const int64_t row = r * tall, first = low + x * wide;
        return {row, at_most(row + tall, rows), first, at_most(first + wide, high)};
    }
};

// At least four tasks a thread, if need be of fewer lanes, but of 16 where there are as many. A task has a multiple of
// the rows that a loop takes together.
template <int D>
STENCIL_PROCEDURE Lanes<D> cut_lanes(
    const Shape<D>& shape, const Margins<D>& grown, int threads, int64_t most, int64_t together = 1) {
    Lanes<D> lanes;
    lanes.rows = 1;
    for (int k = 0; k + 1 < D; ++k) lanes.rows *= shape.extents[k] + grown.sides[k][0] + grown.sides[k][1];
    lanes.low = -grown.sides[D - 1][0];
    lanes.high = shape.extents[D - 1] + grown.sides[D - 1][1];
    const int64_t width = lanes.high - lanes.low, wanted = 4 * int64_t(threads);
    const int64_t each = divide_up(width, divide_up(wanted, lanes.rows));
    lanes.wide = threads == 1 ? most : at_most(divide_up(each, 16) * 16, most);
    lanes.x_blocks = divide_up(width, lanes.wide);
    lanes.tall = threads == 1 ? lanes.rows : at_least(lanes.rows * lanes.x_blocks / (16 * wanted), 1);
    lanes.tall = at_most(divide_up(lanes.tall, together) * together, lanes.rows);
    lanes.row_blocks = divide_up(lanes.rows, lanes.tall);
    return lanes;
}

}  // namespace stencil

#endif
