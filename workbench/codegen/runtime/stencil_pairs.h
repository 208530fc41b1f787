// Pairs, of which records are made; a part of the prelude, which defines STENCIL_FUNCTION.
#ifndef STENCIL_PAIRS_H
#define STENCIL_PAIRS_H

namespace stencil {

// What a record of two parts is; one of more parts has a pair as its second part.
template <class A, class B> struct pair_of {
    A first;
    B second;
};

// A float that the compiler computes by itself. Where one part of a pair is a difference of products and the next one a
// sum of them, gcc 12 takes both as one vector and makes vfmaddsub of it, which rounds once, also with
// -ffp-contract=off. A barrier on one of two neighbouring parts prevents it, and loops can still be vectorised.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 && !defined(__CUDACC__)
template <class T> STENCIL_FUNCTION T alone(T a) { return __builtin_assoc_barrier(a); }
#else
template <class T> STENCIL_FUNCTION T alone(T a) { return a; }
#endif

}  // namespace stencil

#endif
