// Ranks on a CUDA device: warps count the digits of their parts of the cells, sums over all digits and parts say where
// each part's begin, and warps place their cells.
#ifndef STENCIL_CUDA_RANKS_H
#define STENCIL_CUDA_RANKS_H

#include "stencil_cuda_prefixes.h"

namespace stencil {

// Which threads of a block there may be, and how many cells a warp has; workbench/planning/partials.py says the same.
template <int digits> struct RankBlock {
    static constexpr int WARPS = digits > 512 ? 4096 / digits : PART_BLOCK / 32;
    static constexpr int64_t CELLS = digits > 32 ? 32 * digits : 1024;
};

STENCIL_FUNCTION int bit_count(unsigned bits) {
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
    return __popc(bits);
#else
    return __builtin_popcount(bits);
#endif
}

// digit_at(cell) is the digit of a cell, store_at(cell, place) takes its place. `kept` has the counts of all parts for
// each digit, at last as subtrees. counting: whether this is the first launch, which leaves the counts.
template <int digits, bool counting, class Kept, class Digit, class Store>
STENCIL_FUNCTION void rank_cells(int64_t cells, const Kept& kept, const Digit& digit_at, const Store& store_at) {
    typedef RankBlock<digits> Block;
    constexpr unsigned ALL = 0xffffffffu;
    STENCIL_SHARED(int64_t, counts, Block::WARPS * digits);
    const int lane = int(threadIdx.x) % 32, warps = int(blockDim.x) / 32, own = int(threadIdx.x) / 32 * digits;
    const int64_t parts = (cells + Block::CELLS - 1) / Block::CELLS;
    for (int64_t part = int64_t(blockIdx.x) * warps + threadIdx.x / 32; part < parts; part += int64_t(gridDim.x) * warps) {
        for (int d = lane; d < digits; d += 32) {
            const int64_t before = d * parts + part;
            int64_t count = 0;
            if (!counting && before > 0) count = prefix<int64_t>(kept, 0, 1, before, combine_add());
            counts[own + d] = count;
        }
        __syncwarp();
        const Index low = Index(part * Block::CELLS);
        const int all = int(cells - low < Block::CELLS ? cells - low : Block::CELLS);
        for (int next = 0; next < all; next += 32 * AHEAD) {
            int found[AHEAD];
            for (int k = 0; k < AHEAD; ++k) {
                const int i = next + 32 * k + lane;
                found[k] = i < all ? digit_at(low + i) : 0;
            }
            for (int k = 0; k < AHEAD; ++k) {
                const int i = next + 32 * k + lane;
                unsigned alike = __ballot_sync(ALL, i < all);  // which lanes have this digit
                for (int bit = 1; bit < digits; bit *= 2) {
                    const unsigned set = __ballot_sync(ALL, found[k] & bit);
                    alike &= found[k] & bit ? set : ~set;
                }
                int64_t place = 0;
                if (i < all) {
                    place = counts[own + found[k]];
                    place += bit_count(alike & ((1u << lane) - 1));
                    if constexpr (!counting) store_at(low + i, place);
                }
                __syncwarp();
                if (i < all && alike >> lane == 1) counts[own + found[k]] = place + 1;  // the last of them
                __syncwarp();
            }
        }
        if constexpr (counting) {
            for (int d = lane; d < digits; d += 32) {
                const int64_t count = counts[own + d];
                kept[d * parts + part] = count;
            }
        }
        __syncwarp();
    }
}

}  // namespace stencil

#endif
