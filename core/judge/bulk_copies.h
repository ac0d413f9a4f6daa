// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace espalier::judge {

/// Whether every kernel of this name in the library's PTX makes copies that end at an mbarrier (cp.async.bulk, TMA),
/// and there is one; where none has this name, whether any does. `function`: as compute-sanitizer names it
/// ("void tiles<64>(float*)") or mangled; what the library holds twice, or under several template arguments, must have
/// them everywhere. Any bytes are accepted; pure.
bool copiesEndAtBarriers(std::string_view library, std::string_view function);

} // namespace espalier::judge
