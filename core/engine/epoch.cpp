// SPDX-License-Identifier: Apache-2.0
#include "core/engine/epoch.h"

#include "core/base/hash.h"

namespace espalier {

namespace {

std::string flagsOf(const Task& task)
{
    std::string flags;
    for (const std::string& flag : task.build.flags) {
        flags += flag + "\n";
    }
    return flags;
}

/// As the driver tells it, two devices of a kind may differ by some pages.
std::string memoryOf(const JudgeHello& hello)
{
    constexpr std::uint64_t gib = std::uint64_t{1} << 30;
    return std::to_string((hello.deviceBytes + gib / 2) / gib);
}

} // namespace

std::string epochOf(const JudgeHello& hello, std::string_view toolkit, const Task& task)
{
    return sha256Of({"epoch 2", hello.simulated ? "model" : "measured", hello.deviceName, memoryOf(hello), hello.driver,
                     hello.architecture, hello.runtime, toolkit, flagsOf(task), TimingSetting{}.regime})
        .substr(0, 16);
}

std::string epochOf(const JudgeHello& hello, std::string_view toolkit, const Task& task, const std::string& known)
{
    const std::string former =
        sha256Of({"epoch 1", hello.simulated ? "model" : "measured", hello.deviceName, hello.uuid, hello.driver,
                  hello.architecture, hello.runtime, toolkit, flagsOf(task)})
            .substr(0, 16);
    return known == former ? former : epochOf(hello, toolkit, task);
}

} // namespace espalier
