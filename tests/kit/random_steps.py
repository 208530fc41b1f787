"""Random cells of several loops a step: a rule of its own for each side, scalars that change, stages, stored values."""

import random

from tests.kit.random_tileable import random_offset

RULES = (
    '"outflow"', "reflect()", "reflect(sign=-1)", "mirror()", "mirror(sign=-1)",
    "constant(0.5)", "constant(p)", "constant(0.25 * time)", "fixed(p)", "fixed(time)", "neumann(0.125, 1.0)",
    "neumann(0.25 * time, 1.0)", "ANALYTIC",
)  # fmt: skip
RINGS = ('"periodic"', "periodic(sign=-1)")
WALLS = {rule: f"{rule} of faces" for rule in RULES if rule.startswith(("reflect", "mirror"))}
"""What these rules are where values lie on faces: reflections about the wall, whose own face has no partner."""


def random_rules(rng, dim, periodic=False):
    """(text, rules): the rules of a field, (axis, rule) for each side, periodic ones for both of an axis."""
    if periodic:
        return RINGS[0], [(axis, RINGS[0]) for axis in range(dim)]
    sides, used = [], []
    for axis in range(dim):
        name = "xyz"[axis]
        if rng.random() < 0.35:
            rule = rng.choice(RINGS)
            sides.append(f'"{name}": {rule}')
            used.append((axis, rule))
        else:
            for side in "-+":
                rule = rng.choice(RULES)
                used.append((axis, rule))
                sides.append(f'"{name}{side}": {rule}')
    indices = "ijk"[:dim]
    analytic = f"analytic(lambda {', '.join(indices)}: 0.5 * {indices[0]} + 0.25 * {indices[-1]} + time)"
    return "{" + ", ".join(sides).replace("ANALYTIC", analytic) + "}", used


def random_steps(seed, dim):
    """(text, rules): the text of a cell and the rules of its fields and stages."""
    rng = random.Random(f"steps {seed}")
    names = list("abc"[: rng.randint(1, 3)])
    lines, rules = ['p = param("p", 0.3)', 'time = scalar("time")'], []
    reach, periodic = rng.choice((1, 1, 2, 3)), rng.random() < 0.15  # or all fields are, along all axes
    for name in names:
        text, used = random_rules(rng, dim, periodic)
        face = rng.randrange(dim) if rng.random() < 0.2 else None
        rules += [WALLS.get(rule, rule) if axis == face else rule for axis, rule in used]
        faces = "" if face is None else f', location=("face", {face})'
        kind = rng.choice(("", "", ', dtype="f32"'))
        lines.append(f'{name} = field("{name}", boundary={text}{kind}{faces})')
    lines.append(f"fields = time + {' + '.join(names)}")
    known = list(names)
    for number in range(rng.choice((0, 0, 1, 1, 2))):
        stage = f"s{number}"
        value = f"{formula(rng, known, dim, reach)} + 0.001 * fields"
        match rng.choice(("extended", "stored", "plain")):
            case "extended":
                text, used = random_rules(rng, dim)
                rules += [rule for _, rule in used]
                lines.append(f"{stage} = extend({value}, {text})")
            case "stored":
                lines.append(f"{stage} = manifest({value})")
            case _:
                lines.append(f"{stage} = {value}")
        known.append(stage)
    changing = rng.sample(names, rng.randint(1, len(names)))
    lines.append(f"used = time + {' + '.join(known)}")  # every value
    for name in changing:
        others, stages = [n for n in names if n != name], [n for n in known if n[0] == "s"]
        if (
            stages and rng.random() < 0.4
        ):  # an array that is a stage first, computed outside the domain too, then a field
            lines.append(f"{name}.next = {rng.choice(stages)}")
        elif others and name != changing[0] and rng.random() < 0.3:
            lines.append(f"{name}.next = {rng.choice(others)}")
        else:
            lines.append(f"{name}.next = {formula(rng, known[-3:], dim, reach)} + 0.001 * used")
    lines.append(f"time.next = {rng.choice(('time + 0.0625', 'time + 0.5 * p', '0.5 - 0.25 * time'))}")
    if rng.random() < 0.3:
        lines += ['top = scalar("top")', f"top.next = reduce_max({names[0]})"]
    return "\n".join(lines) + "\n", rules


def formula(rng, names, dim, reach):
    """A sum whose weights add up to less than one, so that values stay small."""
    count = rng.randint(2, 4)
    terms = [f"{0.8 / count:.3f} * {rng.choice(names)}{random_offset(rng, dim, reach)}" for _ in range(count)]
    return f"{names[-1]} * 0.1 + " + " + ".join(terms)
