// SPDX-License-Identifier: Apache-2.0
#include "core/engine/device_facts.h"

#include "core/base/json.h"

#include <utility>

namespace espalier {

DeviceFacts DeviceFacts::of(const JudgeHello& hello, std::string epoch)
{
    return {std::move(epoch), hello.driver, hello.uuid, hello.runtime};
}

std::string DeviceFacts::text() const
{
    return Json{{"epoch", epoch}, {"driver", driver}, {"uuid", uuid}, {"runtime", runtime}}.dump(
        -1, ' ', false, Json::error_handler_t::replace);
}

DeviceFacts DeviceFacts::parse(std::string_view text)
{
    const Json json = Json::parse(text, nullptr, false);
    const auto field = [&json](const char* name) {
        return json.is_object() && json.contains(name) && json[name].is_string() ? json[name].get<std::string>()
                                                                                 : std::string();
    };
    return {field("epoch"), field("driver"), field("uuid"), field("runtime")};
}

std::string DeviceFacts::driverOf(std::string_view of) const
{
    return !epoch.empty() && of == epoch ? driver : std::string();
}

} // namespace espalier
