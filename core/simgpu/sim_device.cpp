// SPDX-License-Identifier: Apache-2.0
#include "core/simgpu/sim_device.h"

#include "core/base/text.h"
#include "core/device/ops/ops_cpu.h"
#include "core/simgpu/bulk_message.h"
#include "core/simgpu/client_memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace espalier::sim {

namespace {

constexpr std::uint64_t defaultMost = std::uint64_t{8} << 30;
constexpr std::uint64_t pageBytes = 4096;

std::uint64_t memoryLimit(std::uint64_t asked)
{
    const auto machine =
        static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    return asked != 0 ? asked : std::min(defaultMost, machine / 2);
}

/// Bytes in use, shared by the device and its buffers, which may outlive it.
struct Usage {
    std::uint64_t bytes = 0;
};

class SimBuffer final : public DeviceBuffer
{
public:
    SimBuffer(UniqueFd fd, HostMapping mapping, std::shared_ptr<Usage> usage)
        : m_fd(std::move(fd)), m_mapping(std::move(mapping)), m_usage(std::move(usage))
    {
        m_usage->bytes += m_mapping.bytes();
    }
    ~SimBuffer() override { m_usage->bytes -= m_mapping.bytes(); }

    std::size_t bytes() const override { return m_mapping.bytes(); }
    std::uint64_t address() const override { return reinterpret_cast<std::uint64_t>(m_mapping.data()); }
    Result<UniqueFd> share() const override
    {
        UniqueFd copy(::fcntl(m_fd.get(), F_DUPFD_CLOEXEC, 3));
        if (!copy) {
            return fail(ErrorCode::Internal, fmt::format("cannot share a buffer: {}", std::strerror(errno)));
        }
        return copy;
    }

private:
    UniqueFd m_fd;
    HostMapping m_mapping;
    std::shared_ptr<Usage> m_usage;
};

class SimDevice final : public Device
{
public:
    explicit SimDevice(const SimDeviceSettings& settings) : m_info(settings.profile.info)
    {
        m_info.id = "sim";
        m_info.simulated = true;
        m_info.uuid.clear();
        m_info.driver.clear();
        m_info.granularity = pageBytes;
        m_info.totalBytes = memoryLimit(settings.memoryLimit);
    }

    const DeviceInfo& info() const override { return m_info; }
    Result<DeviceMemory> memory() const override
    {
        return DeviceMemory{m_info.totalBytes - m_usage->bytes, m_info.totalBytes};
    }

    Result<std::unique_ptr<DeviceBuffer>> allocate(std::size_t bytes) override
    {
        const std::uint64_t rounded = (std::max<std::uint64_t>(bytes, 1) + pageBytes - 1) / pageBytes * pageBytes;
        const std::uint64_t left = m_info.totalBytes - m_usage->bytes;
        if (bytes > m_info.totalBytes || rounded > left) {
            return fail(ErrorCode::OutOfMemory,
                        fmt::format("the simulated device has {} left of {}, {} were asked for", bytesText(left),
                                    bytesText(m_info.totalBytes), bytesText(bytes)));
        }
        ESPALIER_TRY(UniqueFd fd, memfdOfSize("espalier-sim", rounded));
        ESPALIER_TRY(HostMapping mapping, HostMapping::create(fd.get(), rounded));
        return std::make_unique<SimBuffer>(std::move(fd), std::move(mapping), m_usage);
    }

    Result<void> write(std::uint64_t address, std::span<const std::byte> from) override
    {
        std::memcpy(reinterpret_cast<void*>(address), from.data(), from.size());
        return {};
    }
    Result<void> read(std::span<std::byte> to, std::uint64_t address) override
    {
        std::memcpy(to.data(), reinterpret_cast<const void*>(address), to.size());
        return {};
    }
    Result<void> run(ops::Op op, std::span<const std::byte> args, std::uint64_t count) override
    {
        ops::runOnCpu(op, args, count);
        return {};
    }

private:
    DeviceInfo m_info;
    std::shared_ptr<Usage> m_usage = std::make_shared<Usage>();
};

} // namespace

Result<std::unique_ptr<Device>> openSimDevice(const SimDeviceSettings& settings)
{
    if (settings.profile.info.smMajor == 0) {
        return fail(ErrorCode::InvalidInput,
                    "the simulated device has no profile: read one of resources/devices first");
    }
    return std::make_unique<SimDevice>(settings);
}

} // namespace espalier::sim
