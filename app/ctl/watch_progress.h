// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/ctl/interrupts.h"
#include "app/ctl/watched_file.h"
#include "core/base/ids.h"

#include <deque>
#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

namespace espalier::ctl {

/// What a watch takes along when the session changes hands between other processes and its own: no save is lost, and
/// none is judged twice.
class WatchProgress
{
public:
    struct Save {
        std::string title, source;
    };

    explicit WatchProgress(WatchedFile watched) : file(std::move(watched)) {}
    void saved(std::string source)
    {
        unsent.push_back({fmt::format("{} {}", file.path().filename().string(), ++m_saves), std::move(source)});
    }

    WatchedFile file;
    Interrupts interrupts;
    std::deque<Save> unsent;     ///< nobody has taken them yet
    std::vector<NodeId> awaited; ///< they are in the session and have no verdict yet
    int told = 0;                ///< verdicts

private:
    int m_saves = 0;
};

} // namespace espalier::ctl
