// SPDX-License-Identifier: Apache-2.0
// A libcuda.so.1 without a GPU, for tests: device memory is memfds mapped with real protections (a write to a read-only
// mapping or into a guard ends the process with SIGSEGV, the way a GPU fault ends a runner), work runs at once on the
// CPU, events read a clock that only that work moves (fake_clock.h). It pretends to be one GPU of compute
// capability 9.0 with a 60 MiB L2 cache and as much memory as ESPALIER_FAKE_DEVICE_BYTES says (default 256 MiB, counted
// per process). Of kernels it knows the judge's own operations; a candidate's are host functions on a stream
// (cuLaunchHostFunc), which run at once, are recorded while the stream is captured, and wait for the next
// synchronisation when they are sent to the default stream, as foreign work may (fake_streams.cpp).
// ESPALIER_FAKE_DEVICES sets the number of GPUs (default 1), ESPALIER_FAKE_FAULT a call that fails.
#include "core/device/ops/ops_cpu.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_driver.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

namespace ops = espalier::ops;

constexpr std::size_t granule = 2u << 20;
constexpr int l2Bytes = 60 << 20;

struct Physical {
    int fd = -1;
    std::size_t bytes = 0;
    bool own = false; ///< created here, not imported: counts against this process's memory
    int holders = 1;  ///< the handle and each mapping
    std::unique_ptr<ClockPage> clock;
};

struct Mapping {
    std::size_t bytes = 0;
    Physical* physical = nullptr;
    bool readable = false;
    bool writable = false;
};

struct State {
    std::mutex mutex;
    std::size_t used = 0;
    std::map<CUdeviceptr, Mapping> mappings;     ///< VMM
    std::map<CUdeviceptr, std::size_t> plain;    ///< cuMemAlloc
    std::map<CUdeviceptr, std::size_t> reserved; ///< cuMemAddressReserve
};

State& state()
{
    static State theState;
    return theState;
}

std::size_t environmentNumber(const char* name, std::size_t standard)
{
    const char* text = std::getenv(name);
    return text && *text ? std::strtoull(text, nullptr, 10) : standard;
}

std::size_t capacity()
{
    return environmentNumber("ESPALIER_FAKE_DEVICE_BYTES", 256u << 20);
}

/// ESPALIER_FAKE_FAULT="cuLaunchKernel 12 719": the 12th call of that function returns 719. From 700 on the error
/// sticks, as on a device: every later call of a function that can fail here returns it, too.
struct Fault {
    std::string name;
    long after = 0;
    int code = 0;
};

Fault& fault()
{
    static Fault fault = [] {
        Fault read;
        const char* text = std::getenv("ESPALIER_FAKE_FAULT");
        std::istringstream words(text ? text : "");
        words >> read.name >> read.after >> read.code;
        return read;
    }();
    return fault;
}

std::atomic<long> faultCalls = 0; ///< of the function that is to fail

} // namespace

CUresult injectedFault(std::string_view function)
{
    static std::atomic<bool> stuck = false;
    constexpr int firstSticky = 700;
    const bool now = fault().name == function && ++faultCalls == fault().after;
    if (now && fault().code >= firstSticky) {
        stuck = true;
    }
    return now || stuck ? static_cast<CUresult>(fault().code) : CUDA_SUCCESS;
}

namespace {

void drop(Physical* physical)
{
    if (--physical->holders == 0) {
        state().used -= physical->own ? physical->bytes : 0;
        close(physical->fd);
        delete physical;
    }
}

Physical* physicalOf(CUmemGenericAllocationHandle handle)
{
    return reinterpret_cast<Physical*>(handle);
}

/// The copy engine refuses what it may not touch, without harm to the context (so it was seen on hardware).
bool allowed(CUdeviceptr address, std::size_t bytes, bool write)
{
    auto within = [&](CUdeviceptr base, std::size_t size) { return address >= base && address + bytes <= base + size; };
    if (auto at = state().mappings.upper_bound(address); at != state().mappings.begin()) {
        --at;
        if (within(at->first, at->second.bytes)) {
            return write ? at->second.writable : at->second.readable;
        }
    }
    if (auto at = state().plain.upper_bound(address); at != state().plain.begin()) {
        --at;
        return within(at->first, at->second);
    }
    return false;
}

void* pointer(CUdeviceptr address)
{
    return reinterpret_cast<void*>(address);
}

CUdeviceptr devicePointer(void* address)
{
    return reinterpret_cast<CUdeviceptr>(address);
}

struct Kernel {
    const char* name;
    int op; ///< an ops::Op, or -1: nothing is left to do (runOnCpu ends a comparison itself; there is no cache to
            ///< sweep)
};

constexpr Kernel kernels[] = {{"espalier_fill", static_cast<int>(ops::Op::Fill)},
                              {"espalier_verify", static_cast<int>(ops::Op::Verify)},
                              {"espalier_poison", static_cast<int>(ops::Op::Poison)},
                              {"espalier_compare", static_cast<int>(ops::Op::Compare)},
                              {"espalier_band", static_cast<int>(ops::Op::Band)},
                              {"espalier_hash", static_cast<int>(ops::Op::Hash)},
                              {"espalier_compare_finish", -1},
                              {"espalier_sweep", -1}};

char contextObject;
std::size_t setAside = 0; ///< of the L2 cache for persisting lines
char moduleObject;

} // namespace

