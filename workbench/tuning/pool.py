"""Pool: the evaluator of a machine's study: a few sandboxes, each with a worker process of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from queue import LifoQueue

from workbench.tuning.sandbox import Sandbox
from workbench.tuning.setup import Setup
from workbench.tuning.trials import Outcome


class Pool:
    """As many candidates at a time as there are workers; they build beside each other and are measured one by one."""

    def __init__(self, setup: Setup, workers: int, *, samples: int, memory_bytes: int = 0) -> None:
        """samples: measurements of a candidate. memory_bytes: of address space for all candidates, 0 for no bound."""
        self._samples = samples
        self._sandboxes = [Sandbox(setup, memory_bytes=memory_bytes // workers) for _ in range(workers)]
        self._free: LifoQueue[Sandbox] = LifoQueue()
        for sandbox in self._sandboxes:
            self._free.put(sandbox)
        self._sandboxes[0].expect()

    def evaluate(
        self, text: str, *, against: str, best: float, timeout: float, within: float, known: Callable[[str], bool]
    ) -> tuple[Outcome | None, str]:
        """The outcome and the phenotype of choices; None if `known` says that the phenotype is."""
        sandbox = self._free.get()
        try:
            return sandbox.evaluate(
                text,
                samples=self._samples,
                against=against,
                best=best,
                timeout=timeout,
                within=within,
                known=known,
            )
        finally:
            self._free.put(sandbox)

    def race(self, texts: Sequence[str], *, rounds: int, timeout: float, within: float) -> list[tuple[float, ...]]:
        """Samples of finalists that take turns. TuningError if that breaks off."""
        return self._sandboxes[0].race(texts, rounds=rounds, timeout=timeout, within=within)

    def close(self) -> None:
        """End the workers and what they run."""
        for sandbox in self._sandboxes:
            sandbox.close()
