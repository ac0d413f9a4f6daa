// SPDX-License-Identifier: Apache-2.0
#include "core/device/cuda/cuda_device.h"

#include "core/device/cuda/driver_api.h"
#include "core/device/cuda/mapping.h"
#include "core/device/ops/ops_cpu.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

namespace espalier {

namespace ops {
extern const char opsKernelsPtx[]; ///< ops_kernels.cu as PTX, generated at build time
}

namespace {

using cuda::DriverApi;

std::string uuidText(const CUuuid& uuid)
{
    std::string text = "GPU-";
    for (int i = 0; i < 16; ++i) {
        char part[4];
        std::snprintf(part, sizeof(part), "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                      static_cast<unsigned char>(uuid.bytes[i]));
        text += part;
    }
    return text;
}

/// "580.159.04" as the kernel module states it; the CUDA version the driver serves where it does not.
std::string driverText(const DriverApi& api)
{
    std::ifstream file("/proc/driver/nvidia/version");
    for (std::string word; file >> word;) {
        if (word.size() > 4 && word.find_first_not_of("0123456789.") == std::string::npos &&
            word.find('.') != std::string::npos) {
            return word;
        }
    }
    return "CUDA " + std::to_string(api.version / 1000) + "." + std::to_string(api.version % 1000 / 10);
}

Result<DeviceInfo> readInfo(const DriverApi& api, int ordinal)
{
    DeviceInfo info;
    info.id = "cuda:" + std::to_string(ordinal);
    CUdevice device = 0;
    ESPALIER_CUDA(api, "Opening " + info.id + " failed", api.cuDeviceGet(&device, ordinal));
    char name[256] = {};
    CUuuid uuid{};
    ESPALIER_CUDA(api, "Reading the name of " + info.id + " failed", api.cuDeviceGetName(name, sizeof(name), device));
    ESPALIER_CUDA(api, "Reading the identity of " + info.id + " failed", api.cuDeviceGetUuid(&uuid, device));
    ESPALIER_CUDA(api, "Reading the size of " + info.id + " failed", api.cuDeviceTotalMem(&info.totalBytes, device));
    int l2 = 0;
    const std::pair<CUdevice_attribute, int*> attributes[] = {
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &info.smMajor},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &info.smMinor},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &info.multiprocessors},
        {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &l2}};
    for (const auto& [attribute, value] : attributes) {
        ESPALIER_CUDA(api, "Reading the facts of " + info.id + " failed",
                      api.cuDeviceGetAttribute(value, attribute, device));
    }
    int memoryKhz = 0, busBits = 0; // where one cannot be read it stays 0, and so does the peak
    api.cuDeviceGetAttribute(&memoryKhz, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, device);
    api.cuDeviceGetAttribute(&busBits, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, device);
    info.peakDramBytesPerSecond = 2.0 * 1e3 * memoryKhz * busBits / 8; // two transfers a cycle
    int shareable = 0;
    api.cuDeviceGetAttribute(&shareable, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, device);
    if (!shareable) {
        return fail(ErrorCode::NotSupported,
                    info.id + " (" + name +
                        ") can't share memory by descriptor: use another GPU or the simulated device.");
    }
    info.name = name;
    info.uuid = uuidText(uuid);
    info.driver = driverText(api);
    info.l2Bytes = static_cast<std::size_t>(l2);
    ESPALIER_TRY(info.granularity, cuda::allocationGranularity(api, ordinal));
    return info;
}

/// Buffer of a CudaDevice, which must outlive it.
class CudaBuffer final : public DeviceBuffer
{
public:
    CudaBuffer(const DriverApi& api, CUmemGenericAllocationHandle handle) : m_api(api), m_handle(handle) {}
    ~CudaBuffer() override
    {
        m_mapping.reset();
        m_api.cuMemRelease(m_handle);
    }

    Result<void> map(int ordinal, std::size_t bytes, std::size_t granularity)
    {
        ESPALIER_TRY(m_mapping, cuda::GuardedMapping::create(m_api, ordinal, m_handle, bytes, granularity, true));
        return {};
    }

