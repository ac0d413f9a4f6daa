// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace espalier {

/// One entry of a fat binary: the PTX text, or the machine code of one architecture.
struct FatEntry {
    enum class Kind { Ptx, Cubin, Other };
    Kind kind = Kind::Other;
    int architecture = 0; ///< 90
    bool compressed = false;
    std::string_view payload; ///< refers to the library
};

/// Every entry of every fat binary in a built library. Found by the container's magic number anywhere in the file, not
/// by section headers, which a library may forge. Trusts no size in the bytes. Errors: InvalidInput when a container is
/// malformed. Thread: any.
Result<std::vector<FatEntry>> readFatBinaries(std::string_view library);

/// The PTX text in a library, padding taken off; it refers to `library`. Errors: NotFound, InvalidInput, NotSupported
/// (compressed); one sentence each.
Result<std::string_view> ptxOfLibrary(std::string_view library);
/// The machine code in it, of the highest architecture. The same errors.
Result<std::string_view> cubinOfLibrary(std::string_view library);

} // namespace espalier
