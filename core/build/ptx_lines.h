// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// Which line of a source a line of its PTX came from, by the `.loc` and `.file` marks that -lineinfo leaves: ptxas
/// names lines of a text that nobody wrote. A value; refers to the text it was made from. Thread: any; any bytes are
/// accepted.
class PtxLines
{
public:
    struct Place {
        std::string file; ///< without its folder
        int line = 0;     ///< from 1
        bool operator==(const Place&) const = default;
    };

    /// `source`: the name of the file that places are wanted in; code inlined from a header is placed where it was
    /// called from.
    PtxLines(std::string_view ptx, std::string_view source);

    std::optional<Place> placeOf(int line) const; ///< of a line of the PTX, from 1
    /// Where a function begins, or, when the PTX only declares it, where it is first called.
    std::optional<Place> placeOfFunction(std::string_view symbol) const;
    /// The longest array in the constant memory that a source fills itself, by its symbol; empty: none.
    std::string_view largestConstant() const;
    std::string_view text(int line) const; ///< trimmed; empty where there is no such line

private:
    std::optional<Place> firstPlaceIn(std::size_t index) const;
    std::optional<Place> marked(std::string_view mark) const;
    std::string fileOf(std::string_view index) const;

    std::vector<std::string_view> m_lines;
    std::string_view m_source;
};

} // namespace espalier
