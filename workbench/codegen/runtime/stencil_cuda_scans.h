// Scans on a CUDA device: a thread has a run of 32 cells, a team of threads a chunk, and trees join what they have.
//
// Three launches do a scan of lines of several chunks, the last of them alone one of shorter lines: what each chunk
// combines to; complete subtrees over the chunks of a line; each chunk again, which now knows what comes before it.
#ifndef STENCIL_CUDA_SCANS_H
#define STENCIL_CUDA_SCANS_H

#include "stencil_cuda_prefixes.h"

namespace stencil {

constexpr int RUN = 32;  // cells of a chunk that are combined one after the other, counted by global index
constexpr int RUNS = CHUNK / RUN;

// Cells go through shared memory where neighbours of a line are neighbours in memory, unless they are large records.
template <class T, bool across> struct ScanBlock {
    static constexpr bool TILED = !across && sizeof(T) <= 16;
    static constexpr int PITCH = RUN + 1;  // so that threads which go through their runs use no bank twice

    // Threads that a block may have at most; workbench/planning/partials.py says the same.
    STENCIL_FUNCTION static constexpr int threads() {
        int most = PART_BLOCK;
        while (most > 32 && most * int(sizeof(T)) * (TILED ? PITCH : 2) > 36864) most /= 2;
        return most;
    }
};

// One chunk of a line, by indices of the line: chunks and runs are counted in the order of the scan.
struct ScanChunk {
    Index line, before;      // which line, and how many of its chunks come first
    Index place, low, high;  // where it begins, perhaps before the line does, and its cells
    int runs;
};

// The cells of one run; none where `low` is `high`.
struct ScanRun {
    Index low, high;
};

// The chunks of all lines along an axis.
template <bool across, bool reverse> struct ScanChunks {
    Index cells, lines, each;
    int64_t count;
    int within, shift;  // where in its first chunk a line begins; 2^shift threads do a chunk, some perhaps without a run

    // Threads of one block have chunks that lie side by side.
    STENCIL_FUNCTION ScanChunk chunk_number(Index number) const {
        if (each == 1) return chunk(number, 0);
        const Index n = across ? lines : each, outer = number / n, inner = number - outer * n;
        return across ? chunk(inner, outer) : chunk(outer, inner);
    }

    STENCIL_FUNCTION ScanChunk chunk(Index line, Index before) const {
        const Index place = (reverse ? each - 1 - before : before) * CHUNK - within;
        const Index low = place > 0 ? place : 0, high = cells - place > CHUNK ? place + CHUNK : cells;
        return {line, before, place, low, high, int((high - 1 - place) / RUN - (low - place) / RUN) + 1};
    }

    // The run of a chunk with this number in the order of the scan.
    STENCIL_FUNCTION ScanRun run(const ScanChunk& chunk, int number) const {
        if (number >= chunk.runs) return {0, 0};
        const Index first = (chunk.low - chunk.place) / RUN;
        const Index low = chunk.place + (first + (reverse ? chunk.runs - 1 - number : number)) * RUN;
        return {low > chunk.low ? low : chunk.low, chunk.high - low > RUN ? low + RUN : chunk.high};
    }

    // Where what a chunk combines to lies.
    STENCIL_FUNCTION int64_t kept_at(const ScanChunk& chunk) const {
        return int64_t(chunk.line) * each + chunk.before;
    }
};

template <bool across, bool reverse, int D>
STENCIL_FUNCTION ScanChunks<across, reverse> scan_chunks(const Shape<D>& shape, int axis) {
    ScanChunks<across, reverse> all;
    all.cells = Index(shape.extents[axis]);
    all.within = int(shape.origin[axis] % CHUNK);
    all.lines = 1;
    for (int k = 0; k < D; ++k) all.lines *= k == axis ? 1 : Index(shape.extents[k]);
    all.each = all.cells > 0 ? (all.within + all.cells - 1) / CHUNK + 1 : 0;
    all.count = int64_t(all.lines) * all.each;
    all.shift = 0;
    while ((1 << all.shift) < RUNS && (all.each > 1 || (1 << all.shift) * RUN < all.within % RUN + all.cells)) {
        ++all.shift;
    }
    return all;
}

// The indices of a line, with those along the axis 0.
template <int D> STENCIL_FUNCTION void line_at(const Shape<D>& shape, int axis, Index number, Index (&at)[D]) {
    Index rest = number;
    for (int k = D - 1; k >= 0; --k) {
        const Index n = k == axis ? 1 : Index(shape.extents[k]);
        const Index outer = k > 0 ? rest / n : 0;
        at[k] = rest - outer * n;
        rest = outer;
    }
}

// value_at(line, along) is the value of a cell, store_at(line, along, result) takes its result. `kept` has what chunks
// combine to; of an exclusive scan also, `count` and twice as many places further, what the runs before a chunk's last
// one combine to, and that last run. totals: whether this is the first launch, which leaves that.
template <bool across, bool reverse, bool exclusive, bool totals, class T, class Kept, class Combine, class Value, class Store>
STENCIL_FUNCTION void scan_lines(
    const ScanChunks<across, reverse>& all, const Kept& kept, const T identity, const Combine& combine,
    const Value& value_at, const Store& store_at) {
    typedef ScanBlock<T, across> Block;
    constexpr bool tiled = Block::TILED;
    STENCIL_SHARED(T, trees, Block::threads());
    STENCIL_SHARED(T, befores, tiled && !totals ? Block::threads() : 1);
    STENCIL_SHARED(T, entries, exclusive && !totals ? Block::threads() : 1);
    STENCIL_SHARED(T, tile, tiled ? Block::threads() * Block::PITCH : 1);
    const int thread = int(threadIdx.x), lane = thread % 32, team = 1 << all.shift, teams = int(blockDim.x) >> all.shift;
    const int number = across ? thread / teams : thread & (team - 1), beside = across ? teams : 1;
    const auto synchronize = [] {  // the threads of a chunk lie in one warp unless its lines lie side by side
        if constexpr (across) {
            stencil::barrier();
        } else {
            __syncwarp();
        }
    };
    for (int64_t first = int64_t(blockIdx.x) * teams; first < all.count; first += int64_t(gridDim.x) * teams) {
        const int64_t task = first + (across ? thread % teams : thread >> all.shift);
        ScanChunk chunk = {};
        if (task < all.count) chunk = all.chunk_number(Index(task));
        const ScanRun run = all.run(chunk, number);
        const int cells = int(run.high - run.low);
        // Row r of a warp's tile has the run of its thread r.
        const auto run_of = [&](int row, Index& line) {
            if (team == RUNS) {
                line = chunk.line;
                return all.run(chunk, row);
            }
            const int64_t other = first + ((thread - lane + row) >> all.shift);
            line = Index(other);  // lines have one chunk
            return other < all.count ? all.run(all.chunk(line, 0), row & (team - 1)) : ScanRun{0, 0};
        };
        const int mine = thread * Block::PITCH, warps = (thread - lane) * Block::PITCH;
        T so_far = identity;
        if constexpr (tiled) {
            for (int row = 0; row < 32; row += AHEAD) {
                T found[AHEAD];
                bool inside[AHEAD];
                for (int k = 0; k < AHEAD; ++k) {
                    Index line;
                    const ScanRun other = run_of(row + k, line);
                    inside[k] = other.low + lane < other.high;
                    found[k] = inside[k] ? value_at(line, other.low + lane) : identity;
                }
                for (int k = 0; k < AHEAD; ++k) {
                    if (inside[k]) tile[warps + (row + k) * Block::PITCH + lane] = found[k];
                }
            }
            synchronize();
            for (int j = 0; j < cells; ++j) {
                const int place = mine + (reverse ? cells - 1 - j : j);
                const T value = tile[place];
                so_far = j > 0 ? combine(so_far, value) : value;
                if constexpr (!totals) tile[place] = so_far;
            }
        } else {
            for (int j = 0; j < cells; ++j) {
                const T value = value_at(chunk.line, reverse ? run.high - 1 - j : run.low + j);
                so_far = j > 0 ? combine(so_far, value) : value;
            }
        }
        T tree = so_far;
        if (cells > 0) trees[thread] = tree;
        for (int reach = 1; reach < team; reach *= 2) {
            synchronize();
            if (number < chunk.runs && ((number + 1) & (2 * reach - 1)) == 0) {
                const T left = trees[thread - reach * beside];
                trees[thread] = tree = combine(left, tree);
            }
        }
        synchronize();
        const int begin = thread - number * beside;
        if constexpr (totals) {
            if (cells > 0 && number == 0) kept[all.kept_at(chunk)] = prefix<T>(trees, begin, beside, chunk.runs, combine);
            if (exclusive && cells > 0 && number == chunk.runs - 1) {
                if (number > 0) kept[all.count + all.kept_at(chunk)] = prefix<T>(trees, begin, beside, number, combine);
                kept[2 * all.count + all.kept_at(chunk)] = so_far;
            }
        } else {
            // What the chunks and, in this one, the runs before this run combine to.
            const auto before_run = [&](Index chunks, bool follows, const T& runs) {
                if (chunks == 0) return runs;
                const T outer = prefix<T>(kept, int64_t(chunk.line) * all.each, 1, chunks, combine);
                return follows ? combine(outer, runs) : outer;
            };
            const bool follows = number > 0 || chunk.before > 0;
            T before = identity;
            if (cells > 0 && number > 0) before = prefix<T>(trees, begin, beside, number, combine);
            if (cells > 0) before = before_run(chunk.before, number > 0, before);
            if constexpr (exclusive) {
                if (cells > 0 && number + 1 < chunk.runs) {
                    entries[thread + beside] = follows ? combine(before, so_far) : so_far;
                }
                if (cells > 0 && number == 0) {
                    T entry = identity;
                    if (chunk.before > 0) {
                        const ScanChunk last = all.chunk(chunk.line, chunk.before - 1);
                        entry = kept[2 * all.count + all.kept_at(last)];
                        T runs = identity;
                        if (last.runs > 1) runs = kept[all.count + all.kept_at(last)];
                        if (last.before > 0 || last.runs > 1) {
                            entry = combine(before_run(last.before, last.runs > 1, runs), entry);
                        }
                    }
                    entries[thread] = entry;
                }
                synchronize();
            }
            if constexpr (tiled) {
                if (cells > 0) befores[thread] = before;
                synchronize();
                for (int row = 0; row < 32; ++row) {
                    Index line;
                    const ScanRun other = run_of(row, line);
                    const Index along = other.low + lane;
                    if (along >= other.high) continue;
                    const bool begins = along == (reverse ? other.high - 1 : other.low);
                    const int owner = thread - lane + row;
                    T result = identity;
                    if (exclusive && begins) {
                        result = entries[owner];
                    } else {
                        result = tile[owner * Block::PITCH + lane + (!exclusive ? 0 : reverse ? 1 : -1)];
                        if (chunk.before > 0 || (row & (team - 1)) > 0) {
                            const T outer = befores[owner];
                            result = combine(outer, result);
                        }
                    }
                    store_at(line, along, result);
                }
            } else {
                T last = identity;
                if (exclusive && cells > 0) last = entries[thread];
                for (int j = 0; j < cells; ++j) {
                    const Index along = reverse ? run.high - 1 - j : run.low + j;
                    const T value = value_at(chunk.line, along);
                    so_far = j > 0 ? combine(so_far, value) : value;
                    const T result = follows ? combine(before, so_far) : so_far;
                    store_at(chunk.line, along, exclusive ? last : result);
                    last = result;
                }
            }
        }
        synchronize();
    }
}

}  // namespace stencil

#endif
