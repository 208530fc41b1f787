// Atomic operations that combine a value into an element, for numbers of 4 and 8 bytes, and tables of such elements in a
// block's shared memory.
#ifndef STENCIL_CUDA_ATOMICS_H
#define STENCIL_CUDA_ATOMICS_H

#include "stencil_cuda.h"

namespace stencil {

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
// The types by which CUDA knows numbers of 4 and 8 bytes: those that it compares, and those that it adds and masks.
template <class T> struct atomic_word {
    typedef T compared, masked;
};
template <> struct atomic_word<int32_t> {
    typedef int compared;
    typedef unsigned masked;
};
template <> struct atomic_word<int64_t> {
    typedef long long compared;
    typedef unsigned long long masked;
};
template <> struct atomic_word<uint64_t> {
    typedef unsigned long long compared, masked;
};
#define STENCIL_ATOMIC_AT(T, word, elements, index) reinterpret_cast<typename atomic_word<T>::word*>(&elements[index])
#define STENCIL_ATOMIC_VALUE(T, word, value) static_cast<typename atomic_word<T>::word>(value)
#else
#define STENCIL_ATOMIC_AT(T, word, elements, index) &elements[index]
#define STENCIL_ATOMIC_VALUE(T, word, value) value
#endif

#define STENCIL_ATOMIC(name, function, word)                                                        \
    struct name {                                                                                   \
        template <class T> STENCIL_FUNCTION void operator()(array<T> elements, Index index, T value) const { \
            function(STENCIL_ATOMIC_AT(T, word, elements, index), STENCIL_ATOMIC_VALUE(T, word, value));    \
        }                                                                                           \
    };
STENCIL_ATOMIC(atomic_add, atomicAdd, masked)
STENCIL_ATOMIC(atomic_minimum, atomicMin, compared)
STENCIL_ATOMIC(atomic_maximum, atomicMax, compared)
STENCIL_ATOMIC(atomic_bitwise_and, atomicAnd, masked)
STENCIL_ATOMIC(atomic_bitwise_or, atomicOr, masked)
STENCIL_ATOMIC(atomic_bitwise_xor, atomicXor, masked)
#undef STENCIL_ATOMIC

struct atomic_multiply {
    template <class T> STENCIL_FUNCTION void operator()(array<T> elements, Index index, T value) const {
        T old = T(1);  // a guess, which the first exchange corrects
        for (;;) {
            const T made = wrapped_multiply(value, old);
            const T found = T(atomicCAS(
                STENCIL_ATOMIC_AT(T, masked, elements, index),
                STENCIL_ATOMIC_VALUE(T, masked, old),
                STENCIL_ATOMIC_VALUE(T, masked, made)));
            if (found == old) return;
            old = found;
        }
    }
};

template <int D> STENCIL_FUNCTION int64_t cell_count(const Shape<D>& shape) {
    int64_t count = 1;
    for (int k = 0; k < D; ++k) count *= shape.extents[k];
    return count;
}

constexpr int TABLE_BYTES = 16384;  // of a block's 48 KiB: several blocks share a processor

// What all kinds of tables do: a value for each of few destinations, by their numbers in C order. All threads of a block
// clear it together, and together combine it with the destinations; barriers are the caller's.
template <class Table, class T, class Word, class Combine> struct TableOfBlock {
    STENCIL_FUNCTION static void clear(array<Word> table, int64_t destinations, T neutral) {
        for (int k = thread(); k < int(destinations); k += threads()) Table::put(table, k, neutral);
    }
    template <int D>
    STENCIL_FUNCTION static void leave(array<Word> table, const Shape<D>& shape, array<T> elements, T neutral) {
        const int destinations = int(cell_count(shape));
        for (int k = thread(); k < destinations; k += threads()) {
            const T value = Table::get(table, k);
            if (value == neutral) continue;
            Index rest = k, element = Index(shape.start);
            for (int axis = D - 1; axis >= 0; --axis) {
                const Index extent = Index(shape.extents[axis]), outer = axis > 0 ? rest / extent : 0;
                element += (rest - outer * extent) * Index(shape.strides[axis]);
                rest = outer;
            }
            Combine()(elements, element, value);
        }
    }
    STENCIL_FUNCTION static int thread() { return int(threadIdx.y * blockDim.x + threadIdx.x); }
    STENCIL_FUNCTION static int threads() { return int(blockDim.x * blockDim.y); }
};

template <class T, class Combine> struct SendersTable : TableOfBlock<SendersTable<T, Combine>, T, T, Combine> {
    typedef T Word;
    static constexpr int CELLS = TABLE_BYTES / int(sizeof(T)), WORDS = CELLS;

    STENCIL_FUNCTION static void put(array<T> table, int k, T value) { table[k] = value; }
    STENCIL_FUNCTION static T get(array<T> table, int k) { return table[k]; }
    STENCIL_FUNCTION static void take(array<T> table, int k, T value) { Combine()(table, Index(k), value); }
};

// Sums of 8 bytes as two words: processors add 4 bytes of shared memory in one instruction, and 8 bytes by trial. What
// the low words carry over goes to the high words one by one, in any order.
template <class T> struct SumsTable : TableOfBlock<SumsTable<T>, T, uint32_t, atomic_add> {
    typedef uint32_t Word;
    static constexpr int CELLS = TABLE_BYTES / 8, WORDS = 2 * CELLS;

    STENCIL_FUNCTION static void put(array<uint32_t> table, int k, T value) {
        table[k] = uint32_t(uint64_t(value));
        table[CELLS + k] = uint32_t(uint64_t(value) >> 32);
    }
    STENCIL_FUNCTION static T get(array<uint32_t> table, int k) {
        const uint32_t low = table[k], high = table[CELLS + k];
        return T(uint64_t(high) << 32 | low);
    }
    STENCIL_FUNCTION static void take(array<uint32_t> table, int k, T value) {
        const uint32_t low = uint32_t(uint64_t(value));
        const uint32_t before = atomicAdd(&table[k], low);
        const uint32_t high = uint32_t(uint64_t(value) >> 32) + uint32_t(before + low < low);
        if (high != 0) atomicAdd(&table[CELLS + k], high);
    }
};
template <> struct SendersTable<int64_t, atomic_add> : SumsTable<int64_t> {};
template <> struct SendersTable<uint64_t, atomic_add> : SumsTable<uint64_t> {};

}  // namespace stencil

#endif
