"""Lent: which arrays a call gives to compiled code, and that compiled code has their addresses."""


class Watched:
    """A call's instance that notes what is lent to it: `seen` has (name, array) in turn."""

    def __init__(self, call):
        """`call`: what a prepared program keeps; `leave` gives it the instance back."""
        self._call, self.instance, self.seen = call, call._instance, []
        call._instance = self

    def __getattr__(self, name):
        return getattr(self.instance, name)

    def leave(self):
        self._call._instance = self.instance

    def lend(self, name, values):
        self.instance.lend(name, values)
        self._note(name, values)

    def lend_all(self, names, arrays, otherwise):
        apart = set()

        def other(name, values):
            apart.add(name)
            otherwise(name, values)

        self.instance.lend_all(names, arrays, other)
        for name, values in zip(names, arrays, strict=True):
            if name not in apart:
                self._note(name, values)

    def _note(self, name, values):
        assert self.instance._slots[self.instance._field_slots[name]] == values.ctypes.data, name
        self.seen.append((name, values))
