// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/ids.h"

#include <map>
#include <string>
#include <string_view>

namespace espalier {

/// How often the judge was lost while it worked on a candidate. Who has the limit is not given to a judge again: the
/// task's root is, as a control, and where that can be run the candidate has ended. A value that the session keeps, so
/// that neither a pause nor the end of the process begins the count anew.
class JudgeLosses
{
public:
    static constexpr const char* key = "judge.losses";
    static constexpr int most = 2;

    static JudgeLosses parse(std::string_view text); ///< none where it cannot be read: a candidate is tried once more
    std::string text() const;

    void lost(NodeId node, const std::string& why);
    bool atLimit(NodeId node) const;
    std::string why(NodeId node) const;                            ///< of its last loss
    bool settled(NodeId node) { return m_losses.erase(node) > 0; } ///< it has ended; true: there was something of it

private:
    struct Losses {
        int count = 0;
        std::string why;
    };
    std::map<NodeId, Losses> m_losses;
};

} // namespace espalier
