// SPDX-License-Identifier: Apache-2.0
// libFuzzer entry for the PTX parser and decoder. Seeds: tests/device/sim/fixtures.
#include "core/device/sim/ptx_module.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto module = espalier::sim::PtxModule::parse({reinterpret_cast<const char*>(data), size});
    static_cast<void>(module);
    return 0;
}
