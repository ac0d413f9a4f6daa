// SPDX-License-Identifier: GPL-3.0-only
#include "views/profile_shelf.h"

#include "views/workbench.h"

namespace espalier {

namespace {

constexpr std::size_t atOnce = 4; ///< requests under way: the engine serves others in between
constexpr int newsMilliseconds = 80;

bool mayBeProfiled(const NodeSummary& node)
{
    return node.kind != NodeKind::Idea && node.state == NodeState::Done && node.outcome == Outcome::Passed;
}

} // namespace

ProfileShelf::ProfileShelf(Workbench& bench, QObject* parent) : QObject(parent), m_bench(bench)
{
    m_news.setSingleShot(true);
    m_news.setInterval(newsMilliseconds);
    connect(&m_news, &QTimer::timeout, this, &ProfileShelf::changed);
    connect(&bench.bridge(), &EngineBridge::detailArrived, this, &ProfileShelf::take);
    connect(&bench.nodes(), &NodeStore::updated, this, [this](const QList<int>& added, const QList<int>& changed) {
        for (const QList<int>& list : {added, changed}) {
            for (const int index : list) {
                enqueue(index);
            }
        }
        pump();
    });
    connect(&bench.nodes(), &NodeStore::cleared, this, &ProfileShelf::forget);
}

void ProfileShelf::setWanted(const QObject* who, bool wanted)
{
    const bool before = !m_wanting.empty();
    if (wanted) {
        m_wanting.insert(who);
    } else {
        m_wanting.erase(who);
    }
    if (!before && wanted) {
        enqueueAll();
        pump();
    }
}

std::shared_ptr<const CandidateFacts> ProfileShelf::find(NodeId node) const
{
    const auto found = m_facts.find(node);
    return found == m_facts.end() ? nullptr : found->second;
}

int ProfileShelf::candidates() const
{
    int count = 0;
    for (int i = 0; i < m_bench.nodes().count(); ++i) {
        count += mayBeProfiled(m_bench.nodes().at(i));
    }
    return count;
}

void ProfileShelf::enqueue(int index)
{
    const NodeSummary& node = m_bench.nodes().at(index);
    if (m_wanting.empty() || !mayBeProfiled(node) || m_queued.contains(node.id)) {
        return;
    }
    const auto known = m_known.find(node.id);
    if (known != m_known.end() && known->second == node) {
        return;
    }
    m_queued.insert(node.id);
    m_queue.push_back(node.id);
}

void ProfileShelf::enqueueAll()
{
    for (int i = 0; i < m_bench.nodes().count(); ++i) {
        enqueue(i);
    }
}

void ProfileShelf::pump()
{
    while (!m_wanting.empty() && !m_queue.empty() && m_asked.size() < atOnce) {
        const NodeId node = m_queue.front();
        m_queue.pop_front();
        m_queued.erase(node);
        m_asked.insert(node);
        m_bench.bridge().send(command::FetchDetail{node});
    }
}

void ProfileShelf::take(const std::shared_ptr<const NodeDetail>& detail)
{
    const NodeId node = detail->summary.id;
    m_asked.erase(node);
    if (mayBeProfiled(detail->summary)) {
        auto facts = std::make_shared<const CandidateFacts>(factsOf(*detail));
        std::shared_ptr<const CandidateFacts>& kept = m_facts[node];
        m_profiled += int(facts->profiled()) - int(kept && kept->profiled());
        kept = std::move(facts);
        m_known[node] = detail->summary;
        if (!m_news.isActive()) {
            m_news.start();
        }
    }
    pump();
}

void ProfileShelf::forget()
{
    m_queue.clear();
    m_queued.clear();
    m_asked.clear();
    m_facts.clear();
    m_known.clear();
    m_profiled = 0;
    emit changed();
}

} // namespace espalier
