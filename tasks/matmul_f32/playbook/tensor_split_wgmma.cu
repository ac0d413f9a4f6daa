// SPDX-License-Identifier: 0BSD
// The split into two TF32 numbers on Hopper's warpgroup instructions. A first kernel lays A out in the order in which
// the instruction's lanes want it, a second splits B once and lays both halves out as the swizzled image of a shared
// memory tile. The product kernel then fills a stage with plain bulk copies of whole tiles: one thread copies, two
// warpgroups multiply, each splitting its rows of A in registers. CLUSTER blocks below each other share the tiles of B:
// each fetches a part and the copy engine delivers it to all. Partial sums move into fp32 registers every PROMOTE steps
// of a long K.
#include <cstdint>

namespace {

// espalier: tune CLUSTER = 1 2
#define CLUSTER 2
// espalier: tune STAGES = 3 4
#define STAGES 4
// espalier: tune PROMOTE = 64 128
#define PROMOTE 128
// espalier: tune BAND = 8 16 32
#define BAND 8
constexpr int kTile = 128; // rows and columns of C per block
constexpr int kDepth = 32; // of K per stage: 128 bytes, the width of the swizzle
constexpr int kGroups = 2; // warpgroups that multiply, 64 rows each
constexpr int kThreads =
    (kGroups + 1) * 128; // the last warpgroup copies: one thread of it, the others lend their registers
constexpr int kTileFloats = kTile * kDepth;
constexpr int kTileBytes = kTileFloats * 4;
constexpr int kStageBytes = 3 * kTileBytes; // A, high B, low B
constexpr int kSharedBytes = STAGES * kStageBytes + 1024;
constexpr int kPartBytes = 2 * kTileBytes / CLUSTER; // of B, that one block of a cluster fetches

// The nearest number with 11 significant bits.
__device__ float roundToTf32(float v)
{
    return __uint_as_float((__float_as_uint(v) + 0x1000u) & 0xffffe000u);
}

// A, tile after tile of 128 rows and 32 columns, K fastest; within a tile [8 columns][16 rows][lane][4]: what a lane of
// the multiplying warps needs for one instruction, in one 16-byte load. Outside A: 0.
__global__ void __launch_bounds__(256)
    arrangeA(const float* __restrict__ a, float4* __restrict__ to, int m, int k, int tilesK)
{
    const int row0 = blockIdx.x / tilesK * kTile;
    const int col0 = blockIdx.x % tilesK * kDepth;
    float4* tile = to + static_cast<int64_t>(blockIdx.x) * (kTileFloats / 4);
    const auto at = [&](int row, int col) {
        return row < m && col < k ? a[static_cast<int64_t>(row) * k + col] : 0.0f;
    };
#pragma unroll
    for (int i = threadIdx.x; i < kTileFloats / 4; i += 256) {
        const int lane = i % 32;
        const int row = row0 + i / 32 % 8 * 16 + lane / 4;
        const int col = col0 + i / 256 * 8 + lane % 4;
        tile[i] = make_float4(at(row, col), at(row + 8, col), at(row, col + 4), at(row + 8, col + 4));
    }
}

// B, tile after tile of 128 columns and 32 rows, K fastest; within a tile the high parts, then the low ones, each
// [column][32 rows] with the 16-byte pieces of every 128 bytes exchanged as the 128-byte swizzle does. Outside B: 0.
__global__ void __launch_bounds__(256)
    arrangeB(const float* __restrict__ b, float4* __restrict__ to, int n, int k, int tilesK)
{
    __shared__ float tile[kDepth][kTile + 1];
    const int col0 = blockIdx.x / tilesK * kTile;
    const int row0 = blockIdx.x % tilesK * kDepth;
#pragma unroll
    for (int i = threadIdx.x; i < kTileFloats; i += 256) {
        const int row = row0 + i / kTile;
        const int col = col0 + i % kTile;
        tile[i / kTile][i % kTile] = row < k && col < n ? b[static_cast<int64_t>(row) * n + col] : 0.0f;
    }
    __syncthreads();
    float4* high = to + static_cast<int64_t>(blockIdx.x) * (2 * kTileFloats / 4);
    float4* low = high + kTileFloats / 4;
#pragma unroll
    for (int i = threadIdx.x; i < kTileFloats / 4; i += 256) {
        const int col = i / 8;
        const int row = (i % 8 ^ col % 8) * 4;
        const float4 v = make_float4(tile[row][col], tile[row + 1][col], tile[row + 2][col], tile[row + 3][col]);
        const float4 h = make_float4(roundToTf32(v.x), roundToTf32(v.y), roundToTf32(v.z), roundToTf32(v.w));
        high[i] = h;
        low[i] =
            make_float4(roundToTf32(v.x - h.x), roundToTf32(v.y - h.y), roundToTf32(v.z - h.z), roundToTf32(v.w - h.w));
    }
}

__device__ unsigned sharedAddress(const void* p)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ void barrierInit(uint64_t* barrier, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sharedAddress(barrier)), "r"(count) : "memory");
}

__device__ void barrierExpect(uint64_t* barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(sharedAddress(barrier)), "r"(bytes)
                 : "memory");
}

