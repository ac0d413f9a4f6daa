// SPDX-License-Identifier: Apache-2.0
#include "core/profile/cache_sweep.h"

#include <cstdint>
#include <utility>

namespace espalier::profile {

namespace {

// Each thread adds up 16-byte words a grid apart and stores what nobody expects: the loads cannot be left out.
constexpr const char* sweepPtx = R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry espalier_sweep(.param .u64 memory, .param .u64 words)
{
  .reg .pred %p<3>;
  .reg .b32 %r<12>;
  .reg .b64 %rd<10>;
  ld.param.u64 %rd1, [memory];
  ld.param.u64 %rd2, [words];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.wide.u32 %rd3, %r1, %r2, 0;
  cvt.u64.u32 %rd4, %r3;
  add.u64 %rd3, %rd3, %rd4;
  mov.u32 %r4, %nctaid.x;
  mul.wide.u32 %rd5, %r4, %r2;
  mov.u32 %r5, 0;
loop:
  setp.ge.u64 %p1, %rd3, %rd2;
  @%p1 bra done;
  shl.b64 %rd6, %rd3, 4;
  add.u64 %rd7, %rd1, %rd6;
  ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd7];
  add.u32 %r5, %r5, %r6;
  add.u32 %r5, %r5, %r9;
  add.u64 %rd3, %rd3, %rd5;
  bra loop;
done:
  setp.ne.u32 %p2, %r5, 305419896;
  @%p2 bra out;
  st.global.u32 [%rd1], %r5;
out:
  ret;
}
)";

} // namespace

Result<CacheSweep> CacheSweep::create(const cuda::DriverApi& api, int ordinal)
{
    CacheSweep sweep(api);
    int l2 = 0;
    ESPALIER_CUDA(api, "Reading the size of the L2 cache failed",
                  api.cuDeviceGetAttribute(&l2, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, ordinal));
    sweep.m_bytes = 2 * static_cast<std::size_t>(l2) & ~std::size_t{15};
    if (sweep.m_bytes == 0) {
        return sweep;
    }
    ESPALIER_CUDA(api, "Loading the cache sweep failed", api.cuModuleLoadData(&sweep.m_module, sweepPtx));
    ESPALIER_CUDA(api, "Loading the cache sweep failed",
                  api.cuModuleGetFunction(&sweep.m_function, sweep.m_module, "espalier_sweep"));
    ESPALIER_CUDA(api, "Allocating memory for the cache sweep failed", api.cuMemAlloc(&sweep.m_memory, sweep.m_bytes));
    ESPALIER_CUDA(api, "Clearing the cache sweep's memory failed",
                  api.cuMemsetD8Async(sweep.m_memory, 0, sweep.m_bytes, nullptr));
    ESPALIER_CUDA(api, "Clearing the cache sweep's memory failed", api.cuCtxSynchronize());
    return sweep;
}

CacheSweep::CacheSweep(CacheSweep&& other) noexcept
    : m_api(other.m_api), m_module(std::exchange(other.m_module, nullptr)), m_function(other.m_function),
      m_memory(std::exchange(other.m_memory, 0)), m_bytes(std::exchange(other.m_bytes, 0))
{
}

CacheSweep::~CacheSweep()
{
    if (m_memory) {
        m_api->cuMemFree(m_memory);
    }
    if (m_module) {
        m_api->cuModuleUnload(m_module);
    }
}

Result<void> CacheSweep::run() const
{
    if (m_bytes == 0) {
        return {};
    }
    CUdeviceptr memory = m_memory;
    std::uint64_t words = m_bytes / 16;
    void* arguments[] = {&memory, &words};
    constexpr unsigned blocks = 1024, threads = 256;
    CUresult code = m_api->cuLaunchKernel(m_function, blocks, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr);
    code = code ? code : m_api->cuCtxSynchronize();
    return code ? fail(ErrorCode::WorkerLost, m_api->describe(code)) : Result<void>();
}

} // namespace espalier::profile
