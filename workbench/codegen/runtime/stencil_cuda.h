// Stencil kernels on a CUDA device: which thread computes which cell, how sums are ordered, where ghost cells lie.
//
// Kernels are told all sizes at run time. STENCIL_INDEX is the type of element numbers: int32_t while an array has less
// than 2^31 elements, else int64_t. STENCIL_BLOCK is the largest number of threads a block may have.
#ifndef STENCIL_CUDA_H
#define STENCIL_CUDA_H

#if defined(__CUDACC_RTC__)  // which has no <cstdint>
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#endif

#include "stencil_sides.h"

#ifndef STENCIL_INDEX
#define STENCIL_INDEX int32_t
#endif
#ifndef STENCIL_BLOCK
#define STENCIL_BLOCK 1024
#endif

namespace stencil {

#if !defined(__CUDACC__) && !defined(__CUDACC_RTC__)
// The simulator's: each operation is rounded, 1.5 units. A device has one of its own (stencil_prelude.h).
template <class T> STENCIL_FUNCTION T reciprocal_sqrt(T a) { return T(1) / STENCIL_MATH sqrt(a); }
#endif

typedef STENCIL_INDEX Index;

constexpr int CHUNK = 1024;  // cells whose sum is formed in one go, counted by global index
constexpr int LANES = 16;

template <int D> struct Margins {
    int32_t sides[D][2];
};

// ---- Globals block: 8-byte words, each value in its own type at the low end ------------------------------------------

template <class T> STENCIL_FUNCTION T read_global(array<const uint64_t> globals, int slot) {
    constexpr int WORDS = (sizeof(T) + 7) / 8;
    uint64_t words[WORDS];
    for (int k = 0; k < WORDS; ++k) words[k] = globals[slot + k];
    T value;
    memcpy(&value, words, sizeof value);
    return value;
}
template <class T> STENCIL_FUNCTION void write_global(array<uint64_t> globals, int slot, T value) {
    constexpr int WORDS = (sizeof(T) + 7) / 8;
    uint64_t words[WORDS] = {};
    memcpy(words, &value, sizeof value);
    for (int k = 0; k < WORDS; ++k) globals[slot + k] = words[k];
}

// Adds bits to the word that notes indices outside.
STENCIL_FUNCTION void note_outside(array<uint64_t> globals, int slot, uint64_t bits) {
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)  // which knows 64 bits by one name only
    atomicOr(reinterpret_cast<unsigned long long*>(&globals[slot]), static_cast<unsigned long long>(bits));
#else
    atomicOr(&globals[slot], bits);
#endif
}

// ---- rows and tiles --------------------------------------------------------------------------------------------------

// A row by its indices along the outer axes; `start` is the element of its cell 0.
template <int D> struct Row {
    Index at[D], start;
};

template <int D> STENCIL_FUNCTION Index row_count(const Shape<D>& shape, const Margins<D>& grown) {
    Index rows = 1;
    for (int k = 0; k + 1 < D; ++k) rows *= Index(shape.extents[k]) + grown.sides[k][0] + grown.sides[k][1];
    return rows;
}

template <int D> STENCIL_FUNCTION Row<D> row_at(const Shape<D>& shape, const Margins<D>& grown, Index number) {
    Row<D> row;
    row.start = Index(shape.start);
    row.at[D - 1] = 0;
    for (int k = D - 2; k >= 0; --k) {
        const Index below = grown.sides[k][0], n = Index(shape.extents[k]) + below + grown.sides[k][1];
        const Index outer = k > 0 ? number / n : 0;  // a division costs as much as ten cells' arithmetic
        row.at[k] = number - outer * n - below;
        number = outer;
        row.start += row.at[k] * Index(shape.strides[k]);
    }
    return row;
}

// The element of a cell, in the type that threads count with.
template <int D> STENCIL_FUNCTION Index element_at(const Shape<D>& shape, const Index (&at)[D]) {
    Index element = Index(shape.start);
    for (int k = 0; k < D; ++k) element += at[k] * Index(shape.strides[k]);
    return element;
}

// Whether a tile of `each` cells or rows begins before `count` of them end. Counting tiles would take a division.
STENCIL_FUNCTION bool begins_before(int64_t tile, unsigned each, Index count) { return tile * int64_t(each) < count; }

