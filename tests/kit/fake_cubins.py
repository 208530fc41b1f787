"""A stand-in for NVRTC, for the stand-in for the module cupy: nothing is compiled before a module is loaded."""

import hashlib
import json
import re
from dataclasses import dataclass

from workbench.backends.cubins import Cubin
from workbench.backends.nvrtc import KernelResources
from workbench.errors import BuildError

KERNELS = re.compile(r'extern "C" __global__ void __launch_bounds__\(\w+\) (\w+)\(')


@dataclass(frozen=True)
class Parameter:
    """One of a kernel: size is its bytes, of an array those of a cell."""

    name: str
    is_array: bool
    size: int


SIZES = {"double": 8, "float": 4, "int64_t": 8, "uint64_t": 8, "int32_t": 4, "uint32_t": 4, "int16_t": 2, "uint16_t": 2}
SIZES |= {"int8_t": 1, "uint8_t": 1, "bool": 1, "dd": 16}


def parameters_of(text, kernel):
    """The parameters of a kernel of the text, in order."""
    begin = re.search(rf'extern "C" __global__ void __launch_bounds__\(\w+\) {kernel}\(', text).end()
    return [parameter(each) for each in re.split(r",(?![^<]*>)", text[begin : text.index(") {", begin)])]


def parameter(declared):
    type_, name = declared.strip().rsplit(" ", 1)
    type_ = type_.removeprefix("const ").removeprefix("stencil::")
    if found := re.fullmatch(r"array<(?:const )?(.*)>", type_):
        return Parameter(name, True, SIZES[found[1]])
    if found := re.fullmatch(r"(Shape|Margins)<(\d)>", type_):
        rank = int(found[2])
        return Parameter(name, False, 48 * rank + 8 if found[1] == "Shape" else 8 * rank)
    return Parameter(name, False, 80 if type_ == "Stage" else SIZES[type_])


class FakeCubins:
    """Stands for NVRTC: a cubin is the text with its flags."""

    def __init__(self, fake, cuda):
        self.fake, self.version = fake, (cuda, 5)
        if not fake.nvrtc:
            raise BuildError(f"NVRTC, the compiler of CUDA {cuda}, was not found", advice="Install it.")

    def architecture(self, capability):
        return f"sm_{capability}"

    def obtain(self, name, text, architecture, flags):
        if name == "empty":
            return Cubin("empty", b"", (), 0.0, False)
        if self.fake.refuses:
            raise BuildError("NVRTC refused the generated text:\nkernels.cu(7): error", advice="Report it.")
        binary = json.dumps([text, flags]).encode()
        key = hashlib.sha256(binary + architecture.encode()).hexdigest()
        known = key in self.fake.compiled
        if not known:
            self.fake.compiled[key] = (text, flags, architecture)
        resources = tuple(KernelResources(kernel, 40, 8, 16, 256) for kernel in KERNELS.findall(text))
        return Cubin(key, binary, resources, 0.0 if known else 0.5, known)
