"""Settings of tunables changed a little, at random."""


def mutated(tunable, value, generator):
    """A sensible value near this one, but never this one unless there is no other.

    Numbers go one place up or down among the sensible ones, flags change one of them where they can.
    """
    others = [other for other in tunable.sensible if other != value]
    if not others:
        return value
    return generator.choice([other for other in others if is_near(tunable, value, other)] or others)


def is_near(tunable, value, other):
    match value, other:
        case tuple(), tuple():
            return len(set(value) ^ set(other)) == 1
        case bool() | str() | None, _:
            return True
        case int(), int():
            low, high = sorted((value, other))
            return not any(type(n) is int and low < n < high for n in tunable.sensible)
        case _:
            return True
