// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/search/node_book.h"
#include "core/store/store.h"

#include <string>
#include <string_view>

namespace espalier {

/// A session went on on another device of its kind, as two GPUs of one name are: the same epoch. The root is timed
/// there once, and how far the two times lie apart says what the earlier figures are worth. Ratios are paired with the
/// root on one device; up to 3 % they hold. A value that the session keeps. Thread: the store's.
class DeviceChange
{
public:
    enum class State {
        None,    ///< there was no change
        Awaited, ///< the root is to be timed
        Same,    ///< within 1 %: nothing follows
        Marked,  ///< within 3 %: earlier absolute times are shown as those of another device
        Anew,    ///< beyond: what leads is timed again
    };

    static Result<DeviceChange> read(Store& store);
    Result<void> write(Store& store) const;

    /// `root`: its time on the device before.
    void begin(const Interval& root);
    /// `root`: its time on the device that the session is on now.
    void measured(const Interval& root);

    State state() const { return m_state; }
    bool holds() const { return m_state != State::Marked && m_state != State::Anew; } ///< absolute times compare
    const std::string& sentence() const { return m_sentence; } ///< for log and report; empty: nothing follows

    /// Whether `now` (uuids with commas) has a device that `before` had not. False where one of them is not known.
    static bool isAnother(std::string_view before, std::string_view now);
    /// Marks the nodes whose absolute times are of another device than the session's present one, where that matters.
    static Result<void> mark(Store& store, NodeBook& book);

private:
    State m_state = State::None;
    Interval m_before;
    std::string m_sentence;
};

} // namespace espalier
