// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/search/node_book.h"
#include "core/store/store.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace espalier {

/// A session went on on another device of its kind, as two GPUs of one name are: the same epoch. The root is timed
/// there once, and how far the two times lie apart says what the earlier figures are worth. Ratios are paired with the
/// root on one device; up to 3 % they hold. Kept for every device that the session was on, however often it moved. A
/// value that the session keeps. Thread: the store's.
class DeviceChange
{
public:
    /// What absolute times of a former device are worth on the present one.
    enum class Worth {
        Same,   ///< within 1 %: nothing follows
        Marked, ///< within 3 %: shown as those of another device
        Anew,   ///< beyond, or not known: what leads is timed again
    };

    static Result<DeviceChange> read(Store& store);
    Result<void> write(Store& store) const;

    /// `before`: uuids with commas. `root`: its time there; nullopt: the present root has none.
    void begin(std::string_view before, const std::optional<Interval>& root);
    /// `root`: its time on the devices `now`. `comparable`: it is the root that begin() spoke of.
    void measured(std::string_view now, const Interval& root, bool comparable);

    bool awaited() const { return m_awaited; } ///< the root is to be timed
    /// Of figures of another device than the present one. While that is awaited, against the one before it.
    Worth worth(const std::string& device) const;
    const std::string& sentence() const { return m_sentence; } ///< for log and report; empty: nothing follows

    /// Whether `now` (uuids with commas) has a device that `before` had not. False where one of them is not known.
    static bool isAnother(std::string_view before, std::string_view now);
    static bool names(std::string_view devices, std::string_view one); ///< `devices`: uuids with commas
    /// Marks the nodes whose absolute times are of another device than the session's present one, where that matters.
    static Result<void> mark(Store& store, NodeBook& book);
    /// Nodes whose figures are of a device too far off.
    static Result<std::set<NodeId>> toTimeAnew(Store& store);

private:
    static Result<std::map<NodeId, Worth>> worthOfNodes(Store& store);

    std::map<std::string, double, std::less<>> m_pace; ///< by uuid: how long a root takes, as multiples of one of them
    double m_here = 1;                                 ///< of the device that was looked at last
    bool m_awaited = false;
    std::optional<Interval> m_before; ///< while awaited
    std::string m_sentence;
};

} // namespace espalier
