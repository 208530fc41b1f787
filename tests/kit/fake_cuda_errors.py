"""Errors of the stand-in for CuPy: classes and numbers as CuPy and CUDA have them."""

NAMES = {
    100: "cudaErrorNoDevice: no CUDA-capable device is detected",
    700: "cudaErrorIllegalAddress: an illegal access",
}
NAMES |= {
    802: "cudaErrorSystemNotReady: system not yet initialized",
    803: "cudaErrorSystemDriverMismatch: system has unsupported display driver / cuda driver combination",
    999: "cudaErrorUnknown: unknown error",
}
NAMES |= {906: "cudaErrorStreamCaptureImplicit", 901: "cudaErrorStreamCaptureInvalidated"}
NAMES |= {904: "cudaErrorStreamCaptureUnjoined", 905: "cudaErrorStreamCaptureIsolation"}
NAMES |= {900: "cudaErrorStreamCaptureUnsupported", 35: "cudaErrorInsufficientDriver", 400: "cudaErrorInvalidHandle"}
NAMES |= {201: "cudaErrorDeviceUninitialized: invalid device context"}


class OutOfMemoryError(MemoryError):
    pass


class CUDARuntimeError(RuntimeError):
    def __init__(self, status):
        super().__init__(NAMES.get(status, f"error {status}"))
        self.status = status


class CUDADriverError(CUDARuntimeError):
    pass


class CompileException(Exception):  # as CuPy calls it
    pass
