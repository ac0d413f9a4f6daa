// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/ids.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace espalier {

struct ListingPlace {
    std::string file; ///< without its folder: "candidate.cu", a header's name
    int line = 0;     ///< 1-based
    bool operator==(const ListingPlace&) const = default;
};

/// One line of a candidate's PTX or machine code.
struct ListingLine {
    std::string text;
    std::string function;                ///< mangled; empty outside of one
    std::optional<std::uint64_t> offset; ///< machine code: bytes from the function's first instruction
    bool instruction = false;            ///< else a label, a directive, a declaration
    std::vector<ListingPlace> chain;     ///< innermost inlined place first; empty: not known
    bool operator==(const ListingLine&) const = default;
};

struct Listing {
    std::vector<ListingLine> lines;
    std::string missing; ///< why there are none: cause and remedy in one sentence
};

/// What the compiler made of a candidate. Values. Thread: any.
struct CodeListings {
    NodeId node{0};
    Listing ptx, sass;
};

} // namespace espalier
