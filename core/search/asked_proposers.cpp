// SPDX-License-Identifier: Apache-2.0
#include "core/search/asked_proposers.h"

#include "core/base/text.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier {
namespace {

constexpr const char* askedPrefix = "search.asked.";
constexpr const char* firstKey = "search.first_proposers";
constexpr const char* everybody = "1"; ///< of an older session

std::string askedKey(NodeId parent)
{
    return fmt::format("{}{}", askedPrefix, parent.value);
}

AskedProposers::Names namesIn(std::string_view text)
{
    AskedProposers::Names names;
    for (const std::string_view name : splitOn(text, ',')) {
        names.emplace(name);
    }
    return names;
}

} // namespace

Result<AskedProposers::Names> AskedProposers::first() const
{
    ESPALIER_TRY(const auto kept, m_journal.store().value(firstKey));
    const std::vector<std::string>& now = m_journal.info().proposers;
    return kept ? namesIn(*kept) : Names(now.begin(), now.end());
}

Result<AskedProposers::Names> AskedProposers::under(NodeId parent) const
{
    ESPALIER_TRY(const auto text, m_journal.store().value(askedKey(parent)));
    if (!text) {
        return Names();
    }
    return *text == everybody ? first() : namesIn(*text);
}

Result<void> AskedProposers::add(NodeId parent, const Names& names) const
{
    ESPALIER_TRY(Names all, under(parent));
    all.insert(names.begin(), names.end());
    return m_journal.setValue(askedKey(parent), fmt::format("{}", fmt::join(all, ",")));
}

Result<std::set<NodeId>> AskedProposers::askedAll(const std::vector<std::string>& names) const
{
    ESPALIER_TRY(const Names before, first());
    ESPALIER_TRY(const auto texts, m_journal.store().values(askedPrefix));
    std::map<std::string, bool> known; ///< the same few texts stand under many parents
    std::set<NodeId> parents;
    for (const auto& [number, text] : texts) {
        auto found = known.find(text);
        if (found == known.end()) {
            const Names asked = text == everybody ? before : namesIn(text);
            const bool all = std::all_of(names.begin(), names.end(),
                                         [&asked](const std::string& name) { return asked.contains(name); });
            found = known.emplace(text, all).first;
        }
        if (found->second) {
            parents.insert(NodeId{std::strtoll(number.c_str(), nullptr, 10)});
        }
    }
    return parents;
}

Result<void> AskedProposers::keepFirst(const std::vector<std::string>& names) const
{
    ESPALIER_TRY(const auto kept, m_journal.store().value(firstKey));
    return kept ? Result<void>() : m_journal.setValue(firstKey, fmt::format("{}", fmt::join(names, ",")));
}

} // namespace espalier
