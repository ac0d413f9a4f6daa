// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/build/device_code.h"

#include <string>
#include <string_view>

namespace espalier {

/// Name of what the host compiler sees of a source, comments and layout apart (core/build/host_part.h). Empty where the
/// text does not settle it: such a source is never taken for another one's twin. Thread: any.
std::string hostIdentity(std::string_view source);

/// Name of a candidate's program: the host part and the device code together. Two candidates of one name do the same,
/// so one of them is measured. Empty where either is not known. Thread: any.
std::string programIdentity(const std::string& hostIdentity, std::string_view library, DeviceCode what);

} // namespace espalier
