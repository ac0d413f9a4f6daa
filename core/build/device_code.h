// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>

namespace espalier {

/// What of a library runs on the device: machine code on a GPU, the PTX text on the simulated device.
enum class DeviceCode { Machine, Ptx };

/// A name of the device code in a built library, the same for two libraries whose device does the same instruction for
/// instruction: of machine code every section of every cubin but those for debuggers, with names and symbols (code,
/// constants, resources, initial values), in the order in which they stand; of PTX the text without comments, line
/// marks and debug sections. Where two are the same program but were laid out differently the names differ; never the
/// other way round, but for a library that was forged to be taken for another. Found by the container's magic number.
/// Errors: NotFound where there is none, InvalidInput where it cannot be read. Thread: any.
Result<std::string> deviceCodeHash(std::string_view library, DeviceCode what);

} // namespace espalier
