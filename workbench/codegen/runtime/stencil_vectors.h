// Vectors: cells of a row side by side, whose neighbours along the row are shifted in registers.
//
// A vector as long as a cache line crosses two lines, and is loaded twice, wherever it does not begin at one: so it is
// with every neighbour along a row. Where a loop waits for loads, to shift registers that hold whole lines takes less
// time. Texts that are compiled with STENCIL_SHIFTED do that; all others compute cells one by one, for the compiler to
// vectorise. Both have the same bits.
#ifndef STENCIL_VECTORS_H
#define STENCIL_VECTORS_H

#include "stencil_rows.h"

#if defined(STENCIL_SHIFTED) && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define STENCIL_HAS_VECTORS
#endif
#endif

namespace stencil {

// Cells [first, last) of a row.
struct Stretch {
    int64_t first, last;
};

#ifdef STENCIL_HAS_VECTORS

constexpr int64_t LINE_BYTES = 64;  // of a cache line and of a vector

template <class T> constexpr int64_t vector_length = LINE_BYTES / int64_t(sizeof(T));

template <class T> struct VectorOf {
    typedef T type __attribute__((vector_size(64)));
    typedef T anywhere __attribute__((vector_size(64), aligned(sizeof(T)), may_alias));
};
template <class T> using Vector = typename VectorOf<T>::type;

// As many cells from `first` on as a vector holds, or those that lie so many cells beside them.
template <class T> struct VectorAt {
    int64_t first, beside;
};
template <class T> inline VectorAt<T> operator+(VectorAt<T> i, int64_t cells) { return {i.first, i.beside + cells}; }
template <class T> inline VectorAt<T> operator-(VectorAt<T> i, int64_t cells) { return {i.first, i.beside - cells}; }

template <class T> inline VectorAt<T> vector_at(int64_t first) { return {first, 0}; }

// The numbers from `n` on of two vectors that follow each other.
template <int n> STENCIL_FUNCTION Vector<float> joined(Vector<float> a, Vector<float> b) {
    return __builtin_shufflevector(
        a, b, n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9, n + 10, n + 11, n + 12, n + 13, n + 14, n + 15);
}
template <int n> STENCIL_FUNCTION Vector<double> joined(Vector<double> a, Vector<double> b) {
    return __builtin_shufflevector(a, b, n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7);
}

// The cells of a row, one by one, as of a pointer, or side by side. Rows whose neighbours are read begin at a line.
template <class T> struct Cells {
    T* row;

    STENCIL_FUNCTION Cells(T* cells) : row(cells) {}
    STENCIL_FUNCTION operator T*() const { return row; }
    STENCIL_FUNCTION typename VectorOf<T>::anywhere& operator[](VectorAt<T> i) const {
        return *reinterpret_cast<typename VectorOf<T>::anywhere*>(row + i.first);
    }
};
template <class T> struct Cells<const T> {
    const T* row;

    STENCIL_FUNCTION Cells(const T* cells) : row(cells) {}
    STENCIL_FUNCTION operator const T*() const { return row; }
    STENCIL_FUNCTION Vector<T> line(int64_t first) const {
        return *reinterpret_cast<const typename VectorOf<T>::anywhere*>(row + first);
    }
    STENCIL_FUNCTION Vector<T> operator[](VectorAt<T> i) const {
        constexpr int count = int(vector_length<T>);
        const Vector<T> own = line(i.first);
        // The compiler knows which case it is, and loads a line once for all its neighbours.
        switch (i.beside) {
        case -7: return joined<count - 7>(line(i.first - count), own);
        case -6: return joined<count - 6>(line(i.first - count), own);
        case -5: return joined<count - 5>(line(i.first - count), own);
        case -4: return joined<count - 4>(line(i.first - count), own);
        case -3: return joined<count - 3>(line(i.first - count), own);
        case -2: return joined<count - 2>(line(i.first - count), own);
        case -1: return joined<count - 1>(line(i.first - count), own);
        case 1: return joined<1>(own, line(i.first + count));
        case 2: return joined<2>(own, line(i.first + count));
        case 3: return joined<3>(own, line(i.first + count));
        case 4: return joined<4>(own, line(i.first + count));
        case 5: return joined<5>(own, line(i.first + count));
        case 6: return joined<6>(own, line(i.first + count));
        case 7: return joined<7>(own, line(i.first + count));
        default: return own;
        }
    }
};

// The whole lines of a stretch; none where some row does not begin at a line. Arrays whose rows do hold the lines before
// and behind those that are read (planning/layout.py): they are padded to whole lines there.
template <class T, class... Others>
inline Stretch whole_vectors(int64_t first, int64_t last, const Cells<const T>& row, const Others&... others) {
    constexpr int64_t count = vector_length<T>;
    const uintptr_t places = (reinterpret_cast<uintptr_t>(row.row) | ... | reinterpret_cast<uintptr_t>(others.row));
    const int64_t begin = (first + count - 1) & -count, end = last & -count;
    if (places % uintptr_t(LINE_BYTES) != 0 || begin >= end) return {first, first};
    return {begin, end};
}

#else

template <class T> constexpr int64_t vector_length = 1;
template <class T> using Cells = T*;
template <class T> inline int64_t vector_at(int64_t first) { return first; }
template <class... Rows> inline Stretch whole_vectors(int64_t first, int64_t, const Rows&...) { return {first, first}; }

#endif

}  // namespace stencil

#endif