// The domain grown by some margins, cut into tiles of blockDim.x cells of blockDim.y rows; a block does one at a time.
template <int D> struct Tiles {
    Index rows, low, high;

    STENCIL_FUNCTION bool has_rows(int64_t tile) const { return begins_before(tile, blockDim.y, rows); }
    STENCIL_FUNCTION bool has_cells(int64_t tile) const { return begins_before(tile, blockDim.x, high - low); }
    STENCIL_FUNCTION Index row(int64_t tile) const {
        return Index(tile) * Index(blockDim.y) + Index(threadIdx.y);
    }
    STENCIL_FUNCTION Index cell(int64_t tile) const {
        return low + Index(tile) * Index(blockDim.x) + Index(threadIdx.x);
    }
};

template <int D> STENCIL_FUNCTION Tiles<D> tiles_of(const Shape<D>& shape, const Margins<D>& grown) {
    Tiles<D> tiles;
    tiles.rows = row_count(shape, grown);
    tiles.low = -grown.sides[D - 1][0];
    tiles.high = Index(shape.extents[D - 1]) + grown.sides[D - 1][1];
    return tiles;
}

// The same domain for sweeps over its cells: a block has blockDim.x cells of blockDim.y lines and goes with them through
// some of the planes, one after the other, so that what a plane reads of those before is in the cache of its processor.
// Lines lie along the last axis but one, planes along all before it; of two axes each row is a plane, and a block does
// blockDim.y of them at a time.
template <int D> struct Planes {
    Index low, high, lines, first, end;

    STENCIL_FUNCTION static Index step() { return D == 2 ? Index(blockDim.y) : 1; }
    STENCIL_FUNCTION bool has_lines(int64_t tile) const { return begins_before(tile, blockDim.y, lines); }
    STENCIL_FUNCTION bool has_cells(int64_t tile) const { return begins_before(tile, blockDim.x, high - low); }
    STENCIL_FUNCTION Index cell(int64_t tile) const {
        return low + Index(tile) * Index(blockDim.x) + Index(threadIdx.x);
    }
    STENCIL_FUNCTION Row<D> row(const Shape<D>& shape, const Margins<D>& grown, int64_t tile, Index plane) const {
        Row<D> row;
        row.start = Index(shape.start);
        row.at[D - 1] = 0;
        if constexpr (D == 2) {
            row.at[0] = plane + Index(threadIdx.y) - grown.sides[0][0];
        } else if constexpr (D > 2) {
            row.at[D - 2] = Index(tile) * Index(blockDim.y) + Index(threadIdx.y) - grown.sides[D - 2][0];
            for (int k = D - 3; k >= 0; --k) {
                const Index below = grown.sides[k][0], n = Index(shape.extents[k]) + below + grown.sides[k][1];
                const Index outer = k > 0 ? plane / n : 0;
                row.at[k] = plane - outer * n - below;
                plane = outer;
            }
        }
        for (int k = 0; k + 1 < D; ++k) row.start += row.at[k] * Index(shape.strides[k]);
        return row;
    }
    STENCIL_FUNCTION bool has(const Row<D>& row, const Shape<D>& shape, const Margins<D>& grown, Index i) const {
        if constexpr (D == 1) return i < high;
        constexpr int K = D > 1 ? D - 2 : 0;
        return i < high && row.at[K] < Index(shape.extents[K]) + grown.sides[K][1];
    }
    // Whether this thread has a cell of the next plane that this block does.
    STENCIL_FUNCTION bool goes_on(const Row<D>& row, const Shape<D>& shape, const Margins<D>& grown, Index plane) const {
        const bool inside = D != 2 || row.at[0] + step() < Index(shape.extents[0]) + grown.sides[0][1];
        return inside && plane + step() < end;
    }
};

template <int D> STENCIL_FUNCTION Planes<D> planes_of(const Shape<D>& shape, const Margins<D>& grown) {
    Planes<D> planes;
    planes.low = -grown.sides[D - 1][0];
    planes.high = Index(shape.extents[D - 1]) + grown.sides[D - 1][1];
    Index count = 1;
    planes.lines = 1;
    for (int k = 0; k + 1 < D; ++k) {
        const Index n = Index(shape.extents[k]) + grown.sides[k][0] + grown.sides[k][1];
        if (D > 2 && k == D - 2) {
            planes.lines = n;
        } else {
            count *= n;
        }
    }
    const Index step = Planes<D>::step(), each = ((count - 1) / (Index(gridDim.z) * step) + 1) * step;
    planes.first = Index(blockIdx.z) * each;
    planes.end = count - planes.first < each ? count : planes.first + each;
    return planes;
}