extern "C" {

/// For candidates, whose runner's environment is not the test's: the next call of the function returns this.
void fakeDriverFails(const char* function, int code)
{
    fault() = {function, 1, code};
    faultCalls = 0;
}

CUresult cuInit(unsigned)
{
    return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version)
{
    *version = 13000;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count)
{
    *count = static_cast<int>(environmentNumber("ESPALIER_FAKE_DEVICES", 1));
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal)
{
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int length, CUdevice)
{
    std::strncpy(name, "Fake GPU", static_cast<std::size_t>(length));
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device)
{
    std::memset(uuid->bytes, 0, sizeof(uuid->bytes));
    uuid->bytes[0] = static_cast<char>(0xFA);
    uuid->bytes[15] = static_cast<char>(device);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice)
{
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = 9;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = 0;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = 132;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
        *value = l2Bytes;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
        *value = 1;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice)
{
    *bytes = capacity();
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice)
{
    if (const CUresult injected = injectedFault("cuDevicePrimaryCtxRetain"); injected != CUDA_SUCCESS) {
        return injected;
    }
    *context = asHandle<CUcontext>(&contextObject);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice)
{
    return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext)
{
    return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize()
{
    return CUDA_SUCCESS;
}
CUresult cuCtxSetLimit(CUlimit limit, std::size_t value)
{
    if (limit == CU_LIMIT_PERSISTING_L2_CACHE_SIZE) {
        setAside = value;
    }
    return CUDA_SUCCESS;
}
CUresult cuCtxGetLimit(std::size_t* value, CUlimit limit)
{
    *value = limit == CU_LIMIT_PERSISTING_L2_CACHE_SIZE ? setAside : 0;
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice)
{
    *pool = nullptr;
    return CUDA_SUCCESS;
}
CUresult cuMemPoolSetAttribute(CUmemoryPool, CUmemPool_attribute, void*)
{
    return CUDA_SUCCESS;
}
CUresult cuCtxResetPersistingL2Cache()
{
    return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult code, const char** name)
{
    *name = code == CUDA_ERROR_OUT_OF_MEMORY   ? "CUDA_ERROR_OUT_OF_MEMORY"
            : code == CUDA_ERROR_INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE"
                                               : "CUDA_ERROR_UNKNOWN";
    return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult code, const char** text)
{
    *text = code == CUDA_ERROR_OUT_OF_MEMORY   ? "out of memory"
            : code == CUDA_ERROR_INVALID_VALUE ? "invalid argument"
                                               : "unknown error";
    return CUDA_SUCCESS;
}

CUresult cuMemGetInfo(std::size_t* freeBytes, std::size_t* total)
{
    if (const CUresult injected = injectedFault("cuMemGetInfo"); injected != CUDA_SUCCESS) {
        return injected;
    }
    std::lock_guard lock(state().mutex);
    *total = capacity();
    *freeBytes = *total - std::min(*total, state().used);
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes)
{
    if (const CUresult injected = injectedFault("cuMemAlloc"); injected != CUDA_SUCCESS) {
        return injected;
    }
    std::lock_guard lock(state().mutex);
    // The displacement buffer (twice the L2 cache) is never read: it costs no pages until it is touched.
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || bytes == 0) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *address = devicePointer(memory);
    state().plain[*address] = bytes;
    return CUDA_SUCCESS;
}

CUresult cuMemFree(CUdeviceptr address)
{
    std::lock_guard lock(state().mutex);
    const auto at = state().plain.find(address);
    if (at == state().plain.end()) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    munmap(pointer(address), at->second);
    state().plain.erase(at);
    return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp*, CUmemAllocationGranularity_flags)
{
    *bytes = granule;
    return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes, const CUmemAllocationProp*,
                     unsigned long long)
{
    if (const CUresult injected = injectedFault("cuMemCreate"); injected != CUDA_SUCCESS) {
        return injected;
    }
    std::lock_guard lock(state().mutex);
    if (bytes == 0 || bytes % granule != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (state().used + bytes > capacity()) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    const int fd = memfd_create("fake device memory", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes + clockPageBytes)) != 0) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    state().used += bytes;
    *handle = reinterpret_cast<CUmemGenericAllocationHandle>(
        new Physical{fd, bytes, true, 1, std::make_unique<ClockPage>(fd, bytes, false)});
    return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    std::lock_guard lock(state().mutex);
    drop(physicalOf(handle));
    return CUDA_SUCCESS;
}

