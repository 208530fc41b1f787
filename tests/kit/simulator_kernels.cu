// Hand-written kernels in the dialect of the generated text: right ones first, then one per seeded fault.
struct Shape {
  long long extent[2];
  long long stride;
};

__device__ __forceinline__ double smooth(double left, double middle, double right) {
  return 0.25 * left + 0.5 * middle + 0.25 * right;
}

extern "C" __global__ void copy(stencil::array<double> out, stencil::array<const double> u,
                                stencil::array<const unsigned long long> globals, Shape shape) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= shape.extent[0]) return;
  const double scale = __longlong_as_double(globals[0]);
  out[i] = scale * u[i];
}

extern "C" __global__ void __launch_bounds__(64) tiled(stencil::array<float> out, stencil::array<const float> u,
                                                       Shape shape) {
  STENCIL_SHARED(float, tile, 10 * 10);
  const int nx = (int)shape.extent[0], ny = (int)shape.extent[1];
  const int x0 = blockIdx.x * 8, y0 = blockIdx.y * 8;
  for (int k = threadIdx.y * 8 + threadIdx.x; k < 100; k += 64) {
    const int x = min(max(x0 + k % 10 - 1, 0), nx - 1), y = min(max(y0 + k / 10 - 1, 0), ny - 1);
    tile[k] = u[y * shape.stride + x];
  }
  stencil::barrier();
  const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
  const int c = (threadIdx.y + 1) * 10 + threadIdx.x + 1;
  if (x < nx && y < ny) {
    out[y * shape.stride + x] = tile[c - 1] + tile[c + 1] + tile[c - 10] + tile[c + 10] - 4.0f * tile[c];
  }
}

extern "C" __global__ void warp_sum(stencil::array<double> sums, stencil::array<const double> u, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  double value = i < n ? u[i] : 0.0;
  for (int d = 16; d > 0; d >>= 1) value += __shfl_down_sync(0xffffffffu, value, d);
  if (threadIdx.x % 32 == 0) sums[i / 32] = value;
}

extern "C" __global__ void block_sum(stencil::array<double> sums, stencil::array<const double> u, int n) {
  STENCIL_SHARED(double, part, 128);
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  part[t] = i < n ? u[i] : 0.0;
  stencil::barrier();
  for (int half = 64; half > 0; half >>= 1) {
    if (t < half) part[t] += part[t + half];
    stencil::barrier();
  }
  if (t == 0) sums[blockIdx.x] = part[0];
}

extern "C" __global__ void warp_facts(stencil::array<int> out) {
  const int lane = threadIdx.x % 32;
  const unsigned odd = __ballot_sync(0xffffffffu, lane & 1);
  const int any = __any_sync(0xffffffffu, lane == 7), all = __all_sync(0xffffffffu, lane < 31);
  const int up = __shfl_up_sync(0xffffffffu, lane, 1), swapped = __shfl_xor_sync(0xffffffffu, lane, 1);
  const int first = __shfl_sync(0xffffffffu, lane + 100, 0, 8);
  out[threadIdx.x * 6 + 0] = (int)odd;
  out[threadIdx.x * 6 + 1] = any;
  out[threadIdx.x * 6 + 2] = all;
  out[threadIdx.x * 6 + 3] = up;
  out[threadIdx.x * 6 + 4] = swapped;
  out[threadIdx.x * 6 + 5] = first;
}

extern "C" __global__ void histogram(stencil::array<int> bins, stencil::array<const unsigned char> u, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[u[i]], 1);
}

extern "C" __global__ void warp_exchange(stencil::array<int> out) {
  STENCIL_SHARED(int, box, 64);
  const int t = threadIdx.x;
  box[t] = t;
  __syncwarp();
  out[t] = box[t ^ 1];
}

extern "C" __global__ void expressions(stencil::array<float> out, stencil::array<const float> u,
                                       stencil::array<float> v, bool flag) {
  out[0] = flag ? u[0] : v[0];
  out[1] = v[0] > u[0] ? 1.0f : fmax(u[0], v[0]);
  out[2] = out[0];
  out[3] = 1.0f;
  out[3] += u[1] * 2;
  out[4] = sqrt(u[1]) + fma(u[0], u[1], v[1]);
  out[5] = __ldg(&u[1]);
  out[6] = -u[1] + !v[1];
  out[7] = smooth(u[0], u[1], v[0]);
}

extern "C" __global__ void record_block(stencil::array<int> turn, stencil::array<int> order) {
  const int mine = atomicAdd(&turn[0], 1);
  order[mine] = blockIdx.x;
}

// ---- faults: the line that the simulator must name ends in a comment with its fault ----

extern "C" __global__ void reads_outside(stencil::array<double> out, stencil::array<const double> u) {
  const int i = threadIdx.x;
  const double left = i > 0 ? u[i - 1] : 0.0;
  out[i] = left +
           u[i + 1];  // read out of bounds
}

extern "C" __global__ void writes_outside(stencil::array<double> out, stencil::array<const double> u) {
  const int i = threadIdx.x;
  out[i - 1] = u[i];  // write out of bounds
}

extern "C" __global__ void races_in_block(stencil::array<double> out, stencil::array<const double> u) {
  STENCIL_SHARED(double, part, 64);
  const int t = threadIdx.x;
  part[t] = u[t];  // other: race in a block
  out[t] = part[(t + 63) % 64];  // race in a block
  stencil::barrier();
}

extern "C" __global__ void races_between_blocks(stencil::array<double> u) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  u[i + 1] = u[i] + 1.0;  // race between blocks
}

extern "C" __global__ void diverges(stencil::array<double> out) {
  const int t = threadIdx.x;
  out[t] = t;
  if (t < 32) {
    stencil::barrier();  // divergent barrier
  } else {
    stencil::barrier();  // other: divergent barrier
  }
}

extern "C" __global__ void leaves_early(stencil::array<double> out) {
  const int t = threadIdx.x;
  out[t] = t;  // other: leaves
  if (t >= 60) return;
  stencil::barrier();  // leaves
}

extern "C" __global__ void reads_stale_shared(stencil::array<double> out) {
  STENCIL_SHARED(double, part, 64);
  const int t = threadIdx.x;
  if (t < 63) part[t] = t;
  stencil::barrier();
  out[t] = part[t];  // read of uninitialised shared memory
}

extern "C" __global__ void splits_warp(stencil::array<int> out) {
  const int t = threadIdx.x;
  int value = t;
  if (t < 16) value = __shfl_xor_sync(0xffffffffu, value, 1);  // divergent warp collective
  stencil::barrier();
  out[t] = value;
}

extern "C" __global__ void shuffles_from_nobody(stencil::array<int> out) {
  const int t = threadIdx.x;
  const int value = __shfl_down_sync(0x0000ffffu, t, 1);  // shuffle from a missing lane
  out[t] = value;
}

extern "C" __global__ void forgets_declaration(stencil::array<int> out) {
  out[threadIdx.x] = 1;
  stencil::barrier();  // undeclared barrier
}

extern "C" __global__ void wrong_everywhere(stencil::array<int> out) {
  out[100] = 1;
  out[101] = 1;
  out[102] = 1;
  out[103] = 1;
  out[104] = 1;
  out[105] = 1;
  out[106] = 1;
  out[107] = 1;
  out[108] = 1;
  out[0] = 1;
}

extern "C" __global__ void takes_everything(stencil::array<double> out) {
  STENCIL_SHARED(double, part, 6145);  // too much shared memory
  part[threadIdx.x] = 1.0;
  out[threadIdx.x] = part[threadIdx.x];
}
