// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace espalier::tests {

/// One answer in one dialect, streamed and whole: the same words every time, with multi-byte characters.
struct DialectSample {
    std::string provider, stream, whole;
    std::string unfinished; ///< the stream without its terminal marker
};

/// Every one says "Héllo\nworld ✓", thinks "hm ✓", 12 tokens in (4 cached), 7 out (3 of them reasoning).
const std::vector<DialectSample>& dialectSamples();

} // namespace espalier::tests
