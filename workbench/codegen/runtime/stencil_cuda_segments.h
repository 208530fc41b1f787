// Folds of segments on a CUDA device: a thread does a segment, in the canonical order. Where the segments of a block lie
// one after another, the block reads their cells together, neighbours by neighbours, and threads add from shared memory
// (the CSR-stream of Greathouse and Daga, SC 2014, but that a long segment goes on in the next part).
#ifndef STENCIL_CUDA_SEGMENTS_H
#define STENCIL_CUDA_SEGMENTS_H

#include "stencil_cuda_folds.h"

namespace stencil {

// The tree over the leaves so far: complete subtrees, the larger ones of earlier leaves first.
template <class T> class Prefix {
    T kept[DEEPEST];
    int64_t leaves = 0;
    int depth = 0;

   public:
    STENCIL_FUNCTION bool empty() const { return depth == 0; }

    template <class Combine> STENCIL_FUNCTION void add(T leaf, const Combine& combine) {
        for (int64_t n = ++leaves; n % 2 == 0; n /= 2) {
            const T left = kept[--depth];
            leaf = combine(left, leaf);
        }
        kept[depth++] = leaf;
    }

    // What is carried up joins its left neighbour, the last first.
    template <class Combine> STENCIL_FUNCTION T root(const Combine& combine) const {
        T result = kept[depth - 1];
        for (int k = depth - 2; k >= 0; --k) {
            const T left = kept[k];
            result = combine(left, result);
        }
        return result;
    }
};

// Cells that a block reads together: 16 KiB of them. One place in 33 is left free, so that threads whose segments are as
// long as a power of two read from several banks.
template <class T> struct StreamedCells {
    static constexpr int COUNT = sizeof(T) < 256 ? 16384 / int(sizeof(T)) : 64;
    static constexpr int PLACES = COUNT + COUNT / 32;

    STENCIL_FUNCTION static int place(int64_t number) { return int(number) + int(number) / 32; }
};

// The segment [begin, end) of a thread, of which the cells of one part after the other are known.
template <class T> struct StreamedSegment {
    int64_t begin, end, next;
    T lane;
    Prefix<T> trees;

    STENCIL_FUNCTION StreamedSegment(int64_t first, int64_t last, T identity)
        : begin(first), end(last), next(first), lane(identity) {}

    // Its cells among those from `low` to `high`, which lie in `cells`. A segment that lies before is of lengths that do
    // not fit, which is noted.
    template <class Cells, class Combine>
    STENCIL_FUNCTION void take(const Cells& cells, int64_t low, int64_t high, T identity, const Combine& combine) {
        const int64_t most = end < high ? end : high;
        while (next >= low && next < most) {
            const int64_t chunk_end = begin + ((next - begin) / CHUNK + 1) * CHUNK, stop = chunk_end < most ? chunk_end : most;
            for (; next < stop; ++next) {
                const T value = cells[StreamedCells<T>::place(next - low)];
                lane = combine(lane, value);
            }
            if (next == chunk_end) close(identity, combine);
        }
    }

    template <class Combine> STENCIL_FUNCTION T result(T identity, const Combine& combine) {
        if ((next - begin) % CHUNK != 0) close(identity, combine);
        return trees.empty() ? identity : trees.root(combine);
    }

   private:
    template <class Combine> STENCIL_FUNCTION void close(T identity, const Combine& combine) {
        trees.add(lane, combine);
        lane = identity;
    }
};

// The result of this thread's segment [begin, end), if it has one; value_at(cell) is the value of a cell. All threads of a
// block take part, and their segments lie one after another. ends: two numbers in shared memory, where the first and the
// last of those that have a segment leave where it begins and ends.
template <class T, class Cells, class Ends, class Combine, class Value>
STENCIL_FUNCTION T fold_streamed(
    Cells& cells, Ends& ends, bool is_first, bool is_last, int64_t begin, int64_t end, const T identity,
    const Combine& combine, const Value& value_at) {
    const int threads = int(blockDim.x * blockDim.y), thread = int(threadIdx.y * blockDim.x + threadIdx.x);
    if (is_first) ends[0] = begin;
    if (is_last) ends[1] = end;
    stencil::barrier();
    const int64_t first = ends[0], last = ends[1];
    stencil::barrier();  // where no part follows, threads that are done would write the next ends before others read these
    StreamedSegment<T> segment(begin, end, identity);
    for (int64_t low = first; low < last; low += StreamedCells<T>::COUNT) {
        const int64_t high = last - low < StreamedCells<T>::COUNT ? last : low + StreamedCells<T>::COUNT;
        for (int64_t cell = low + thread; cell < high; cell += threads) {
            const T value = value_at(Index(cell));
            cells[StreamedCells<T>::place(cell - low)] = value;
        }
        stencil::barrier();
        segment.take(cells, low, high, identity, combine);
        stencil::barrier();
    }
    return segment.result(identity, combine);
}

}  // namespace stencil

#endif
