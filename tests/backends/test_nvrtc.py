"""The same text that the simulator runs compiles for a device with every CUDA compiler there is."""

import pytest

from tests.kit.simulator_kernels import TEXT
from workbench.backends import nvrtc
from workbench.errors import BuildError

KERNELS = TEXT.count('extern "C" __global__ void')
ELF = b"\x7fELF"


def compiler_of(kind):
    for compiler in nvrtc.find_compilers():
        if compiler.kind == kind:
            return compiler
    return pytest.skip(f"no CUDA compiler: {kind} was not found")


@pytest.mark.parametrize("kind", ["nvcc", "nvrtc"])
def test_kernels_compile_for_the_device(kind):
    text = TEXT.replace("part, 6145", "part, 64")  # that one is wrong on purpose, and a device compiler refuses it
    binary = nvrtc.compile_cuda(text, compiler=compiler_of(kind), architecture="sm_90")
    print(f"{kind}: {len(binary.resources)} kernels, {len(binary.cubin)} bytes")
    assert binary.cubin.startswith(ELF)
    assert len(binary.resources) == KERNELS
    resources = {entry.kernel: entry for entry in binary.resources}
    assert resources["block_sum"].shared_bytes == 128 * 8
    assert resources["copy"].shared_bytes == 0
    assert 0 < resources["copy"].registers < 64
    assert all(entry.spill_store_bytes == 0 for entry in binary.resources)


@pytest.mark.parametrize("kind", ["nvcc", "nvrtc"])
def test_refused_text_names_its_line(kind):
    compiler = compiler_of(kind)
    with pytest.raises(BuildError, match=r"kernels\.cu\(2\)") as caught:
        nvrtc.compile_cuda(
            'extern "C" __global__ void k(stencil::array<double> u) {\n  u[0] = nothing;\n}\n', compiler=compiler
        )
    assert "nothing" in str(caught.value)
    assert caught.value.advice


def test_no_compiler_is_said_loudly(monkeypatch):
    monkeypatch.setattr(nvrtc.shutil, "which", lambda name: None)
    monkeypatch.setattr(nvrtc, "_nvrtc_libraries", lambda: iter(()))
    assert nvrtc.find_compilers() == ()
    with pytest.raises(BuildError, match="no CUDA compiler"):
        nvrtc.compile_cuda("")


def test_resources_of_a_log_with_spills():
    log = (
        "ptxas info    : Compiling entry function 'step' for 'sm_90'\n"
        "    32 bytes stack frame, 28 bytes spill stores, 24 bytes spill loads\n"
        "ptxas info    : Used 255 registers, used 1 barriers, 1024 bytes smem\n"
    )
    assert nvrtc.read_resources(log) == (nvrtc.KernelResources("step", 255, 28, 24, 1024),)
    assert nvrtc.read_resources("") == ()


def test_a_kernel_without_figures_is_refused(monkeypatch):
    """As NVRTC leaves them out of what it kept from before, where there is a driver."""
    compiler = compiler_of("nvrtc")
    monkeypatch.setattr(nvrtc, "read_resources", lambda log: ())
    with pytest.raises(BuildError, match="kernel empty and does not say what registers"):
        nvrtc.compile_cuda('extern "C" __global__ void empty() {}\n', compiler=compiler)


@pytest.mark.parametrize(("version", "keeps"), [((12, 8), False), ((12, 9), True), ((13, 0), True)])
def test_what_nvrtc_keeps_by_itself_is_not_taken(version, keeps, monkeypatch):
    """Versions before 12.9 keep nothing and refuse the option."""
    given, compiler = [], compiler_of("nvrtc")
    monkeypatch.setattr(nvrtc, "nvrtc_version", lambda compiler: version)
    monkeypatch.setattr(nvrtc, "_refused", lambda name, log: BuildError(log))
    real = nvrtc.ctypes.CDLL(compiler.path)

    class Library:
        def __getattr__(self, name):
            return getattr(real, name)

        def nvrtcCompileProgram(self, program, _, options):
            given.extend(option.decode() for option in options)
            known = [option for option in options if option != b"--no-cache"]
            return real.nvrtcCompileProgram(program, len(known), (nvrtc.ctypes.c_char_p * len(known))(*known))

    monkeypatch.setattr(nvrtc.ctypes, "CDLL", lambda path: Library())
    nvrtc.compile_cuda('extern "C" __global__ void empty() {}\n', compiler=compiler)
    assert ("--no-cache" in given) == keeps
    assert "--device-as-default-execution-space" in given


def test_a_lambda_in_a_generic_lambda_is_for_the_device():
    """NVRTC 13.0 takes it for host code unless it is told."""
    text = """extern "C" __global__ void nested(double *u) {
    const auto outer = [&](auto flag, double (&now)[2]) {
        const auto inner = [&](int a) -> double { return flag ? now[a] : 0.0; };
        now[1] = inner(0);
    };
    double now[2] = {u[0], u[1]};
    outer(1, now);
    u[1] = now[1];
}
"""
    assert nvrtc.compile_cuda(text, compiler=compiler_of("nvrtc")).resources[0].kernel == "nested"
