// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/engine/command.h"
#include "core/engine/listing_desk.h"
#include "core/engine/session_reader.h"
#include "core/model/event.h"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace espalier {

/// A session that can only be looked at, told in the same events as one that is searched: another process has it, its
/// medium is read-only or its task is not on this machine. It writes nothing, takes no lock and follows what another
/// process adds. Thread: one at a time; the observer is called on it. Errors: open() as Store's for reading; a command
/// that would change the session is refused with the reason.
class SessionView
{
public:
    using Observer = std::function<void(const event::Event&)>;

    /// Tells the observer the whole session. `why`: it cannot be searched, one sentence.
    static Result<std::unique_ptr<SessionView>> open(std::filesystem::path file, std::string why,
                                                     ListingSource listings, Observer observer);

    /// `ticket`: as Engine::post's.
    void handle(const command::Command& command, std::uint64_t ticket = 0);
    /// Tells what another process has written since; cheap where nothing was.
    void refresh();

private:
    using Mark = std::map<std::string, std::pair<std::uintmax_t, std::filesystem::file_time_type>>;

    SessionView(std::filesystem::path file, std::string why, ListingSource listings, Observer observer);
    Mark mark() const;
    Result<void> read();
    Result<void> tellChanges();
    RunStatus status() const;
    Result<void> answer(const command::Command& command);

    std::filesystem::path m_file;
    std::string m_why;
    ListingSource m_listings;
    Observer m_observer;
    std::optional<SessionReader> m_reader;
    Mark m_mark; ///< of the files when they were read
    std::map<NodeId, NodeSummary> m_told;
    std::uint64_t m_revision = 0;
};

} // namespace espalier
