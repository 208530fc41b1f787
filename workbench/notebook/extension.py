"""The IPython extension: `%load_ext workbench` brings magics, completion and progress; `%unload_ext` takes all away."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata
from typing import Any
from weakref import WeakKeyDictionary

from IPython.core.interactiveshell import InteractiveShell

from workbench.frontend import language
from workbench.machine import Machine
from workbench.notebook.completion import StencilMatcher
from workbench.notebook.magics import StencilMagics
from workbench.notebook.run_progress import ProgressDisplays
from workbench.notebook.tune_magic import TuneMagics
from workbench.notebook.word_help import InspectionHook
from workbench.planning.checking import set_checking
from workbench.run.progress import set_listener_factory

_FOREIGN = "workbench"  # a distribution on the package index that has nothing to do with this package


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was added to one shell, to be taken away again."""

    magics: tuple[StencilMagics, TuneMagics]
    matcher: StencilMatcher
    hook: InspectionHook


_loaded: WeakKeyDictionary[Any, Loaded] = WeakKeyDictionary()


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Add `%%stencil` and `%%tune`, with completion and progress; called by `%load_ext workbench`."""
    unload_ipython_extension(shell)  # a second load without an unload must not leave two matchers
    foreign = foreign_text()
    if foreign:
        print(foreign)  # noqa: T201  # to the user who has just typed %load_ext
    magics = (StencilMagics(shell), TuneMagics(shell))
    shell.register_magics(*magics)
    matcher = StencilMatcher(shell.user_ns, Machine, {name: getattr(language, name) for name in language.__all__})
    matcher.attach(shell.Completer)
    hook = InspectionHook(shell)
    hook.attach()
    set_listener_factory(ProgressDisplays(shell).new_listener)
    if getattr(shell, "kernel", None) is not None:
        from workbench.views.registry.channel import serve_registry  # kernel processes have comms, terminals have not

        serve_registry()
    _loaded[shell] = Loaded(magics, matcher, hook)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Remove what `load_ipython_extension` added; machines and simulations stay as they are."""
    loaded = _loaded.pop(shell, None)
    if loaded is None:
        return
    loaded.matcher.detach(shell.Completer)
    loaded.hook.detach()
    set_listener_factory(None)
    set_checking(None)
    manager = shell.magics_manager
    configurables: list[Any] = shell.configurables  # Magics enter themselves there; IPython types it too narrowly
    for magics in loaded.magics:
        for kind, names in magics.magics.items():
            for name in names:
                manager.magics[kind].pop(name, None)
        manager.registry.pop(type(magics).__name__, None)
        if magics in configurables:
            configurables.remove(magics)


def foreign_text() -> str:
    """A warning if the foreign distribution `workbench` is installed here as well, else ""."""
    try:
        version = metadata.version(_FOREIGN)
    except metadata.PackageNotFoundError:
        return ""
    return (
        f"A foreign package called 'workbench' (version {version}) is installed in this environment. It has nothing "
        "to do with stencil-workbench and shares its import name, so files of the two may be mixed.\n"
        "Type: pip uninstall -y workbench && pip install --force-reinstall --no-deps stencil-workbench"
    )
