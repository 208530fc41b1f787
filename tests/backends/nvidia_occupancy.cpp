// NVIDIA's own occupancy calculator: numbers of a device, then of kernels, from standard input; blocks at once, one a line.
#include <cstddef>
#include <climits>
#include <cstdio>
#include <cuda_occupancy.h>

int main() {
  int major, minor, warps, block_threads, registers, shared, shared_block, reserved;
  while (std::scanf("%d %d %d %d %d %d %d %d", &major, &minor, &warps, &block_threads, &registers, &shared,
                    &shared_block, &reserved) == 8) {
    cudaOccDeviceProp device;
    device.computeMajor = major;
    device.computeMinor = minor;
    device.maxThreadsPerBlock = block_threads;
    device.maxThreadsPerMultiprocessor = warps * 32;
    device.regsPerBlock = device.regsPerMultiprocessor = registers;
    device.warpSize = 32;
    device.sharedMemPerBlock = 48 * 1024;
    device.sharedMemPerMultiprocessor = shared;
    device.sharedMemPerBlockOptin = shared_block;
    device.reservedSharedMemPerBlock = reserved;
    device.numSms = 1;
    int count;
    if (std::scanf("%d", &count) != 1) return 1;
    for (int kernel = 0; kernel < count; kernel++) {
      int block, each;
      size_t bytes;
      if (std::scanf("%d %d %zu", &block, &each, &bytes) != 3) return 1;
      cudaOccFuncAttributes attributes;
      attributes.maxThreadsPerBlock = INT_MAX;
      attributes.numRegs = each;
      attributes.sharedSizeBytes = 0;
      attributes.partitionedGCConfig = PARTITIONED_GC_OFF;
      attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
      attributes.maxDynamicSharedSizeBytes = bytes;
      attributes.numBlockBarriers = 1;
      cudaOccDeviceState state;
      state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
      cudaOccResult result;
      const cudaOccError error =
          cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &attributes, &state, block, bytes);
      std::printf("%d\n", error == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : -1);
    }
  }
}