    std::size_t bytes() const override { return m_mapping->bytes(); }
    std::uint64_t address() const override { return m_mapping->address(); }
    Result<UniqueFd> share() const override
    {
        int descriptor = -1;
        ESPALIER_CUDA(
            m_api, "Sharing device memory failed",
            m_api.cuMemExportToShareableHandle(&descriptor, m_handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
        return UniqueFd(descriptor);
    }

private:
    const DriverApi& m_api;
    CUmemGenericAllocationHandle m_handle;
    std::optional<cuda::GuardedMapping> m_mapping;
};

class CudaDevice final : public Device
{
public:
    CudaDevice(const DriverApi& api, DeviceInfo info, int ordinal)
        : m_api(api), m_info(std::move(info)), m_ordinal(ordinal)
    {
    }
    ~CudaDevice() override;

    Result<void> open();
    const DeviceInfo& info() const override { return m_info; }
    Result<DeviceMemory> memory() const override;
    Result<std::unique_ptr<DeviceBuffer>> allocate(std::size_t bytes) override;
    Result<void> write(std::uint64_t address, std::span<const std::byte> from) override;
    Result<void> read(std::span<std::byte> to, std::uint64_t address) override;
    Result<void> run(ops::Op op, std::span<const std::byte> args, std::uint64_t count) override;
    std::string restoreState() override;

private:
    Result<void> launch(CUfunction function, std::span<const std::byte> args, std::uint64_t count, unsigned blocks,
                        unsigned threads);

    const DriverApi& m_api;
    DeviceInfo m_info;
    int m_ordinal;
    int m_computeMode = 0;      ///< when the judge started
    std::size_t m_setAside = 0; ///< bytes of L2 for persisting lines that this device never gives back
    CUcontext m_context = nullptr;
    CUstream m_stream = nullptr;
    CUmodule m_module = nullptr;
    std::array<CUfunction, 6> m_functions{}; ///< by Op
    CUfunction m_compareFinish = nullptr;
};

constexpr const char* kernelNames[] = {"espalier_fill",    "espalier_verify", "espalier_poison",
                                       "espalier_compare", "espalier_band",   "espalier_hash"};

std::string CudaDevice::restoreState()
{
    std::string found;
    std::size_t aside = 0;
    if (m_api.cuCtxGetLimit(&aside, CU_LIMIT_PERSISTING_L2_CACHE_SIZE) == CUDA_SUCCESS && aside > m_setAside) {
        found = "set aside " + std::to_string(aside >> 10) + " KiB of the L2 cache";
        m_api.cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0);
    }
    m_api.cuCtxResetPersistingL2Cache(); // lines that are marked already do not show in the limit
    int mode = m_computeMode;
    m_api.cuDeviceGetAttribute(&mode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, m_ordinal);
    if (mode != m_computeMode) {
        found += (found.empty() ? "" : ", ") + std::string("changed the device's compute mode");
    }
    return found;
}

CudaDevice::~CudaDevice()
{
    if (m_module) {
        m_api.cuModuleUnload(m_module);
    }
    if (m_stream) {
        m_api.cuStreamDestroy(m_stream);
    }
    if (m_context) {
        m_api.cuDevicePrimaryCtxRelease(m_ordinal);
    }
}

Result<void> CudaDevice::open()
{
    const CUresult started = m_api.cuDevicePrimaryCtxRetain(&m_context, m_ordinal);
    if (started == CUDA_ERROR_DEVICE_UNAVAILABLE) {
        return fail(ErrorCode::NotSupported,
                    m_info.id + " is held by another process (the device is in exclusive or prohibited compute mode): "
                                "end that process, or have the mode set back with nvidia-smi -c DEFAULT.");
    }
    ESPALIER_CUDA(m_api, "Starting " + m_info.id + " failed", started);
    ESPALIER_CUDA(m_api, "Starting " + m_info.id + " failed", m_api.cuCtxSetCurrent(m_context));
    ESPALIER_CUDA(m_api, "Making a stream failed", m_api.cuStreamCreate(&m_stream, CU_STREAM_NON_BLOCKING));
    ESPALIER_CUDA(m_api, "Loading the judge's operations failed",
                  m_api.cuModuleLoadData(&m_module, ops::opsKernelsPtx));
    for (std::size_t i = 0; i < m_functions.size(); ++i) {
        ESPALIER_CUDA(m_api, "Loading the judge's operations failed",
                      m_api.cuModuleGetFunction(&m_functions[i], m_module, kernelNames[i]));
    }
    ESPALIER_CUDA(m_api, "Loading the judge's operations failed",
                  m_api.cuModuleGetFunction(&m_compareFinish, m_module, "espalier_compare_finish"));
    m_api.cuDeviceGetAttribute(&m_computeMode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, m_ordinal);
    (void)restoreState(); // what others left behind before us is nobody's fault here
    m_api.cuCtxGetLimit(&m_setAside, CU_LIMIT_PERSISTING_L2_CACHE_SIZE);
    return {};
}

Result<DeviceMemory> CudaDevice::memory() const
{
    DeviceMemory memory;
    ESPALIER_CUDA(m_api, "Reading the free memory of " + m_info.id + " failed",
                  m_api.cuMemGetInfo(&memory.freeBytes, &memory.totalBytes));
    return memory;
}

Result<std::unique_ptr<DeviceBuffer>> CudaDevice::allocate(std::size_t bytes)
{
    const std::size_t granule = m_info.granularity;
    const std::size_t rounded = std::max<std::size_t>(1, (bytes + granule - 1) / granule) * granule;
    const CUmemAllocationProp prop = cuda::shareableAllocation(m_ordinal);
    CUmemGenericAllocationHandle handle{};
    ESPALIER_CUDA(m_api, "Allocating " + std::to_string(rounded >> 20) + " MiB on " + m_info.id + " failed",
                  m_api.cuMemCreate(&handle, rounded, &prop, 0));
    auto buffer = std::make_unique<CudaBuffer>(m_api, handle);
    ESPALIER_CHECK(buffer->map(m_ordinal, rounded, granule));
    return buffer;
}

Result<void> CudaDevice::write(std::uint64_t address, std::span<const std::byte> from)
{
    ESPALIER_CUDA(m_api, "Writing device memory failed", m_api.cuMemcpyHtoD(address, from.data(), from.size()));
    // From pageable memory it returns once the bytes are staged; our stream does not wait for the one they travel on.
    ESPALIER_CUDA(m_api, "Writing device memory failed", m_api.cuStreamSynchronize(nullptr));
    return {};
}

Result<void> CudaDevice::read(std::span<std::byte> to, std::uint64_t address)
{
    ESPALIER_CUDA(m_api, "Reading device memory failed", m_api.cuMemcpyDtoH(to.data(), address, to.size()));
    return {};
}

Result<void> CudaDevice::launch(CUfunction function, std::span<const std::byte> args, std::uint64_t count,
                                unsigned blocks, unsigned threads)
{
    void* parameters[] = {const_cast<std::byte*>(args.data()), &count};
    ESPALIER_CUDA(m_api, "Running an operation of the judge failed",
                  m_api.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, m_stream, parameters, nullptr));
    return {};
}

