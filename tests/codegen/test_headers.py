"""Headers: a text has those that it includes and no other."""

import re
from pathlib import Path

import numpy as np

import workbench as wb
from workbench.codegen import runtime
from workbench.codegen.cpp.headers import openmp_headers


def names_of(machine):
    return [name for name, _ in machine.source("openmp").headers]


def test_a_text_of_f64_has_no_header_of_double_double():
    names = names_of(wb.collective(lambda x: x + 1).machine(np.ones(3)))
    assert names[0] == "stencil_openmp.h"
    assert not [name for name in names if "extended" in name or "elementary" in name]


def test_a_text_has_the_headers_that_its_own_include():
    names = names_of(wb.trace('u = field("u", dtype="dd")\nu.next = exp(u)', dim=1))
    assert {"stencil_extended_functions.h", "stencil_extended_sums.h", "stencil_elementary.h"} <= set(names)
    assert len(set(names)) == len(names)


def test_all_that_headers_include_is_found():
    files = Path(runtime.__file__).parent.glob("stencil_*.h")
    text = "".join(f'#include "{file.name}"\n' for file in files)
    found = dict(openmp_headers(text))
    for name, header in found.items():
        assert set(re.findall(r'#\s*include "([^"]+)"', header)) <= found.keys(), name
