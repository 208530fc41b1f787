"""Loading, reloading and unloading leave the shell as it was."""

from importlib import metadata

from workbench.notebook import extension
from workbench.planning.checking import is_checking


def state(ip):
    return (
        sorted(ip.magics_manager.magics["line"]),
        sorted(ip.magics_manager.magics["cell"]),
        sorted(ip.magics_manager.registry),
        list(ip.Completer.custom_matchers),
        [type(c).__name__ for c in ip.configurables],
        ip.custom_exceptions,
    )


def test_unload_leaves_nothing(shell):
    shell.ip.run_line_magic("unload_ext", "no_such_extension")  # IPython makes its own magics when first used
    shell.ip.find_line_magic("pinfo")
    before = state(shell.ip)
    shell.ip.run_line_magic("load_ext", "workbench")
    during = state(shell.ip)
    shell.ip.run_line_magic("unload_ext", "workbench")
    assert during != before
    assert "stencil" in during[1]
    assert during[5] == before[5]  # no exception hook
    assert state(shell.ip) == before


def test_reload_and_a_second_load_add_nothing(shell):
    shell.ip.run_line_magic("load_ext", "workbench")
    once = [len(part) for part in state(shell.ip)]
    shell.ip.run_line_magic("reload_ext", "workbench")
    assert [len(part) for part in state(shell.ip)] == once
    extension.load_ipython_extension(shell.ip)
    assert [len(part) for part in state(shell.ip)] == once
    shell.ip.run_line_magic("unload_ext", "workbench")


def test_unload_without_load_does_nothing(shell):
    before = state(shell.ip)
    extension.unload_ipython_extension(shell.ip)
    assert state(shell.ip) == before


def test_the_foreign_package_is_named(shell, monkeypatch, capsys):
    real = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "1.0.0" if name == "workbench" else real(name))
    extension.load_ipython_extension(shell.ip)
    extension.unload_ipython_extension(shell.ip)
    text = capsys.readouterr().out
    assert "foreign package called 'workbench' (version 1.0.0)" in text
    assert "pip uninstall -y workbench" in text


def test_silent_without_it(shell, monkeypatch, capsys):
    def version(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", version)
    extension.load_ipython_extension(shell.ip)
    extension.unload_ipython_extension(shell.ip)
    assert capsys.readouterr().out == ""


def test_checks_are_switched_by_a_trait_until_the_extension_goes(loaded, monkeypatch):
    monkeypatch.setenv("WORKBENCH_CHECK", "0")
    assert not is_checking()
    loaded.run("%config StencilMagics.check = True")
    assert is_checking()
    loaded.run("%config StencilMagics.check = False")
    assert not is_checking()
    loaded.run("%config StencilMagics.check = True")
    loaded.run("%unload_ext workbench")
    assert not is_checking()
