// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/fd.h"
#include "core/base/result.h"

#include <optional>
#include <string>
#include <string_view>

namespace espalier {

/// Newline-framed messages over two descriptors. Thread: one. Owns both descriptors.
/// Reading never blocks when the descriptor is ready (use poll on readFd()). A line over `cap` bytes is a Protocol
/// error.
class LineChannel
{
public:
    LineChannel(UniqueFd in, UniqueFd out, std::size_t cap);

    int readFd() const { return m_in.get(); }
    /// Reads what is available (one read call; blocks when nothing is). False at end of stream.
    Result<bool> fill();
    /// The next whole line without its newline, if one has arrived. Call until nullopt after each fill().
    std::optional<std::string> next();
    /// Writes the line and a newline, whole; waits for the peer up to `milliseconds` (-1: no limit).
    Result<void> send(std::string_view line, int milliseconds = -1);
    void closeWrite() { m_out.reset(); }

private:
    UniqueFd m_in, m_out;
    std::size_t m_cap;
    std::string m_buffer;
    std::size_t m_scanned = 0;
};

} // namespace espalier
