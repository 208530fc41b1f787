// Shapes of arrays, and the outside of a domain: which cell, operand or zero a ghost cell's value comes from, by the
// rules at the sides.
#ifndef STENCIL_SIDES_H
#define STENCIL_SIDES_H

#include "stencil_prelude.h"

namespace stencil {

// Local extents and strides in cells, global origin and extents, and per side 1 if its rule applies or 0 if a neighbour
// fills it. The last axis is contiguous.
template <int D> struct Shape {
    int64_t extents[D], strides[D], origin[D], global_extents[D], sides[D][2], start;
};

// From VALUE on, rules name an operand, and win over those that map a cell to another one.
enum RuleKind { UNDEFINED, PERIODIC, OUTFLOW, REFLECT, MIRROR, WALL, VALUE, FIXED, NEUMANN };

struct SideRule {
    int kind, sign, operand;
};

// What remains to be done to the value found at the end of a walk, last step first.
enum StepKind { NEGATE, ABOUT_FACE, ALONG_SLOPE };
template <int D> struct Step {
    int kind, operand;
    int64_t distance;
    int64_t at[D];
};

enum BaseKind { CELL, OPERAND, ZERO };
template <int D, int MOST> struct Walk {
    int64_t at[D];
    int base, operand, count;
    Step<D> steps[MOST];
};

STENCIL_FUNCTION int64_t modulo(int64_t i, int64_t n) {
    const int64_t rest = i % n;
    return rest < 0 ? rest + n : rest;
}

// A step made where the walk is now. Planning refuses domains in which there would be more of them.
template <int D, int MOST> STENCIL_FUNCTION void add_step(Walk<D, MOST>& walk, Step<D> step) {
    if (walk.count == MOST) return;
    for (int k = 0; k < D; ++k) step.at[k] = walk.at[k];
    walk.steps[walk.count++] = step;
}
template <int D, int MOST> STENCIL_FUNCTION void add_negation(Walk<D, MOST>& walk) {
    if (walk.count > 0 && walk.steps[walk.count - 1].kind == NEGATE) {
        --walk.count;  // twice is not at all
    } else {
        add_step(walk, Step<D>{NEGATE, 0, 0, {}});
    }
}

// Rules that map a cell to its mirror image and do nothing else to it but change its sign.
STENCIL_FUNCTION bool reflects(const SideRule& rule) {
    return rule.kind == REFLECT || rule.kind == MIRROR || rule.kind == WALL;
}
// What a cell and its image at a side add up to.
STENCIL_FUNCTION int64_t image_sum(const SideRule& rule, int side, int64_t n) {
    if (side == 0) return rule.kind == REFLECT ? -1 : 0;
    return rule.kind == REFLECT ? 2 * n - 1 : rule.kind == MIRROR ? 2 * n - 2 : 2 * n;
}

// How often the ghost cell i can be reflected at both sides in turn, beginning at `side`; each time moves it by `period`.
STENCIL_FUNCTION int64_t double_reflections(const SideRule (&rules)[2], int side, int64_t i, int64_t n, int64_t& period) {
    if (!reflects(rules[0]) || !reflects(rules[1])) return 0;
    if (n == 1 && (rules[0].kind == MIRROR || rules[1].kind == MIRROR)) return 0;  // the only cell is every image
    const int64_t below = image_sum(rules[0], 0, n), above = image_sum(rules[1], 1, n);
    period = above - below;
    // The image at the other side lies outside, and is not the face on a wall, which has no image.
    const int64_t beyond = side == 1 ? i - above : below - i - n + (rules[1].kind == WALL ? 0 : 1);
    return beyond > 0 ? (beyond - 1) / period + 1 : 0;
}

// From a ghost cell to the cell, operand or zero that its value comes from; axes [first, last) are looked at. One step
// moves one axis: the lowest one outside at a side with a value rule, else the lowest one outside.
template <int D, int MOST>
STENCIL_PROCEDURE void walk_inside(
    const SideRule (&rules)[D][2], const Shape<D>& shape, int first, int last, Walk<D, MOST>& walk) {
    walk.count = 0;
    walk.base = CELL;
    for (;;) {
        int axis = -1, side = 0;
        for (int k = first; k < last; ++k) {
            const bool below = walk.at[k] < 0, above = walk.at[k] >= shape.extents[k];
            if (!below && !above) continue;
            const int s = above ? 1 : 0;
            if (shape.sides[k][s] == 0) continue;
            const bool by_value = rules[k][s].kind >= VALUE;
            if (axis < 0 || by_value) {
                axis = k;
                side = s;
            }
            if (by_value) break;
        }
        if (axis < 0) return;
        const SideRule rule = rules[axis][side];
        const int64_t n = shape.extents[axis], i = walk.at[axis], edge = side == 0 ? 0 : n - 1;
        int64_t period = 0;
        const int64_t doubles = shape.sides[axis][1 - side] ? double_reflections(rules[axis], side, i, n, period) : 0;
        if (doubles > 0) {
            if (doubles % 2 != 0 && rules[axis][0].sign != rules[axis][1].sign) add_negation(walk);
            walk.at[axis] += side == 0 ? doubles * period : -doubles * period;
            continue;
        }
        int64_t to = edge;
        bool reflected = false;
        switch (rule.kind) {
        case PERIODIC:
            to = modulo(i, n);
            reflected = (i - to) / n % 2 != 0;  // crossed the extent an odd number of times
            break;
        case REFLECT:
            to = side == 0 ? -1 - i : 2 * n - 1 - i;
            reflected = true;
            break;
        case MIRROR:  // one cell is its own mirror image
            to = n == 1 ? 0 : side == 0 ? -i : 2 * n - 2 - i;
            reflected = true;
            break;
        case WALL:
            if (side == 1 && i == n) {
                if (rule.sign < 0) {
                    walk.base = ZERO;
                    return;
                }
                to = n - 1;
            } else {
                to = side == 0 ? -i : 2 * n - i;
                reflected = true;
            }
            break;
        case VALUE:
            walk.base = OPERAND;
            walk.operand = rule.operand;
            return;
        case FIXED: to = side == 0 ? -1 - i : 2 * n - 1 - i; break;
        case UNDEFINED:  // a side that is not read
        case OUTFLOW:
        case NEUMANN: break;  // from the nearest cell
        }
        if (rule.kind == FIXED) add_step(walk, Step<D>{ABOUT_FACE, rule.operand, i - edge, {}});
        if (rule.kind == NEUMANN) add_step(walk, Step<D>{ALONG_SLOPE, rule.operand, i - edge, {}});
        if (reflected && rule.sign < 0) add_negation(walk);
        walk.at[axis] = to;
    }
}

}  // namespace stencil
#endif
