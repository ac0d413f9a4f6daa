// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::profile {

struct SourcePlace {
    std::string file; ///< as the compiler knew it: "candidate.cu", or a header's name without its folder
    int line = 0;     ///< 1-based
    bool operator==(const SourcePlace&) const = default;
};

/// Where an instruction comes from: the innermost inlined place first, the kernel's own line last.
using SourceChain = std::vector<SourcePlace>;

/// The line table of a cubin (.debug_line, DWARF 2 with NVIDIA's extended opcode 0x90, which names the row of the call
/// site an inlined row belongs to; CUPTI's own query gives the innermost place only). A value. Thread: any.
class LineTable
{
public:
    /// Any bytes are accepted: what cannot be understood has no lines.
    static LineTable read(std::string_view cubin);

    /// `offset`: bytes from the function's first instruction. Empty: not known (built without -lineinfo).
    SourceChain find(std::string_view function, std::uint64_t offset) const;
    bool empty() const { return m_functions.empty(); }

    struct Row {
        std::uint64_t address = 0;
        std::uint32_t file = 0;
        std::int64_t line = 0;
        std::uint64_t callSite = 0; ///< 1-based row in the same sequence; 0: not inlined
    };

private:
    struct Function {
        std::vector<Row> rows; ///< as in the table: by address
        std::vector<std::string> files;
    };
    std::map<std::string, Function, std::less<>> m_functions;
};

} // namespace espalier::profile
