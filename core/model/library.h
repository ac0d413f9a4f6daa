// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

namespace espalier {

/// A built shared library, named by the SHA-256 of its bytes. A value; the bytes are shared and immutable.
struct Library {
    std::string hash;
    std::shared_ptr<const std::string> bytes;
};

} // namespace espalier
