"""Records as they would be with one more field, which has a default."""

from dataclasses import field, fields, make_dataclass


def wider(kind):
    """The class as it would be with one more field, which has a default."""
    more = [("further", bool, field(default=False))]
    return make_dataclass(kind.__name__, more, bases=(kind,), frozen=True, slots=True)


def widened(value, classes):
    """The same records, with those of `classes` in their wider form, all the way down."""
    if isinstance(value, tuple):
        return tuple(widened(each, classes) for each in value)
    if not hasattr(value, "__dataclass_fields__"):
        return value
    made = {f.name: widened(getattr(value, f.name), classes) for f in fields(value)}
    return classes.get(type(value), type(value))(**made)
