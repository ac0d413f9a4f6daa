// SPDX-License-Identifier: Apache-2.0
#include "core/search/exchange_book.h"

#include <fmt/format.h>
#include <utility>

namespace espalier {
namespace {

Exchange withoutTexts(Exchange exchange)
{
    for (std::string* text :
         {&exchange.system, &exchange.prompt, &exchange.request, &exchange.answer, &exchange.reasoning}) {
        text->clear();
    }
    return exchange;
}

} // namespace

Result<void> ExchangeBook::restore()
{
    ESPALIER_TRY(const std::vector<Exchange> all, m_journal.store().exchanges());
    m_total = {};
    m_byNode.clear();
    for (const Exchange& exchange : all) {
        if (exchange.state != Exchange::State::Sent) { // an open one counts when it ends
            count(exchange);
        }
    }
    return {};
}

void ExchangeBook::count(const Exchange& exchange)
{
    m_total.add(exchange);
    m_byNode[exchange.node].add(exchange);
    if (exchange.state == Exchange::State::Answered) {
        m_answering.insert(exchange.profile);
    }
    m_changed.insert(exchange.node);
}

Result<std::optional<Exchange>> ExchangeBook::answered(const std::string& key)
{
    return m_journal.store().answeredExchange(key);
}

Result<std::optional<Exchange>> ExchangeBook::unanswered(const std::string& key)
{
    return m_journal.store().unansweredExchange(key);
}

std::optional<std::string> ExchangeBook::refusal(std::int64_t tokens, std::optional<double> usd) const
{
    const Budget& budget = m_journal.info().budget;
    std::int64_t reservedTokens = tokens;
    double reservedUsd = usd.value_or(0);
    for (const auto& [id, exchange] : m_underWay) {
        reservedTokens += exchange.estimatedTokens;
        reservedUsd += exchange.estimatedUsd.value_or(0);
    }
    // What a lost answer may have cost counts: a cap must hold whatever the provider billed.
    const std::int64_t spentTokens = m_total.tokens() + m_total.possibleTokens;
    const double spentUsd = m_total.usd + m_total.possibleUsd;
    if (budget.tokens && spentTokens + reservedTokens > *budget.tokens) {
        return fmt::format(
            "the budget of {} tokens leaves no room for the next request ({} spent, up to {} reserved): raise "
            "it to go on",
            *budget.tokens, spentTokens, reservedTokens);
    }
    if (!budget.usd) {
        return std::nullopt;
    }
    if (!usd && !budget.tokens) {
        return fmt::format(
            "the model's price is not known, so that a budget of {:.2f} USD cannot be kept: add its price to "
            "prices.json, or give a budget of tokens",
            *budget.usd);
    }
    if (usd && spentUsd + reservedUsd > *budget.usd) {
        return fmt::format("the budget of {:.2f} USD leaves no room for the next request ({:.4f} spent, up to {:.4f} "
                           "reserved): raise it to go on",
                           *budget.usd, spentUsd, reservedUsd);
    }
    return std::nullopt;
}

Result<std::int64_t> ExchangeBook::sent(const Exchange& exchange)
{
    Exchange stamped = exchange;
    stamped.state = Exchange::State::Sent;
    if (stamped.id == 0) {
        stamped.sentAt = timestamp();
        ESPALIER_TRY(stamped.id, m_journal.addExchange(stamped));
    } else { // open until now: where it is asked may have changed
        ESPALIER_CHECK(m_journal.updateExchange(stamped));
    }
    const std::int64_t id = stamped.id;
    m_changed.insert(stamped.node);
    m_underWay.emplace(id, withoutTexts(std::move(stamped)));
    return id;
}

void ExchangeBook::leftOpen(const Exchange& exchange)
{
    m_underWay.erase(exchange.id);
    m_grown.erase(exchange.id);
    m_changed.insert(exchange.node);
}

Result<void> ExchangeBook::ended(const Exchange& exchange)
{
    Exchange stamped = exchange;
    stamped.endedAt = timestamp();
    ESPALIER_CHECK(m_journal.updateExchange(stamped));
    m_underWay.erase(exchange.id);
    m_grown.erase(exchange.id);
    count(stamped);
    return {};
}

Result<void> ExchangeBook::endOpen(NodeId node)
{
    ESPALIER_TRY(const std::vector<Exchange> all, m_journal.store().exchangesOf(node));
    for (Exchange exchange : all) {
        if (exchange.state == Exchange::State::Sent) {
            exchange.state = Exchange::State::Failed;
            exchange.reason = "Cancelled before the answer was there.";
            ESPALIER_CHECK(ended(exchange));
        }
    }
    return {};
}

void ExchangeBook::grew(const Exchange& exchange, std::string_view text)
{
    Grown& grown = m_grown[exchange.id];
    grown.exchange = exchange.id;
    grown.node = exchange.node;
    grown.text += text;
}

Spending ExchangeBook::of(NodeId node) const
{
    const auto found = m_byNode.find(node);
    return found == m_byNode.end() ? Spending{} : found->second;
}

std::vector<ExchangeBook::Grown> ExchangeBook::takeGrown()
{
    std::vector<Grown> grown;
    for (auto& [id, one] : m_grown) {
        grown.push_back(std::move(one));
    }
    m_grown.clear();
    return grown;
}

void ExchangeBook::touchAll()
{
    for (const auto& [node, spending] : m_byNode) {
        m_changed.insert(node);
    }
}

std::set<NodeId> ExchangeBook::takeChanged()
{
    return std::exchange(m_changed, {});
}

} // namespace espalier