// Arrives at the barrier that stands at the same place in block `rank` of the cluster.
__device__ void barrierArrive(uint64_t* barrier, unsigned rank)
{
    asm volatile("{ .reg .b32 a; mapa.shared::cluster.u32 a, %0, %1; "
                 "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [a]; }" ::"r"(sharedAddress(barrier)),
                 "r"(rank)
                 : "memory");
}

__device__ void barrierWait(uint64_t* barrier, unsigned parity)
{
    asm volatile(
        "{ .reg .pred p; again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1; @p bra done; "
        "bra again; done: }" ::"r"(sharedAddress(barrier)),
        "r"(parity)
        : "memory");
}

__device__ void bulkCopy(unsigned to, const void* from, int bytes, uint64_t* barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(sharedAddress(barrier))
                 : "memory");
}

// To the same place in every block of the cluster, completing on the barrier at the same place there.
__device__ void bulkCopyToAll(unsigned to, const void* from, int bytes, uint64_t* barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, "
                 "[%3], %4;" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(sharedAddress(barrier)), "h"(static_cast<uint16_t>((1 << CLUSTER) - 1))
                 : "memory");
}

__device__ void clusterSync()
{
    asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// d (+)= A * B for 64 x 128 x 8: A from registers, B from the shared tile that `descriptor` names.
__device__ void multiplyAdd(float (&d)[64], const unsigned (&a)[4], uint64_t descriptor, int add)
{
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %69, 0; "
        "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, "
        "%13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, "
        "%35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, "
        "%57, %58, %59, %60, %61, %62, %63}, {%64, %65, %66, %67}, %68, p, 1, 1; }"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
          "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
          "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
          "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]),
          "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]),
          "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
          "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]),
          "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(descriptor), "r"(add));
}

__device__ void wgmmaFence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

// Ends this thread's group of instructions and waits for it; the operands tell the compiler that d changes here.
__device__ void wgmmaFinish(float (&d)[64])
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int i = 0; i < 64; ++i)
        asm volatile("" : "+f"(d[i])::"memory");
}

// A tile of 128 columns, 128 bytes each, with the 128-byte swizzle; groups of 8 columns are 1024 bytes apart.
__device__ uint64_t descriptorOf(unsigned address)
{
    return static_cast<uint64_t>(address >> 4 & 0x3fff) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

struct Barriers {
    uint64_t full[STAGES];  // the copies of a stage are complete
    uint64_t empty[STAGES]; // every warp of the cluster has used it
};

__device__ void produce(const char* tilesA, const char* tilesB, unsigned stages, Barriers& barriers, int steps,
                        unsigned rank)
{
    for (int step = 0; step < steps; ++step) {
        const int s = step % STAGES;
        uint64_t* full = &barriers.full[s];
        barrierWait(&barriers.empty[s], (step / STAGES & 1) ^ 1);
        barrierExpect(full, kStageBytes);
        const unsigned to = stages + s * kStageBytes;
        bulkCopy(to, tilesA + static_cast<int64_t>(step) * kTileBytes, kTileBytes, full);
        const char* fromB = tilesB + static_cast<int64_t>(step) * 2 * kTileBytes + rank * kPartBytes;
        const unsigned toB = to + kTileBytes + rank * kPartBytes;
        if (CLUSTER == 1)
            bulkCopy(toB, fromB, kPartBytes, full);
        else
            bulkCopyToAll(toB, fromB, kPartBytes, full);
    }
}

__device__ void consume(const char* generic, unsigned stages, Barriers& barriers, int steps, int promote,
                        float (&sum)[64])
{
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    float recent[64];
    int held = 0; // steps in `recent`
#pragma unroll
    for (int i = 0; i < 64; ++i)
        sum[i] = recent[i] = 0.0f;
    for (int step = 0; step < steps; ++step) {
        const int s = step % STAGES;
        barrierWait(&barriers.full[s], step / STAGES & 1);
        const float4* tileA = reinterpret_cast<const float4*>(generic + s * kStageBytes) + warp * 32 + lane;
        unsigned high[kDepth / 8][4];
        unsigned low[kDepth / 8][4];
#pragma unroll
        for (int i = 0; i < kDepth / 8; ++i) {
            const float4 v = tileA[i * 256];
            const float x[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const float h = roundToTf32(x[e]);
                high[i][e] = __float_as_uint(h);
                low[i][e] = __float_as_uint(roundToTf32(x[e] - h));
            }
        }
        const uint64_t highB = descriptorOf(stages + s * kStageBytes + kTileBytes);
        const uint64_t lowB = descriptorOf(stages + s * kStageBytes + 2 * kTileBytes);
        wgmmaFence();
#pragma unroll
        for (int i = 0; i < kDepth / 8; ++i) {
            multiplyAdd(recent, low[i], highB + 2 * i, i > 0 || held > 0); // 8 of K are 32 bytes
            multiplyAdd(recent, high[i], lowB + 2 * i, 1);
            multiplyAdd(recent, high[i], highB + 2 * i, 1);
        }
        wgmmaFinish(recent);
        if (lane < CLUSTER)
            barrierArrive(&barriers.empty[s], lane);
        if (++held == promote || step == steps - 1) {
            held = 0;
#pragma unroll
            for (int i = 0; i < 64; ++i)
                sum[i] += recent[i];
        }
    }
}

__global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(kThreads, 1)
    multiply(const char* __restrict__ tilesA, const char* __restrict__ tilesB, float* __restrict__ c, int m, int n,
             int tilesM, int tilesN, int steps, int promote)
{
    extern __shared__ char raw[];
    __shared__ alignas(8) Barriers barriers;
    const unsigned rank = blockIdx.x % CLUSTER;
    // The swizzle counts from 1024-byte boundaries, and the place must be the same in all blocks of the cluster.
    const unsigned stages = sharedAddress(raw) + 1023 & ~1023u;
    const char* generic = raw + (stages - sharedAddress(raw));
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; ++s) {
            barrierInit(&barriers.full[s], 1);
            barrierInit(&barriers.empty[s], kGroups * 4 * CLUSTER);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    clusterSync();

    // Blocks that run at the same time cover a nearly square part of C: bands of BAND tiles down, all columns across.
    const int band = blockIdx.x / (BAND * tilesN);
    const int inBand = blockIdx.x % (BAND * tilesN);
    const int height = min(BAND, tilesM - band * BAND);
    const int tileM = band * BAND + inBand % height;
    const int tileN = inBand / height;
    const char* ownA = tilesA + static_cast<int64_t>(tileM) * steps * kTileBytes;
    const char* ownB = tilesB + static_cast<int64_t>(tileN) * steps * 2 * kTileBytes;

    if (threadIdx.x >= kGroups * 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == kGroups * 128)
            produce(ownA, ownB, stages, barriers, steps, rank);
        __syncwarp();
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        float sum[64];
        consume(generic, stages, barriers, steps, promote, sum);
        const int row0 = tileM * kTile + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
        const int col0 = tileN * kTile + threadIdx.x % 4 * 2;
#pragma unroll
        for (int i = 0; i < 64; i += 2) {
            const int row = row0 + i / 2 % 2 * 8;
            const int col = col0 + i / 4 * 8;
            float* p = c + static_cast<int64_t>(row) * n + col;
            if (row < m && col + 1 < n && n % 2 == 0) {
                *reinterpret_cast<float2*>(p) = make_float2(sum[i], sum[i + 1]);
            } else if (row < m) {
                if (col < n)
                    p[0] = sum[i];
                if (col + 1 < n)
                    p[1] = sum[i + 1];
            }
        }
    }
    clusterSync(); // no block leaves while another may still write to its shared memory
}