Result<void> CudaDevice::run(ops::Op op, std::span<const std::byte> args, std::uint64_t count)
{
    assert(args.size() == ops::argumentBytes(op));
    if (count == 0) {
        return {};
    }
    constexpr std::uint64_t threads = 256;
    // Enough blocks to fill the device a few times over; each loops over the rest.
    const std::uint64_t most = static_cast<std::uint64_t>(m_info.multiprocessors) * 32;
    const std::uint64_t blocks = std::clamp<std::uint64_t>((count + threads - 1) / threads, 1, most);
    ESPALIER_CHECK(launch(m_functions[static_cast<std::size_t>(op)], args, count, static_cast<unsigned>(blocks),
                          static_cast<unsigned>(threads)));
    if (op == ops::Op::Compare) {
        ESPALIER_CHECK(launch(m_compareFinish, args, count, 1, 1));
    }
    ESPALIER_CUDA(m_api, "An operation of the judge failed", m_api.cuStreamSynchronize(m_stream));
    return {};
}

} // namespace

Result<std::unique_ptr<Device>> openCudaDevice(int ordinal)
{
    ESPALIER_TRY(const DriverApi* api, cuda::driverApi());
    int count = 0;
    ESPALIER_CUDA(*api, "Counting GPUs failed", api->cuDeviceGetCount(&count));
    if (ordinal < 0 || ordinal >= count) {
        return fail(ErrorCode::NotFound, "There is no cuda:" + std::to_string(ordinal) + ": the NVIDIA driver shows " +
                                             std::to_string(count) +
                                             " GPUs; choose one of them or the simulated device.");
    }
    ESPALIER_TRY(DeviceInfo info, readInfo(*api, ordinal));
    auto device = std::make_unique<CudaDevice>(*api, std::move(info), ordinal);
    ESPALIER_CHECK(device->open());
    return device;
}

Result<std::vector<DeviceInfo>> listCudaDevices()
{
    ESPALIER_TRY(const DriverApi* api, cuda::driverApi());
    int count = 0;
    ESPALIER_CUDA(*api, "Counting GPUs failed", api->cuDeviceGetCount(&count));
    std::vector<DeviceInfo> devices;
    for (int i = 0; i < count; ++i) {
        ESPALIER_TRY(DeviceInfo info, readInfo(*api, i));
        devices.push_back(std::move(info));
    }
    return devices;
}

} // namespace espalier
