// SPDX-License-Identifier: Apache-2.0
// libFuzzer entry for the commands that other processes send. Seeds: one line of core/engine/command_json.h each.
#include "core/engine/command_json.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace espalier;
    const auto command = command::parseCommand({reinterpret_cast<const char*>(data), size});
    if (command &&
        !command::parseCommand(command::toJson(*command).dump(-1, ' ', false, Json::error_handler_t::replace))) {
        std::abort(); // what was accepted must be accepted again
    }
    return 0;
}
