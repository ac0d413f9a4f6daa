// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/profile/cupti_api.h"
#include "core/profile/line_table.h"

#include <cstdint>
#include <map>
#include <string>

namespace espalier::profile {

/// The machine code of every module that this process loads from watch() on, for the lines of its instructions. CUPTI's
/// callbacks carry no pointer of ours, so there is one per process. Thread: the one that loads.
class LoadedCubins
{
public:
    /// Once, before the candidate's library is loaded. `api` must outlive the process's last module.
    static Result<void> watch(const CuptiApi& api);

    LoadedCubins(); ///< reads the line tables of what was loaded so far
    /// `crc`: CUPTI's 64-bit checksum of the cubin; 0: whichever has the function.
    SourceChain find(std::uint64_t crc, std::string_view function, std::uint64_t offset) const;
    std::size_t count() const { return m_lines.size(); }

private:
    std::map<std::uint64_t, LineTable> m_lines;
};

} // namespace espalier::profile
