// SPDX-License-Identifier: Apache-2.0
#include "core/search/act_history.h"

#include "core/search/act_words.h"

namespace espalier {
namespace {

std::string actText(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json actField(const Json& object, const char* name)
{
    return object.is_object() && object.contains(name) ? object[name] : Json();
}

std::string actWord(const Json& object, const char* name)
{
    const Json field = actField(object, name);
    return field.is_string() ? field.get<std::string>() : std::string();
}

} // namespace

Result<void> ActHistory::restore()
{
    ESPALIER_TRY(const std::vector<StoredAct> acts, m_journal.store().acts());
    m_undoable.clear();
    for (const StoredAct& stored : acts) {
        const auto act = parseJson(stored.what, "act");
        if (!act) {
            continue;
        }
        const std::string name = actWord(*act, "act");
        const Json was = actField(*act, "was");
        if (name == "undo" && !m_undoable.empty()) {
            m_undoable.pop_back();
        } else if (was.is_object()) {
            const Json node = actField(was, "node");
            m_undoable.push_back({name, actWord(was, "field"),
                                  NodeId{node.is_number_integer() ? node.get<std::int64_t>() : 0},
                                  actField(was, "value"), actInWords(stored.what)});
        }
    }
    return {};
}

Result<void> ActHistory::perform(const Json& act, const Change& change)
{
    ESPALIER_CHECK(m_journal.together([&]() -> Result<void> {
        if (change.store) {
            ESPALIER_CHECK(change.store());
        }
        return m_journal.addAct(m_author, actText(act));
    }));
    if (change.apply) {
        change.apply();
    }
    return {};
}

Result<void> ActHistory::perform(Json act, Replaced replaced, const Change& change)
{
    Json was = {{"field", replaced.field}, {"value", replaced.value}};
    if (replaced.node.value > 0) {
        was["node"] = replaced.node.value;
    }
    act["was"] = std::move(was);
    replaced.act = actWord(act, "act");
    replaced.words = actInWords(actText(act));
    ESPALIER_CHECK(perform(act, change));
    m_undoable.push_back(std::move(replaced));
    return {};
}

Result<void> ActHistory::undo(const Change& change)
{
    return undone(true, change);
}

Result<void> ActHistory::passOver()
{
    return undone(false, {});
}

Result<void> ActHistory::undone(bool done, const Change& change)
{
    const Replaced& last = m_undoable.back();
    Json act = {{"act", "undo"}, {"of", last.act}, {"what", last.words}, {"done", done}};
    if (last.node.value > 0) {
        act["node"] = last.node.value;
    }
    ESPALIER_CHECK(perform(act, change));
    m_undoable.pop_back();
    return {};
}

} // namespace espalier
