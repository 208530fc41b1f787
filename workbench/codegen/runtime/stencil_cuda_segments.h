// Folds of segments on a CUDA device, in the canonical order. Where the segments of a block lie one after another, the
// block reads their cells together, neighbours by neighbours, and threads add from shared memory (the CSR-stream of
// Greathouse and Daga, SC 2014): a thread a segment of one chunk at most, and all of them one of several, a chunk each.
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

// How many neighbouring segments a block does at a time: about as many as have the cells of one part together, so that
// there are blocks enough where segments are long, and at most one a thread.
template <class T> STENCIL_FUNCTION Index segments_of_block(int64_t segments, int64_t cells) {
    const int64_t average = segments > 0 ? cells / segments : 0;
    const int64_t wanted = average > 1 ? StreamedCells<T>::COUNT / average : StreamedCells<T>::COUNT;
    return wanted < 1 ? 1 : wanted < int64_t(blockDim.x) ? Index(wanted) : Index(blockDim.x);
}

// What is left of a segment, [next, end), of which the cells of one part after the other are known; lane: what it has.
template <class T> struct StreamedSegment {
    int64_t next, end;
    T lane;

    STENCIL_FUNCTION bool is_long() const { return end - next > CHUNK; }

    // Its cells among those from `low` to `high`, which lie in `cells`. A segment that lies before is of lengths that do
    // not fit, which is noted.
    template <class Cells, class Combine>
    STENCIL_FUNCTION void take(const Cells& cells, int64_t low, int64_t high, const Combine& combine) {
        const int64_t most = end < high ? end : high;
        if (next < low || next >= most) return;
        const int stop = int(most - low);
        for (int k = int(next - low); k < stop; ++k) {
            const T value = cells[StreamedCells<T>::place(k)];
            lane = combine(lane, value);
        }
        next = most;
    }
};

// Cells from `first` to `last`, part by part, for the threads whose short segments lie there.
template <class T, class Cells, class Combine, class Value>
STENCIL_FUNCTION void stream_cells(
    Cells& cells, int64_t first, int64_t last, StreamedSegment<T>& segment, const Combine& combine, const Value& value_at) {
    for (int64_t low = first; low < last; low += StreamedCells<T>::COUNT) {
        const int count = last - low < StreamedCells<T>::COUNT ? int(last - low) : StreamedCells<T>::COUNT;
        for (int k = int(threadIdx.x); k < count; k += int(blockDim.x)) {
            const T value = value_at(Index(low + k));
            cells[StreamedCells<T>::place(k)] = value;
        }
        stencil::barrier();
        segment.take(cells, low, low + count, combine);
        stencil::barrier();
    }
}

// The cells from `begin` to `end`, more than one chunk, by all threads of a block: a thread adds a chunk, and the block
// reads 32 cells of each of these chunks at a time. Chunks are taken in groups of a power of two, whose tree is a
// complete subtree; the threads of `is_owner` put the groups together. Others get the identity.
template <class T, class Cells, class Combine, class Value>
STENCIL_FUNCTION T fold_long(
    Cells& cells, bool is_owner, int64_t begin, int64_t end, const T identity, const Combine& combine,
    const Value& value_at) {
    constexpr int WIDTH = 32, ROW = WIDTH + 1;
    const int thread = int(threadIdx.x), threads = int(blockDim.x);
    int group = 1;
    while (2 * group <= threads && 2 * group * WIDTH <= StreamedCells<T>::COUNT) group *= 2;
    Prefix<T> trees;
    for (int64_t start = begin; start < end; start += group * CHUNK) {
        const int cells_left = end - start < group * CHUNK ? int(end - start) : group * CHUNK;
        const int chunks = (cells_left + CHUNK - 1) / CHUNK, own = cells_left - thread * CHUNK;
        const int length = own < CHUNK ? own : CHUNK;
        T lane = identity;
        for (int low = 0; low < CHUNK; low += WIDTH) {
            for (int k = thread; k < chunks * WIDTH; k += threads) {
                const int cell = k / WIDTH * CHUNK + low + k % WIDTH;
                if (cell < cells_left) {
                    const T value = value_at(Index(start + cell));
                    cells[k / WIDTH * ROW + k % WIDTH] = value;
                }
            }
            stencil::barrier();
            if (thread < chunks) {
                const int count = length - low < WIDTH ? length - low : WIDTH;
                for (int k = 0; k < count; ++k) {
                    const T value = cells[thread * ROW + k];
                    lane = combine(lane, value);
                }
            }
            stencil::barrier();
        }
        if (thread < chunks) cells[thread] = lane;
        stencil::barrier();
        for (int reach = 1; reach < chunks; reach *= 2) {
            if (thread % (2 * reach) == 0 && thread + reach < chunks) {
                const T above = cells[thread + reach];
                lane = combine(lane, above);
                cells[thread] = lane;
            }
            stencil::barrier();
        }
        if (is_owner) {
            const T whole = cells[0];
            trees.add(whole, combine);
        }
        stencil::barrier();
    }
    return is_owner ? trees.root(combine) : identity;
}

// The result of this thread's segment [begin, end), if it has one; value_at(cell) is the value of a cell. All threads of
// a block take part; the first of them have segments, which lie one after another. In shared memory: ends, where those
// that have the first and the last segment leave where these begin and end; waiting, the first that has a long segment.
template <class T, class Cells, class Ends, class Waiting, class Combine, class Value>
STENCIL_FUNCTION T fold_streamed(
    Cells& cells, Ends& ends, Waiting& waiting, bool is_first, bool is_last, int64_t begin, int64_t end,
    const T identity, const Combine& combine, const Value& value_at) {
    const unsigned thread = threadIdx.x, none = blockDim.x;
    StreamedSegment<T> segment = {begin, end, identity};
    if (is_first) ends[0] = begin, waiting[0] = none;
    if (is_last) ends[1] = end;
    stencil::barrier();
    int64_t low = ends[0];
    const int64_t last = ends[1];
    for (;;) {
        if (segment.is_long()) atomicMin(&waiting[0], thread);
        stencil::barrier();
        const unsigned owner = waiting[0];
        if (thread == owner) ends[0] = segment.next, ends[1] = segment.end;
        stencil::barrier();  // the next tile's ends and owners are written behind it, too, where no part follows
        stream_cells(cells, low, owner == none ? last : ends[0], segment, combine, value_at);
        if (owner == none) break;
        low = ends[1];
        if (thread == owner) waiting[0] = none;
        const T whole = fold_long<T>(cells, thread == owner, ends[0], low, identity, combine, value_at);
        if (thread == owner) segment.lane = whole, segment.next = low;
    }
    return segment.lane;
}

}  // namespace stencil

#endif
