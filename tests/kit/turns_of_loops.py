"""Instructions of a loop in PTX: the shortest way round it among those that do the most arithmetic."""

import re
from dataclasses import dataclass, field

_LABEL, _BRANCH = re.compile(r"(\$\w+):"), re.compile(r"(@!?%p\d+\s+)?bra(?:\.uni)?\s+(\$\w+);")
_INSTRUCTION = re.compile(r"(@!?%p\d+\s+)?[a-z][\w.]*\s*[^:]*;")
_ENDS = re.compile(r"(ret|exit|trap);")
_ARITHMETIC = re.compile(r"(?:@!?%p\d+\s+)?(?:add|sub|mul|div|fma|neg)\.(?:rn\.)?f(?:32|64)\b")


@dataclass
class _Block:
    """Instructions that follow each other, of which so many are arithmetic; numbers of the blocks after it."""

    count: int = 0
    work: int = 0
    after: list = field(default_factory=list)


def body_of(ptx, kernel):
    """The lines of a kernel's text."""
    begin = ptx.index(f".entry {kernel}(")
    begin = ptx.index("{", begin)
    return [line.strip() for line in ptx[begin : ptx.index("\n}", begin)].splitlines()[1:]]


def turn_of(lines):
    """(instructions, arithmetic) of the shortest turn of the loop that does the most arithmetic.

    A turn goes through no other loop twice. AssertionError where there is no loop.
    """
    blocks = _blocks(lines)
    order, backward = _walked(blocks)
    turns = []
    for last, head in backward:
        ahead = {last: (blocks[last].work, -blocks[last].count)}  # the best way from each block to the last one
        for number in order:  # blocks come after all that they lead to
            ways = [ahead[n] for n in blocks[number].after if n in ahead and (number, n) not in backward]
            if number != last and ways:
                work, count = max(ways)
                ahead[number] = (work + blocks[number].work, count - blocks[number].count)
        turns.append(ahead[head])
    assert turns, "no loop"
    work, count = max(turns)
    return -count, work


def _blocks(lines):
    """The blocks of a text; one ends at a branch and before a label."""
    blocks, labels, jumps = [_Block()], {}, []
    open_end = True  # whether the last block goes on into the next one

    def begin():
        if open_end:
            blocks[-1].after.append(len(blocks))
        blocks.append(_Block())

    for line in lines:
        if found := _LABEL.match(line):
            begin()
            open_end = True
            labels[found[1]] = len(blocks) - 1
        elif _INSTRUCTION.match(line):
            if not open_end:
                begin()
                open_end = True
            blocks[-1].count += 1
            blocks[-1].work += bool(_ARITHMETIC.match(line))
            if found := _BRANCH.match(line):
                jumps.append((len(blocks) - 1, found[2]))
                if found[1]:
                    begin()
                else:
                    open_end = False
            elif _ENDS.match(line):
                open_end = False
    for number, label in jumps:
        blocks[number].after.append(labels[label])
    return blocks


def _walked(blocks):
    """Blocks in the order in which a search in depth leaves them, and edges that lead back to one it is still in."""
    order, backward, known, inside = [], [], {0}, [(0, iter(blocks[0].after))]
    within = {0}
    while inside:
        number, following = inside[-1]
        for after in following:
            if after in within:
                backward.append((number, after))
            elif after not in known:
                known.add(after)
                within.add(after)
                inside.append((after, iter(blocks[after].after)))
                break
        else:
            inside.pop()
            within.discard(number)
            order.append(number)
    return order, backward
