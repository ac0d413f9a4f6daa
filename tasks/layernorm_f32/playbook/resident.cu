// SPDX-License-Identifier: 0BSD
// A row stays on chip between the two uses, spread over all multiprocessors, so x is read from memory once. The blocks
// stay for the whole call and meet once per row at a barrier in the workspace. SETS sets of blocks work on different
// rows at the same time: while one set waits at its barrier, the other reads or writes. Each thread refills a place as
// soon as it has written the result that stood there, so reads of the next row mix with writes of this one.
#include <cmath>
#include <cstdint>

namespace {

// espalier: tune BLOCK = 256 512
#define BLOCK 512
// espalier: tune SETS = 1 2
#define SETS 2
// espalier: tune HELD = 2 4 6
#define HELD 4
// espalier: tune HINT = 0 1
#define HINT 0 // 1: x leaves the L2 cache first, so that weight and bias stay there from row to row
constexpr int kPlaces = 8192 / BLOCK; // vectors of a row that a thread keeps: 132 * 8192 hold a row of 4194304 elements
constexpr int kMostStaged = 216 * 1024 / 16 / SETS / BLOCK;
constexpr int kStaged = kPlaces - HELD < kMostStaged ? kPlaces - HELD : kMostStaged; // of these in shared memory
constexpr int kLeastVectors = 2 * BLOCK; // of a row in a block, so that short rows are not spread thin

// Rows whose length is a multiple of 4 move as float4, all others as single floats: a row, weight and bias then do not
// share an alignment.
__device__ float sum(float v)
{
    return v;
}
__device__ float sum(float4 v)
{
    return (v.x + v.y) + (v.z + v.w);
}
__device__ float squares(float v, float mean)
{
    return (v - mean) * (v - mean);
}
__device__ float squares(float4 v, float mean)
{
    return (squares(v.x, mean) + squares(v.y, mean)) + (squares(v.z, mean) + squares(v.w, mean));
}
__device__ float normalise(float v, float2 s, float w, float b)
{
    return (v - s.x) * s.y * w + b;
}
__device__ float4 normalise(float4 v, float2 s, float4 w, float4 b)
{
    return make_float4(normalise(v.x, s, w.x, b.x), normalise(v.y, s, w.y, b.y), normalise(v.z, s, w.z, b.z),
                       normalise(v.w, s, w.w, b.w));
}

template <class V>
__device__ void copyAsync(V* shared, const V* global)
{
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    if constexpr (sizeof(V) == 16 && HINT != 0) {
        uint64_t policy;
        asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
        asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "l"(policy)
                     : "memory");
    } else if constexpr (sizeof(V) == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(global) : "memory");
}