STENCIL_FUNCTION int64_t first_thread() { return int64_t(blockIdx.x) * blockDim.x + threadIdx.x; }
STENCIL_FUNCTION int64_t all_threads() { return int64_t(gridDim.x) * blockDim.x; }

// ---- reductions ------------------------------------------------------------------------------------------------------

// Chunks of all rows, one after the other; 16 threads do one chunk, and a block has a multiple of 32 threads. There are
// no more of them than elements.
template <int D> struct Chunks {
    Index each, count;  // in a row, in all
    int64_t origin, skipped;

    STENCIL_FUNCTION static int64_t first_of_block() { return int64_t(blockIdx.x) * (blockDim.x / LANES); }
    STENCIL_FUNCTION static int64_t step() { return int64_t(gridDim.x) * (blockDim.x / LANES); }
    STENCIL_FUNCTION static int lane() { return int(threadIdx.x) % LANES; }
    STENCIL_FUNCTION Index row(Index chunk) const { return chunk / each; }
    // First cell of this thread's lane in the chunk and the end of the chunk; the row may begin or end inside it.
    STENCIL_FUNCTION Index begin(Index chunk) const {
        int64_t i = (skipped + chunk % each) * CHUNK + lane() - origin;
        if (i < 0) i += (LANES - 1 - i) / LANES * LANES;
        return Index(i);
    }
    STENCIL_FUNCTION Index end(const Shape<D>& shape, Index chunk) const {
        const int64_t i = (skipped + chunk % each + 1) * CHUNK - origin;
        return Index(i < shape.extents[D - 1] ? i : shape.extents[D - 1]);
    }
};

template <int D> STENCIL_FUNCTION Chunks<D> chunks_of(const Shape<D>& shape) {
    Chunks<D> chunks;
    chunks.origin = shape.origin[D - 1];
    chunks.skipped = chunks.origin / CHUNK;
    chunks.each = Index((chunks.origin + shape.extents[D - 1] - 1) / CHUNK - chunks.skipped + 1);
    chunks.count = chunks.each;
    for (int k = 0; k + 1 < D; ++k) chunks.count *= Index(shape.extents[k]);
    return chunks;
}

template <class T> STENCIL_FUNCTION T from_lane_above(T value, int distance) {
    if constexpr (sizeof(T) < 4) {
        return T(__shfl_down_sync(0xffffffffu, int(value), distance, LANES));
    } else {
        return __shfl_down_sync(0xffffffffu, value, distance, LANES);
    }
}

template <class A, class B> STENCIL_FUNCTION pair_of<A, B> from_lane_above(const pair_of<A, B>& value, int distance) {
    return {from_lane_above(value.first, distance), from_lane_above(value.second, distance)};
}

// Neighbours (0, 1), (2, 3), ...: the whole is in the lowest of 16 threads. All threads of the warp take part.
template <class T, class Combine> STENCIL_FUNCTION T combine_lanes(T value, const Combine& combine) {
    for (int distance = 1; distance < LANES; distance *= 2) {
        const T above = from_lane_above(value, distance);
        value = combine(value, above);
    }
    return value;
}

// ---- ghost cells -----------------------------------------------------------------------------------------------------

template <int D> STENCIL_FUNCTION int64_t element_of(const Shape<D>& shape, const int64_t (&at)[D]) {
    int64_t element = shape.start;
    for (int k = 0; k < D; ++k) element += at[k] * shape.strides[k];
    return element;
}

// Cells beyond the domain, slab by slab: below and above it along axis k, within the domain along the axes before k and
// within the grown domain along those after k. With `whole` the domain itself comes first. All have elements, so that
// their numbers are of the type of these.
template <int D> STENCIL_FUNCTION Index slab_count(const Shape<D>& shape, const Margins<D>& grown, int axis, int side) {
    Index cells = 1;
    for (int k = 0; k < D; ++k) {
        cells *= k < axis ? Index(shape.extents[k])
               : k == axis ? Index(grown.sides[k][side])
                           : Index(shape.extents[k]) + grown.sides[k][0] + grown.sides[k][1];
    }
    return cells;
}

