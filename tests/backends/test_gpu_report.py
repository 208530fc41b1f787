"""The report of `make gpu`, as far as it goes without a GPU."""

import subprocess
import sys

import pytest

from tests.backends import gpu_report
from workbench.backends.base import Availability
from workbench.backends.registry import get_backend


def test_without_a_device_it_says_what_to_do(tmp_path, monkeypatch, capsys):
    cuda = get_backend("cuda")
    monkeypatch.setattr(type(cuda), "availability", lambda self: Availability(False, "no GPU", "Use another machine."))
    file = tmp_path / "artefacts" / "report.txt"
    assert gpu_report.report(file) == 1
    assert (
        file.read_text()
        == capsys.readouterr().out
        == (
            "no report: no GPU\nUse another machine.\n"
            "In a checkout `make gpu` installs CuPy; where the driver is one for CUDA 12: make gpu CUDA=cuda12.\n"
        )
    )


@pytest.mark.parametrize("status", [0, 3])
def test_all_parts_are_in_one_file_and_failures_count(status, tmp_path, monkeypatch):
    cuda = get_backend("cuda")
    monkeypatch.setattr(type(cuda), "availability", lambda self: Availability(True))
    command = [sys.executable, "-c", f"import sys; print('hello'); sys.exit({status})"]
    monkeypatch.setattr(gpu_report, "COMMANDS", (("greeting", command), ("nothing", ["no-such-program"])))
    monkeypatch.setattr(gpu_report, "_bandwidth", lambda: 2e12)
    monkeypatch.setattr(gpu_report, "times", lambda bandwidth: ["wave: fast"])
    file = tmp_path / "report.txt"
    assert gpu_report.report(file) == 1
    text = file.read_text()
    assert "\nhello\n" in text
    assert "cannot be run: " in text
    assert "copy: 2000 GB/s" in text
    assert "\nwave: fast\n" in text
    assert f"failed: {'greeting, ' if status else ''}nothing\n" in text


def test_times_are_taken_in_both_types():
    equations = [each for each in gpu_report.EQUATIONS if each[0] != "hydro" and each[2] == 2]
    lines = list(gpu_report.times(1e10, backend="reference", equations=equations, cells=8, seconds=0.0))
    assert [line.split()[0] for line in lines] == ["wave", "wave", "heat", "heat"]
    assert all("Gcells/s" in line for line in lines)


def test_the_makefile_calls_it():
    said = subprocess.run(["make", "-n", "gpu", "VENV=elsewhere"], capture_output=True, text=True, check=True).stdout
    assert "elsewhere/bin/python -m tests.backends.gpu_report artefacts/gpu-report.txt" in said
