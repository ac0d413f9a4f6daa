// SPDX-License-Identifier: Apache-2.0
#include "tests/simgpu/sim_fixture.h"

#include "core/base/file.h"

#include <algorithm>

namespace espalier::sim::test {

std::string profileText()
{
    return readFile(PROFILE_PATH).value_or("");
}

void SimFixture::SetUp()
{
    auto gpu = SimGpu::start({{SERVER_PATH}, profileText(), PROFILE_PATH, std::uint64_t{64} << 20});
    ASSERT_TRUE(gpu) << gpu.error().message;
    m_gpu.emplace(std::move(*gpu));
    auto profile = DeviceProfile::parse(profileText(), PROFILE_PATH);
    ASSERT_TRUE(profile) << profile.error().message;
    auto device = openSimDevice({*profile, std::uint64_t{256} << 20});
    ASSERT_TRUE(device) << device.error().message;
    m_device = std::move(*device);
}

SimFixture::Array SimFixture::array(std::uint64_t count, float fill)
{
    Array array;
    array.count = count;
    array.buffer = std::move(*m_device->allocate(count * sizeof(float)));
    array.offset = (array.buffer->bytes() - count * sizeof(float)) / 16 * 16;
    std::ranges::fill(array.values(), fill);
    return array;
}

void SimFixture::grantTo(SimClientId client, const Array& array, Grant access, const std::string& name)
{
    const auto address =
        m_gpu->grant(client, {array.buffer.get(), array.offset, array.count * sizeof(float), access, name});
    ASSERT_TRUE(address) << address.error().message;
}

std::pair<BufferGrant, std::size_t> SimFixture::mapping(const Array& array, Grant access) const
{
    return {BufferGrant{array.buffer->bytes(), access}, array.offset};
}

} // namespace espalier::sim::test