CUresult cuMemExportToShareableHandle(void* handleOut, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType,
                                      unsigned long long)
{
    if (const CUresult injected = injectedFault("cuMemExportToShareableHandle"); injected != CUDA_SUCCESS) {
        return injected;
    }
    const int fd = fcntl(physicalOf(handle)->fd, F_DUPFD_CLOEXEC, 0);
    std::memcpy(handleOut, &fd, sizeof(fd));
    return fd < 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* osHandle, CUmemAllocationHandleType)
{
    const int fd = fcntl(static_cast<int>(reinterpret_cast<std::intptr_t>(osHandle)), F_DUPFD_CLOEXEC, 0);
    struct stat facts{};
    if (fd < 0 || fstat(fd, &facts) != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const std::size_t bytes = static_cast<std::size_t>(facts.st_size) - clockPageBytes;
    *handle = reinterpret_cast<CUmemGenericAllocationHandle>(
        new Physical{fd, bytes, false, 1, std::make_unique<ClockPage>(fd, bytes, true)});
    return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t bytes, std::size_t, CUdeviceptr, unsigned long long)
{
    std::lock_guard lock(state().mutex);
    void* memory = mmap(nullptr, bytes + granule, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    // As aligned as on a device; the rest stays reserved, which costs nothing.
    *address = (devicePointer(memory) + granule - 1) / granule * granule;
    state().reserved[*address] = bytes;
    return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr address, std::size_t bytes)
{
    std::lock_guard lock(state().mutex);
    const auto at = state().reserved.find(address);
    if (at == state().reserved.end() || at->second != bytes) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    munmap(pointer(address), bytes);
    state().reserved.erase(at);
    return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t, CUmemGenericAllocationHandle handle,
                  unsigned long long)
{
    std::lock_guard lock(state().mutex);
    Physical* physical = physicalOf(handle);
    if (bytes > physical->bytes ||
        mmap(pointer(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, physical->fd, 0) == MAP_FAILED) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    ++physical->holders;
    state().mappings[address] = {bytes, physical, false, false};
    return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes)
{
    std::lock_guard lock(state().mutex);
    const auto at = state().mappings.find(address);
    if (at == state().mappings.end() || at->second.bytes != bytes) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    mmap(pointer(address), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    drop(at->second.physical);
    state().mappings.erase(at);
    return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* access, std::size_t)
{
    std::lock_guard lock(state().mutex);
    const auto at = state().mappings.find(address);
    const bool writable = access->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if (at == state().mappings.end() ||
        mprotect(pointer(address), bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ) != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    at->second.readable = true;
    at->second.writable = writable;
    return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes)
{
    if (const CUresult injected = injectedFault("cuMemcpyHtoD"); injected != CUDA_SUCCESS) {
        return injected;
    }
    std::lock_guard lock(state().mutex);
    if (!allowed(to, bytes, true)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    std::memcpy(pointer(to), from, bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes)
{
    if (const CUresult injected = injectedFault("cuMemcpyDtoH"); injected != CUDA_SUCCESS) {
        return injected;
    }
    std::lock_guard lock(state().mutex);
    if (!allowed(from, bytes, false)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    std::memcpy(to, pointer(from), bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream)
{
    std::lock_guard lock(state().mutex);
    if (!allowed(from, bytes, false) || !allowed(to, bytes, true)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    std::memcpy(pointer(to), pointer(from), bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, std::size_t count, CUstream)
{
    std::lock_guard lock(state().mutex);
    if (!allowed(address, count, true)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    // Displacing the cache of a device that is not there would only cost the test time.
    const bool displacement = count == 2u * l2Bytes && state().plain.contains(address);
    std::memset(pointer(address), value, displacement ? 4096 : count);
    return CUDA_SUCCESS;
}

CUresult cuMemsetD32Async(CUdeviceptr address, unsigned value, std::size_t count, CUstream)
{
    std::lock_guard lock(state().mutex);
    if (!allowed(address, 4 * count, true)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    std::fill_n(static_cast<unsigned*>(pointer(address)), count, value);
    return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule* module, const void* image)
{
    *module = asHandle<CUmodule>(&moduleObject);
    const auto has = [image](const char* entry) {
        return std::strstr(static_cast<const char*>(image), entry) != nullptr;
    };
    return has(".visible .entry espalier_fill") || has(".visible .entry espalier_sweep") ? CUDA_SUCCESS
                                                                                         : CUDA_ERROR_INVALID_PTX;
}

CUresult cuModuleUnload(CUmodule)
{
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char* name)
{
    for (const Kernel& kernel : kernels) {
        if (std::strcmp(kernel.name, name) == 0) {
            *function = asHandle<CUfunction>(&kernel);
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_NOT_FOUND;
}

CUresult cuLaunchKernel(CUfunction function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        CUstream, void** parameters, void**)
{
    if (const CUresult injected = injectedFault("cuLaunchKernel"); injected != CUDA_SUCCESS) {
        return injected;
    }
    const Kernel& kernel = *reinterpret_cast<const Kernel*>(function);
    fakeWork(10'000);
    if (kernel.op >= 0) {
        const auto op = static_cast<ops::Op>(kernel.op);
        std::uint64_t count = 0;
        std::memcpy(&count, parameters[1], sizeof(count));
        ops::runOnCpu(op, {static_cast<const std::byte*>(parameters[0]), ops::argumentBytes(op)}, count);
    }
    return CUDA_SUCCESS;
}

} // extern "C"
