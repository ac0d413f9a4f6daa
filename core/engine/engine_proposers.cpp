// SPDX-License-Identifier: Apache-2.0
// Who takes part in the search, and how that changes while the session is open.
#include "core/engine/engine_core.h"
#include "core/engine/participants.h"
#include "core/search/asked_proposers.h"

#include <algorithm>

namespace espalier {
namespace {

/// What the session has when others take part than its options say.
Change storedChange(SessionJournal& journal, const SessionInfo& after)
{
    return {[&journal, after]() -> Result<void> {
                ESPALIER_CHECK(AskedProposers(journal).keepFirst(journal.info().proposers));
                return journal.setInfo(after);
            },
            {}};
}

} // namespace

/// Before the search is read from the session: the options may name others than took part so far.
Result<void> EngineCore::openProposers(const EngineOptions& options)
{
    const SessionInfo before = m_journal.info();
    SessionInfo info = before;
    info.proposers = namesFor(info, options);
    ESPALIER_TRY(const ProposerChoice choice, proposerChoice(info, options));
    ESPALIER_TRY(ProposerSet::List made, m_parts.makeProposers(choice));
    if (info.proposers != before.proposers) {
        ESPALIER_CHECK(m_acts.perform(actOf(participantsOf(before), participantsOf(info)),
                                      {.field = "proposers", .value = toJson(participantsOf(before))},
                                      storedChange(m_journal, info)));
    }
    for (const auto& proposer : made) {
        proposer->keepExchanges(m_exchanges);
    }
    m_proposers = ProposerSet(std::move(made));
    return {};
}

Result<void> EngineCore::changeProposers(const command::ChangeProposers& command)
{
    const Participants before = participantsOf(m_journal.info());
    ESPALIER_TRY(const Participants after, changed(before, command));
    if (!command.models.empty()) { // one that is named now can be asked from here, or is no help
        SessionInfo alone = m_journal.info();
        alone.proposers = {"llm"};
        alone.models = command.models;
        ESPALIER_TRY(const ProposerChoice choice, proposerChoice(alone, {}));
        ESPALIER_CHECK(m_parts.makeProposers(choice));
    }
    ESPALIER_TRY(const Change change, proposersChange(after));
    return m_acts.perform(actOf(before, after), {.field = "proposers", .value = toJson(before)}, change);
}

Result<Change> EngineCore::proposersChange(const Participants& after)
{
    const SessionInfo before = m_journal.info();
    const SessionInfo info = withParticipants(before, after);
    // Who takes part already stays, with what it was asked, unless it has other models now.
    SessionInfo joining = info;
    const bool same = before.models == info.models && before.llm == info.llm;
    std::erase_if(joining.proposers, [&](const std::string& name) {
        const Proposer* here = m_proposers.named(name);
        return here && (same || !here->readsBackground());
    });
    ESPALIER_TRY(ProposerChoice choice, proposerChoice(joining, {}));
    choice.absentModels = true; // of those that were here before, the key may be elsewhere
    ESPALIER_TRY(ProposerSet::List list, m_parts.makeProposers(choice));
    auto made = std::make_shared<ProposerSet::List>(std::move(list)); // a change is copied
    Change change = storedChange(m_journal, info);
    change.apply = [this, info, made] {
        const bool taught = m_closing.has_value(); // a model is asked what the run has taught: it may be leaving
        for (const auto& proposer : *made) {
            proposer->keepExchanges(m_exchanges);
        }
        const auto why = m_closing;
        dropLessons();
        m_planner->changeProposers(info.proposers, std::move(*made));
        if (taught) {
            finish(*why);
        }
        tell(event::SessionOpened{info});
    };
    return change;
}

} // namespace espalier
