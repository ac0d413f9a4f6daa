// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/evaluation.h"

#include <optional>
#include <string>

namespace espalier {

/// A candidate beside the libraries that were timed with it.
struct LibraryRatio {
    std::string name; ///< the library's id; of several, one for each case, "the best library"
    Interval speedup; ///< its time over the candidate's
};

/// Over the fastest library of each case; of several cases the geometric mean, its interval no narrower than theirs
/// together. nullopt: no case was timed beside a library.
std::optional<LibraryRatio> overBestLibrary(const TimingRecord& timing);

} // namespace espalier
