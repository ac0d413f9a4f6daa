// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace espalier {

/// The source without comments, with runs of blanks as one and without empty lines: two sources with the same
/// normalised text build the same kernel. String and character literals (raw ones too) stay as they are. Any bytes are
/// accepted; the result never grows. Thread: any.
std::string normalisedSource(std::string_view source);

/// Name of a source in the search for duplicates: SHA-256 of its normalised text.
std::string sourceIdentity(std::string_view source);

} // namespace espalier
