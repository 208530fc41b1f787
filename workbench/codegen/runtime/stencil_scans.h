// Scans and folds of segments in the canonical order: runs of 32 cells, chunks of 1024, trees over what comes before.
#ifndef STENCIL_SCANS_H
#define STENCIL_SCANS_H

#include "stencil_folds.h"

namespace stencil {

constexpr int RUN = 32;  // cells of a chunk that are combined one after the other, counted by global index

// The tree over the leaves so far, of W lines side by side: complete subtrees, the larger ones of earlier leaves first.
template <class T, int W> class Prefix {
    T kept[DEEPEST][W];
    int64_t leaves = 0;
    int depth = 0;

   public:
    bool empty() const { return depth == 0; }
    void clear() { leaves = depth = 0; }

    template <class Combine> void add(const T* leaf, const Combine& combine) {
        for (int w = 0; w < W; ++w) kept[depth][w] = leaf[w];
        ++depth;
        for (int64_t n = ++leaves; n % 2 == 0; n /= 2, --depth) {
            for (int w = 0; w < W; ++w) kept[depth - 2][w] = combine(kept[depth - 2][w], kept[depth - 1][w]);
        }
    }

    // What is carried up joins its left neighbour, the last first.
    template <class Combine> void root(T* result, const Combine& combine) const {
        for (int w = 0; w < W; ++w) result[w] = kept[depth - 1][w];
        for (int k = depth - 2; k >= 0; --k) {
            for (int w = 0; w < W; ++w) result[w] = combine(kept[k][w], result[w]);
        }
    }
};

// What a line has in each chunk: the first pass finds it, the second one begins each part of a line with those before.
template <class T> struct Totals {
    T* chunks;  // null for a line that is scanned as a whole
    bool first_pass;
};

// W lines of n cells side by side, the cells [low, high) of them: load(cell, values) and store(cell, results) for each
// cell in the order of the scan. Parts of a line begin and end with chunks.
template <int W, bool reverse, bool exclusive, class T, class Combine, class Load, class Store>
inline void scan_lines(
    int64_t n, int64_t low, int64_t high, int64_t origin, const Totals<T>& totals, T identity, const Combine& combine,
    const Load& load, const Store& store) {
    Prefix<T, W> chunks, runs;
    T values[W], so_far[W], before[W], results[W], last[W];
    for (int w = 0; w < W; ++w) last[w] = identity;
    if (totals.chunks && !totals.first_pass) {
        const int64_t all = divide_up(n, CHUNK), past = reverse ? all - divide_up(high, CHUNK) : low / CHUNK;
        for (int64_t c = 0; c < past; ++c) chunks.add(totals.chunks + (reverse ? all - 1 - c : c), combine);
    }
    const int64_t stop = reverse ? n - low : high;
    for (int64_t done = reverse ? n - high : low; done < stop;) {
        const int64_t first = origin + (reverse ? n - 1 - done : done);  // by global index
        const int64_t in_run = reverse ? first % RUN + 1 : RUN - first % RUN, end = at_most(done + in_run, stop);
        const bool follows = !totals.first_pass && (!runs.empty() || !chunks.empty());
        if (follows && !runs.empty()) {
            runs.root(before, combine);
            if (!chunks.empty()) {
                chunks.root(results, combine);
                for (int w = 0; w < W; ++w) before[w] = combine(results[w], before[w]);
            }
        } else if (follows) {
            chunks.root(before, combine);
        }
        for (int64_t begin = done; done < end; ++done) {
            const int64_t cell = reverse ? n - 1 - done : done;
            load(cell, values);
            for (int w = 0; w < W; ++w) so_far[w] = done == begin ? values[w] : combine(so_far[w], values[w]);
            if (totals.first_pass) continue;
            for (int w = 0; w < W; ++w) {
                results[w] = follows ? combine(before[w], so_far[w]) : so_far[w];
            }
            store(cell, exclusive ? last : results);
            for (int w = 0; w < W; ++w) last[w] = results[w];
        }
        runs.add(so_far, combine);
        if ((reverse ? first + 1 - in_run : first + in_run) % CHUNK == 0) {  // that of the last chunk is not needed
            runs.root(so_far, combine);
            if (totals.first_pass) totals.chunks[(first - origin) / CHUNK] = so_far[0];
            chunks.add(so_far, combine);
            runs.clear();
        }
    }
}

// The cells [low, high) of one line, of an operator that gives the same bits in any order: one after the other.
template <bool reverse, bool exclusive, class T, class Combine, class Load, class Store>
inline void scan_freely(
    int64_t n, int64_t low, int64_t high, const Totals<T>& totals, T identity, const Combine& combine, const Load& load,
    const Store& store) {
    T so_far = identity, value;
    if (totals.chunks && !totals.first_pass) {
        const int64_t all = divide_up(n, CHUNK), past = reverse ? all - divide_up(high, CHUNK) : low / CHUNK;
        for (int64_t c = 0; c < past; ++c) so_far = combine(so_far, totals.chunks[reverse ? all - 1 - c : c]);
    }
    const int64_t stop = reverse ? n - low : high;
    for (int64_t done = reverse ? n - high : low; done < stop;) {
        const int64_t first = reverse ? n - 1 - done : done;
        const int64_t end = at_most(done + (reverse ? first % CHUNK + 1 : CHUNK - first % CHUNK), stop);
        if (totals.first_pass) {
            so_far = identity;
            for (; done < end; ++done) {
                load(reverse ? n - 1 - done : done, &value);
                so_far = combine(so_far, value);
            }
            totals.chunks[first / CHUNK] = so_far;
            continue;
        }
        for (; done < end; ++done) {
            const int64_t cell = reverse ? n - 1 - done : done;
            load(cell, &value);
            const T next = combine(so_far, value);
            store(cell, exclusive ? &so_far : &next);
            so_far = next;
        }
    }
}

// Lines along one axis as tasks: W of them side by side along the last axis, or parts of one where that is scanned itself.
template <int D> struct Lines {
    Shape<D> shape;
    int axis;
    int64_t rows, x_blocks, wide;

    int64_t count() const { return rows * x_blocks; }
    Box<D> operator[](int64_t task) const {
        Box<D> box;
        box.low[D - 1] = task % x_blocks * wide;
        box.high[D - 1] = at_most(box.low[D - 1] + wide, shape.extents[D - 1]);
        int64_t number = task / x_blocks;
        for (int k = D - 2; k >= 0; --k) {
            if (k == axis) {
                box.low[k] = 0;
                box.high[k] = shape.extents[k];
                continue;
            }
            box.low[k] = number % shape.extents[k];
            box.high[k] = box.low[k] + 1;
            number /= shape.extents[k];
        }
        return box;
    }
};

// `parts`: whether lines may be cut, as they are where there are few of them.
template <int D> inline Lines<D> cut_lines(const Shape<D>& shape, int axis, int64_t lanes, int threads, bool parts) {
    Lines<D> lines = {shape, axis, 1, 1, shape.extents[D - 1]};
    for (int k = 0; k + 1 < D; ++k) lines.rows *= k == axis ? 1 : shape.extents[k];
    if (axis + 1 < D) {
        lines.wide = lanes;
        lines.x_blocks = divide_up(shape.extents[D - 1], lanes);
    } else if (parts && threads > 1 && lines.rows < 4 * threads) {
        const int64_t chunks = divide_up(shape.extents[D - 1], CHUNK);
        lines.wide = divide_up(chunks, divide_up(4 * int64_t(threads), lines.rows)) * CHUNK;
        lines.x_blocks = divide_up(shape.extents[D - 1], lines.wide);
    }
    return lines;
}

// One segment of `length` cells: chunk(low, high) for each of its chunks, counted from its own start.
template <class T, class Combine, class Chunk>
inline T fold_segment(int64_t length, T identity, const Combine& combine, const Chunk& chunk) {
    if (length == 0) return identity;
    if (length <= CHUNK) return chunk(0, length);
    Prefix<T, 1> trees;
    for (int64_t low = 0; low < length; low += CHUNK) {
        const T lane = chunk(low, at_most(low + CHUNK, length));
        trees.add(&lane, combine);
    }
    T result;
    trees.root(&result, combine);
    return result;
}

}  // namespace stencil

#endif
