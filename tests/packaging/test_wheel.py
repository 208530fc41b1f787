"""The wheel as users get it: built without a node of their own, small, complete, found by JupyterLab."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.kit.vscode_rules import widget_scripts

pytestmark = pytest.mark.packaging

ROOT = Path(__file__).resolve().parents[2]
LARGEST = 3_000_000  # bytes
NODE_TOOLS = ("node", "nodejs", "npm", "npx", "yarn", "corepack", "jlpm")


@pytest.fixture(scope="session")
def path_without_node(tmp_path_factory):
    """A PATH with everything of the system but node and its companions."""
    folder = tmp_path_factory.mktemp("bin")
    for directory in ("/bin", "/usr/bin", "/usr/local/bin"):
        for tool in Path(directory).glob("*"):
            link = folder / tool.name
            if tool.name not in NODE_TOOLS and not link.is_symlink():
                link.symlink_to(tool)
    assert all(shutil.which(tool, path=str(folder)) is None for tool in NODE_TOOLS)
    return str(folder)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory, path_without_node):
    """Built from the files of the repository alone, so that no front end built before is in it."""
    folder = tmp_path_factory.mktemp("wheel")
    checkout = folder / "checkout"
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines():
        if (ROOT / name).is_file():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, checkout / name)
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "HATCH_BUILD_NO_HOOKS")}
    environment["PATH"] = path_without_node
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(checkout)]
    subprocess.run(command, check=True, cwd=folder, env=environment, timeout=900)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def installed(wheel, tmp_path_factory):
    """The wheel in a prefix of its own, without what it depends on, as any offline machine could have it."""
    prefix = tmp_path_factory.mktemp("prefix")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--ignore-installed"]
    subprocess.run([*command, "--prefix", str(prefix), str(wheel)], check=True)
    return prefix


def test_wheel_is_small_and_complete(wheel):
    size = wheel.stat().st_size
    print(f"{wheel.name}: {size} bytes")
    assert size < LARGEST
    names = zipfile.ZipFile(wheel).namelist()
    shared = [name.partition("/data/share/jupyter/")[2] for name in names if "/data/share/jupyter/" in name]
    for wanted in ("package.json", "install.json", "static/style.js"):
        assert f"labextensions/stencil-workbench/{wanted}" in shared
    assert any("static/remoteEntry" in name for name in shared)
    assert "workbench/SEMANTICS.md" in names
    assert not [name for name in names if name.endswith("DECISIONS.md")]
    assert not [name for name in names if "node_modules" in name or "build_log" in name or name.startswith("tests/")]


def test_vs_code_finds_it(installed):
    share = installed / "share" / "jupyter"
    scripts = widget_scripts(share)
    assert scripts == {"stencil-workbench": share / "nbextensions" / "stencil-workbench" / "index.js"}
    assert scripts["stencil-workbench"].stat().st_size > 10_000


def test_jupyterlab_finds_it(installed, tmp_path):
    pytest.importorskip("jupyterlab", reason="jupyterlab is not installed")
    environment = {
        **os.environ,
        "JUPYTER_PATH": str(installed / "share" / "jupyter"),
        "JUPYTER_CONFIG_DIR": str(tmp_path),
        "HOME": str(tmp_path),
    }
    command = [sys.executable, "-m", "jupyter", "labextension", "list"]
    listed = subprocess.run(command, check=True, env=environment, capture_output=True, text=True)
    (line,) = [line for line in (listed.stdout + listed.stderr).splitlines() if "stencil-workbench" in line]
    assert "enabled" in line
    assert "OK" in line


def test_notebook_server_finds_it(installed, tmp_path):
    pytest.importorskip("jupyterlab", reason="jupyterlab is not installed")
    (package,) = installed.rglob("workbench/__init__.py")
    environment = {
        **os.environ,
        "PYTHONPATH": str(package.parents[1]),
        "JUPYTER_CONFIG_DIR": str(installed / "etc" / "jupyter"),
        "HOME": str(tmp_path),
    }
    command = [sys.executable, "-m", "jupyter", "server", "extension", "list"]
    listed = subprocess.run(command, check=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
    lines = [line for line in (listed.stdout + listed.stderr).splitlines() if "workbench.notebook.server" in line]
    assert any("enabled" in line for line in lines)
    assert any("OK" in line for line in lines)


def test_installed_package_works_and_is_the_one_that_was_built(installed, tmp_path):
    (package,) = installed.rglob("workbench/__init__.py")
    program = (
        "import workbench as wb, numpy as np\n"
        'made = wb.trace(\'u = field("u", boundary="periodic")\\nu.next = u[+1]\')\n'
        "print(wb.__file__, made.simulate(u=np.arange(3.0), backend='reference').run(1).u.tolist())"
    )
    environment = {**os.environ, "PYTHONPATH": str(package.parents[1])}
    ran = subprocess.run(
        [sys.executable, "-c", program], check=True, cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert ran.stdout.split() == [str(package), "[1.0,", "2.0,", "0.0]"]
    front_end = installed / "share" / "jupyter" / "labextensions" / "stencil-workbench" / "package.json"
    from workbench import __version__

    assert json.loads(front_end.read_text())["version"] == __version__