// Steps between moves into fp32. The error of the tensor cores' own sums is about u / 8 for every element of K between
// two moves (measured), whatever K is; short sums are expected to be more accurate than that of the longest interval.
int promoteSteps(int64_t k)
{
    const int interval = k >= 4096 ? PROMOTE : k >= 1024 ? 64 : 32;
    return interval / kDepth;
}

int64_t tilesOf(int64_t length, int tile)
{
    return (length + tile - 1) / tile;
}

// Rows of tiles: whole clusters.
int64_t tilesDown(int64_t m)
{
    return tilesOf(m, kTile * CLUSTER) * CLUSTER;
}

} // namespace

// The arranged A, then the arranged B in two parts.
extern "C" size_t matmul_f32_workspace(int64_t m, int64_t n, int64_t k)
{
    return static_cast<size_t>(tilesDown(m) + 2 * tilesOf(n, kTile)) * tilesOf(k, kDepth) * kTileBytes;
}

extern "C" cudaError_t matmul_f32(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k,
                                  void* workspace, size_t workspace_bytes, cudaStream_t stream)
{
    if (m > INT32_MAX - kTile * CLUSTER || n > INT32_MAX - kTile || k > INT32_MAX - kDepth)
        return cudaErrorInvalidValue;
    const int tilesM = static_cast<int>(tilesDown(m));
    const int tilesN = static_cast<int>(tilesOf(n, kTile));
    const int tilesK = static_cast<int>(tilesOf(k, kDepth));
    char* arrangedA = static_cast<char*>(workspace);
    char* arrangedB = arrangedA + static_cast<int64_t>(tilesM) * tilesK * kTileBytes;
    const cudaError_t error = cudaFuncSetAttribute(multiply, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
    if (error != cudaSuccess)
        return error;
    arrangeA<<<tilesM * tilesK, 256, 0, stream>>>(a, reinterpret_cast<float4*>(arrangedA), static_cast<int>(m),
                                                  static_cast<int>(k), tilesK);
    arrangeB<<<tilesN * tilesK, 256, 0, stream>>>(b, reinterpret_cast<float4*>(arrangedB), static_cast<int>(n),
                                                  static_cast<int>(k), tilesK);
    multiply<<<tilesM * tilesN, kThreads, kSharedBytes, stream>>>(
        arrangedA, arrangedB, c, static_cast<int>(m), static_cast<int>(n), tilesM, tilesN, tilesK, promoteSteps(k));
    return cudaGetLastError();
}