// The sum over the block, for every thread.
__device__ float blockSum(float v, float* partial)
{
    for (int step = 16; step > 0; step /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, step);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = v;
    __syncthreads();
    const int lane = threadIdx.x % 32;
    v = lane < BLOCK / 32 ? partial[lane] : 0.0f;
    for (int step = 16; step > 0; step /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

__device__ double warpSum(double v)
{
    for (int step = 16; step > 0; step /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

// Waits until all `parts` blocks of the row have stored their statistics, then merges them: one warp's work.
// Double precision: it is little work, and the blocks' means can be close to each other.
__device__ float2 mergeParts(const float2* statistics, unsigned* arrived, int parts, int64_t slice, int64_t vectors,
                             int perVector, float eps)
{
    const int lane = threadIdx.x % 32;
    unsigned count = 0;
    while (count < static_cast<unsigned>(parts))
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(count) : "l"(arrived) : "memory");
    __syncwarp();
    const double n = static_cast<double>(vectors) * perVector;
    double mean = 0.0;
    double variance = 0.0;
    for (int pass = 0; pass < 2; ++pass) {
        double v = 0.0;
        for (int p = lane; p < parts; p += 32) {
            const float2 own = __ldcg(statistics + p);
            const int64_t left = vectors - p * slice;
            const double size = static_cast<double>(left < slice ? left : slice) * perVector;
            const double d = own.x - mean;
            v += pass == 0 ? size * d : own.y + size * d * d;
        }
        v = warpSum(v) / n;
        (pass == 0 ? mean : variance) = v;
    }
    return make_float2(static_cast<float>(mean), static_cast<float>(1.0 / sqrt(variance + eps)));
}

// Blocks [g * parts, (g + 1) * parts) work on rows g, g + groups, ...; each on vectors [part * slice, (part + 1) *
// slice).
template <class V>
__global__ void __launch_bounds__(BLOCK, SETS)
    normaliseRows(const V* __restrict__ x, const V* __restrict__ weight, const V* __restrict__ bias, V* __restrict__ y,
                  int64_t rows, int64_t vectors, int parts, int64_t slice, float eps, float2* statistics,
                  unsigned* arrived)
{
    extern __shared__ float4 raw[];
    __shared__ float partial[BLOCK / 32];
    __shared__ float2 merged;
    constexpr int kPerVector = sizeof(V) / sizeof(float);
    V* staged = reinterpret_cast<V*>(raw) + threadIdx.x; // this thread's places, BLOCK apart
    const int groups = gridDim.x / parts;
    const int part = blockIdx.x % parts;
    const int64_t begin = part * slice;
    const int64_t left = vectors - begin;
    const int size = static_cast<int>(left < slice ? left : slice); // of this block's slice
    const int t = threadIdx.x;
    const int heldAt = t + kStaged * BLOCK;
    const int restAt = heldAt + HELD * BLOCK;
    const V* w = weight + begin;
    const V* b = bias + begin;

    int64_t row = blockIdx.x / parts;
    const V* in = x + row * vectors + begin;
    V held[HELD];
#pragma unroll
    for (int i = 0; i < kStaged; ++i)
        if (t + i * BLOCK < size)
            copyAsync(staged + i * BLOCK, in + t + i * BLOCK);
#pragma unroll
    for (int i = 0; i < HELD; ++i)
        held[i] = heldAt + i * BLOCK < size ? __ldcs(in + heldAt + i * BLOCK) : V{};

    for (; row < rows; row += groups) {
        in = x + row * vectors + begin;
        V* out = y + row * vectors + begin;
        asm volatile("cp.async.wait_all;" ::: "memory");

        float total = 0.0f;
#pragma unroll
        for (int i = 0; i < kStaged; ++i)
            if (t + i * BLOCK < size)
                total += sum(staged[i * BLOCK]);
#pragma unroll
        for (int i = 0; i < HELD; ++i)
            total += sum(held[i]);
        for (int c = restAt; c < size; c += BLOCK)
            total += sum(in[c]);
        const float mean = blockSum(total, partial) / (static_cast<float>(kPerVector) * size);
        float deviation = 0.0f;
#pragma unroll
        for (int i = 0; i < kStaged; ++i)
            if (t + i * BLOCK < size)
                deviation += squares(staged[i * BLOCK], mean);
#pragma unroll
        for (int i = 0; i < HELD; ++i)
            if (heldAt + i * BLOCK < size)
                deviation += squares(held[i], mean);
        for (int c = restAt; c < size; c += BLOCK)
            deviation += squares(in[c], mean);
        deviation = blockSum(deviation, partial);

        if (t < 32) {
            if (t == 0) {
                statistics[row * parts + part] = make_float2(mean, deviation);
                asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrived + row) : "memory");
            }
            const float2 s =
                mergeParts(statistics + row * parts, arrived + row, parts, slice, vectors, kPerVector, eps);
            if (t == 0)
                merged = s;
        }
        __syncthreads();
        const float2 s = merged;

        const bool more = row + groups < rows;
        const V* next = in + groups * vectors;
        for (int c = restAt; c < size; c += BLOCK)
            __stcs(out + c, normalise(__ldcs(in + c), s, w[c], b[c]));
#pragma unroll
        for (int i = 0; i < HELD; ++i) {
            const int c = heldAt + i * BLOCK;
            if (c < size) {
                __stcs(out + c, normalise(held[i], s, w[c], b[c]));
                if (more)
                    held[i] = __ldcs(next + c);
            }
        }
#pragma unroll 4
        for (int i = 0; i < kStaged; ++i) {
            const int c = t + i * BLOCK;
            if (c < size) {
                __stcs(out + c, normalise(staged[i * BLOCK], s, w[c], b[c]));
                if (more)
                    copyAsync(staged + i * BLOCK, next + c);
            }
        }
    }
}

// How a call is spread over the device.
struct Plan {
    int64_t slice; // vectors of a row per block
    int parts;     // blocks per row
    int groups;    // rows at a time
};

cudaError_t plan(int64_t rows, int64_t cols, Plan& p)
{
    int device = 0;
    int multiprocessors = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (error != cudaSuccess)
        return error;
    const int64_t vectors = cols % 4 == 0 ? cols / 4 : cols;
    int64_t parts = (vectors + kLeastVectors - 1) / kLeastVectors;
    if (parts > multiprocessors)
        parts = multiprocessors;
    p.slice = (vectors + parts - 1) / parts;
    p.parts = static_cast<int>((vectors + p.slice - 1) / p.slice);
    const int64_t groups = static_cast<int64_t>(multiprocessors) * SETS / p.parts;
    p.groups = static_cast<int>(groups < rows ? groups : rows);
    return p.slice > INT32_MAX ? cudaErrorInvalidValue : cudaSuccess;
}

template <class V>
cudaError_t launch(const float* x, const float* weight, const float* bias, float* y, int64_t rows, int64_t cols,
                   float eps, void* workspace, cudaStream_t stream)
{
    Plan p{};
    cudaError_t error = plan(rows, cols, p);
    if (error != cudaSuccess)
        return error;
    const int64_t vectors = sizeof(V) == 16 ? cols / 4 : cols;
    float2* statistics = static_cast<float2*>(workspace);
    unsigned* arrived = reinterpret_cast<unsigned*>(statistics + rows * p.parts);
    error = cudaMemsetAsync(arrived, 0, rows * sizeof(unsigned), stream);
    if (error != cudaSuccess)
        return error;

    constexpr int kSharedBytes = kStaged * BLOCK * sizeof(V);
    error = cudaFuncSetAttribute(normaliseRows<V>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
    if (error != cudaSuccess)
        return error;
    // A cooperative launch: the barrier needs all blocks on the device at once, or none.
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(p.parts * p.groups));
    config.blockDim = dim3(BLOCK);
    config.dynamicSmemBytes = kSharedBytes;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, normaliseRows<V>, reinterpret_cast<const V*>(x),
                              reinterpret_cast<const V*>(weight), reinterpret_cast<const V*>(bias),
                              reinterpret_cast<V*>(y), rows, vectors, p.parts, p.slice, eps, statistics, arrived);
}

} // namespace

// Statistics of every block for every row, then a counter for every row.
extern "C" size_t layernorm_f32_workspace(int64_t rows, int64_t cols, float eps)
{
    Plan p{};
    if (plan(rows, cols, p) != cudaSuccess)
        return 0;
    return rows * (p.parts * sizeof(float2) + sizeof(unsigned));
}

extern "C" cudaError_t layernorm_f32(const float* x, const float* weight, const float* bias, float* y, int64_t rows,
                                     int64_t cols, float eps, void* workspace, size_t workspace_bytes,
                                     cudaStream_t stream)
{
    return cols % 4 == 0 ? launch<float4>(x, weight, bias, y, rows, cols, eps, workspace, stream)
                         : launch<float>(x, weight, bias, y, rows, cols, eps, workspace, stream);
}
