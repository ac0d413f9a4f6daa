// SPDX-License-Identifier: Apache-2.0
#include "core/engine/epoch.h"

#include "core/base/hash.h"

namespace espalier {

std::string epochOf(const JudgeHello& hello, std::string_view toolkit, const Task& task)
{
    std::string flags;
    for (const std::string& flag : task.build.flags) {
        flags += flag + "\n";
    }
    return sha256Of({"epoch 1", hello.simulated ? "model" : "measured", hello.deviceName, hello.uuid, hello.driver,
                     hello.architecture, hello.runtime, toolkit, flags})
        .substr(0, 16);
}

} // namespace espalier
