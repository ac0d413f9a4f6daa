// SPDX-License-Identifier: Apache-2.0
// The end of a run with models: what it has taught is kept for later sessions. Nothing of it touches the tree.
#include "core/engine/engine_core.h"

#include <fmt/format.h>

namespace espalier {

/// True: a model was asked, and the run ends with its answer.
bool EngineCore::askLessons(const std::string& why)
{
    if (!m_parts.keepLessons) {
        return false;
    }
    for (const auto& proposer : m_proposers) {
        if (!proposer->readsBackground()) {
            continue;
        }
        const auto context = m_planner->lessonsContext();
        if (!context) {
            log(fmt::format("No lessons are kept: {}", context.error().message));
            return false;
        }
        if (proposer->askLessons(*context)) { // one model is enough
            log("A model is asked what the session has taught; a pause ends the wait.");
            m_closing = why;
            return true;
        }
    }
    return false;
}

void EngineCore::awaitLessons()
{
    for (const auto& proposer : m_proposers) {
        const auto answer = proposer->takeLessons();
        if (!answer) {
            continue;
        }
        if (!answer->reason.empty()) {
            log(fmt::format("No lessons are kept: {}", answer->reason));
        } else if (!answer->lessons.empty()) {
            const SessionInfo& info = m_journal.info();
            const auto kept = m_parts.keepLessons(answer->lessons, m_task->id,
                                                  info.deviceName.empty() ? info.device : info.deviceName);
            if (!kept) {
                log(fmt::format("No lessons are kept: {}", kept.error().message));
            } else if (*kept > 0) {
                log(fmt::format("{} lesson{} kept for later sessions.", *kept, *kept == 1 ? " is" : "s are"));
            }
        }
        std::string why = std::move(*m_closing);
        m_closing.reset();
        return finish(std::move(why));
    }
}

/// The run goes on, pauses or fails: nobody waits for the answer any more.
void EngineCore::dropLessons()
{
    if (m_closing) {
        for (const auto& proposer : m_proposers) {
            proposer->cancelLessons();
        }
        m_closing.reset();
    }
}

} // namespace espalier
