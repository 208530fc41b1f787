"""Compilers with faults of their own: a text gets past them, and the user is told."""

import ctypes
import warnings
from dataclasses import replace

import pytest

from workbench.backends.build_cache import BuildCache
from workbench.backends.compile_pool import Compiler, Unit, build
from workbench.backends.compiler_failures import CompilerFaultWarning
from workbench.backends.toolchain import Toolchain, find_toolchain
from workbench.errors import BuildError

ANSWER = Unit("answer", 'extern "C" __attribute__((visibility("default"))) int answer() { return 5; }\n')


def failing(folder, *, vectors_only):
    """The host's compiler behind a script that stops with an internal error, always or where it makes vectors."""
    host = find_toolchain()
    assert isinstance(host, Toolchain), host
    says = "echo 'answer.cpp:1:1: error: unrecognizable insn:'; echo 'internal compiler error: in extract_insn'; exit 1"
    fails = f'case " $* " in *-vectorize*) ;; *) {says};; esac' if vectors_only else says
    path = folder / "broken"
    path.write_text(f'#!/bin/sh\n{fails}\nexec {" ".join(host.command)} "$@"\n')
    path.chmod(0o755)
    return Compiler(replace(host, command=(str(path),)), BuildCache(folder / "cache"))


def test_a_text_gets_past_an_internal_error_of_the_compiler_and_the_user_is_told(tmp_path):
    """As g++ 12 does in some masked operations of AVX-512: the text is right, the compiler's choice of vectors not."""
    broken = failing(tmp_path, vectors_only=True)
    with pytest.warns(CompilerFaultWarning, match="internal error at 'answer'.*results are the same.*WORKBENCH_CXX"):
        (built,) = build([ANSWER], broken)
    assert ctypes.CDLL(str(built.path)).answer() == 5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert build([ANSWER], broken)[0].from_cache


def test_an_internal_error_that_stays_is_an_error_and_the_source_is_kept(tmp_path):
    broken = failing(tmp_path, vectors_only=False)
    with pytest.raises(BuildError, match="unrecognizable insn") as error:
        build([ANSWER], broken)
    assert "Report this text" in str(error.value)
    assert len(list((broken.cache.folder / "failed").iterdir())) == 1
