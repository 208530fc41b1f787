"""Build flags: what choices of a build add to a toolchain's own flags; nothing that changes a bit of a result."""

from __future__ import annotations

from workbench.backends.toolchain import X86, Toolchain
from workbench.errors import BuildError
from workbench.planning.choices import BuildChoices


def build_flags(choices: BuildChoices, toolchain: Toolchain) -> tuple[str, ...]:
    """The flags that choices add. BuildError where the machine has no vectors whose width a compiler can be told."""
    if not choices.vector_width:
        return choices.flags
    if not X86 & set(toolchain.system.split()):
        raise BuildError(
            f"the choices ask for vectors of {choices.vector_width} bits, which only compilers for x86 can be told",
            advice="Leave vector_width at 0 on this machine.",
        )
    # What is written in vectors has those of a cache line; the compiler makes others of loops cell by cell.
    return (*choices.flags, f"-mprefer-vector-width={choices.vector_width}", "-USTENCIL_SHIFTED")