template <int D>
STENCIL_FUNCTION int64_t ghost_count(const Shape<D>& shape, const Margins<D>& grown, bool whole) {
    Index cells = whole ? slab_count(shape, grown, D, 0) : 0;
    for (int k = 0; k < D; ++k) cells += slab_count(shape, grown, k, 0) + slab_count(shape, grown, k, 1);
    return cells;
}

template <int D>
STENCIL_FUNCTION void ghost_at(
    const Shape<D>& shape, const Margins<D>& grown, bool whole, int64_t number, int64_t (&at)[D]) {
    Index rest = Index(number);
    int axis = D, side = 0;
    const Index domain = whole ? slab_count(shape, grown, D, 0) : 0;
    const bool outside = rest >= domain;
    if (outside) rest -= domain;
    for (int k = 0; k < D; ++k) {  // with constant indices arrays stay in registers
        for (int s = 0; s < 2; ++s) {
            const Index cells = slab_count(shape, grown, k, s);
            if (!outside || axis < D) continue;
            if (rest < cells) {
                axis = k;
                side = s;
            } else {
                rest -= cells;
            }
        }
    }
    for (int k = D - 1; k >= 0; --k) {
        const Index extent = Index(shape.extents[k]), low = grown.sides[k][0], high = grown.sides[k][1];
        const Index below = k < axis ? 0 : k == axis && side == 1 ? -extent : low;
        const Index n = k < axis ? extent : k > axis ? extent + low + high : side == 1 ? high : low;
        const Index outer = k > 0 ? rest / n : 0;
        at[k] = rest - outer * n - below;
        rest = outer;
    }
}

// Whether the cell lies at a side that has no rule here: a neighbouring part of the domain fills it, or it is not read.
template <int D>
STENCIL_FUNCTION bool belongs_to_neighbour(
    const SideRule (&rules)[D][2], const Shape<D>& shape, const int64_t (&at)[D]) {
    for (int k = 0; k < D; ++k) {
        if (at[k] < 0 && (shape.sides[k][0] == 0 || rules[k][0].kind == UNDEFINED)) return true;
        if (at[k] >= shape.extents[k] && (shape.sides[k][1] == 0 || rules[k][1].kind == UNDEFINED)) return true;
    }
    return false;
}

// What `walk_inside` finds step by step, for the many ghost cells that lie within one extent of the domain and beyond it
// only where a rule maps cells to others: true, the cell that a value comes from, and whether its sign changes.
template <int D>
STENCIL_FUNCTION bool image_nearby(
    const SideRule (&rules)[D][2], const Shape<D>& shape, int64_t (&at)[D], bool& negative) {
    int64_t image[D];
    negative = false;
    for (int k = 0; k < D; ++k) {
        const int64_t n = shape.extents[k], i = at[k];
        image[k] = i;
        if (i >= 0 && i < n) continue;
        const bool below = i < 0;
        const int kind = below ? rules[k][0].kind : rules[k][1].kind, sign = below ? rules[k][0].sign : rules[k][1].sign;
        switch (kind) {
        case PERIODIC: image[k] = below ? i + n : i - n; break;
        case OUTFLOW: image[k] = below ? 0 : n - 1; break;
        case REFLECT: image[k] = below ? -1 - i : 2 * n - 1 - i; break;
        case MIRROR: image[k] = below ? -i : 2 * n - 2 - i; break;
        default: return false;
        }
        if (image[k] < 0 || image[k] >= n) return false;
        if (kind != OUTFLOW && sign < 0) negative = !negative;
    }
    for (int k = 0; k < D; ++k) at[k] = image[k];
    return true;
}

template <class T> STENCIL_FUNCTION T negated(T value) {
    if constexpr (is_float<T>::value) return -value;
    return wrapped_subtract(T(0), value);
}
template <class T> STENCIL_FUNCTION T about_face(T value, T face) {
    if constexpr (is_float<T>::value) return face + face - value;
    return wrapped_subtract(wrapped_add(face, face), value);
}
template <class T> STENCIL_FUNCTION T along_slope(T value, int64_t distance, T slope) {
    if constexpr (is_float<T>::value) {
        return value + T(distance) * slope;
    } else {
        return wrapped_add(value, T(uint64_t(distance) * uint64_t(slope)));
    }
}

}  // namespace stencil
#endif
