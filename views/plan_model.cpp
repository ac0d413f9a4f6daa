// SPDX-License-Identifier: GPL-3.0-only
#include "views/plan_model.h"

#include "views/format.h"
#include "views/idea_editor.h"
#include "views/node_look.h"
#include "views/sign_icon.h"
#include "views/steer_commands.h"
#include "views/workbench.h"

#include <QMimeData>
#include <QPointer>
#include <algorithm>
#include <set>

namespace espalier {

namespace {

const QString nodeType = QStringLiteral("application/x-espalier-node");

std::optional<NodeId> nodeIn(const QMimeData* data)
{
    bool good = false;
    const qlonglong number = data->data(nodeType).toLongLong(&good);
    return good ? std::optional(NodeId{number}) : std::nullopt;
}

} // namespace

PlanModel::PlanModel(Workbench& bench, QObject* parent) : QAbstractListModel(parent), m_bench(bench)
{
    connect(&bench, &Workbench::planChanged, this, &PlanModel::follow);
    connect(&bench.nodes(), &NodeStore::updated, this, &PlanModel::handleUpdate);
    connect(&bench.nodes(), &NodeStore::cleared, this, &PlanModel::follow);
    connect(&bench.themes(), &ThemeManager::themeChanged, this, &PlanModel::refresh);
    connect(&bench, &Workbench::selectionChanged, this,
            [this] { emit dataChanged(newIdeaRow(), newIdeaRow()); }); // it says where
    follow();
}

void PlanModel::refresh()
{
    emit dataChanged(index(0), index(rowCount() - 1));
}

void PlanModel::keep(std::optional<NodeId> node)
{
    m_kept = node;
    follow();
}

/// Of the many news of a search only those of the plan's nodes are looked at.
void PlanModel::handleUpdate(const QList<int>&, const QList<int>& changed)
{
    std::set<int> mine;
    for (const PlannedStep& step : m_steps) {
        mine.insert(m_bench.nodes().indexOf(step.node));
    }
    if (m_incomplete || m_steps.empty()) {
        follow(); // a step's node may come after the step; the first kernel is where a new idea goes
    } else if (std::any_of(changed.begin(), changed.end(), [&](int node) { return mine.contains(node); })) {
        refresh();
    }
}

/// Moves, inserts and removes what differs from the plan: a reset would close an editor.
void PlanModel::follow()
{
    std::vector<PlannedStep> wanted;
    m_incomplete = false;
    const auto add = [&](const PlannedStep& step) {
        const bool there =
            std::any_of(wanted.begin(), wanted.end(), [&](const PlannedStep& one) { return one.node == step.node; });
        if (m_bench.nodes().indexOf(step.node) < 0) {
            m_incomplete = true;
        } else if (!there) {
            wanted.push_back(step);
        }
    };
    for (const PlannedStep& step : m_bench.plan().steps) {
        add(step);
    }
    if (m_kept) {
        add({PlannedStep::Kind::Open, *m_kept, {}});
    }
    m_moving = true;
    for (std::ptrdiff_t i = 0; i < std::ptrdiff_t(wanted.size()); ++i) {
        const PlannedStep& step = wanted[std::size_t(i)];
        const auto place = m_steps.begin() + i; // whatever stands before it is in order
        const auto found =
            std::find_if(place, m_steps.end(), [&](const PlannedStep& one) { return one.node == step.node; });
        if (found == m_steps.end()) {
            beginInsertRows({}, rowOf(i), rowOf(i));
            m_steps.insert(place, step);
            endInsertRows();
        } else if (found != place) {
            const int from = rowOf(found - m_steps.begin());
            beginMoveRows({}, from, from, {}, rowOf(i));
            std::rotate(place, found, found + 1);
            endMoveRows();
        }
    }
    if (m_steps.size() > wanted.size()) {
        beginRemoveRows({}, rowOf(std::ptrdiff_t(wanted.size())), rowOf(std::ptrdiff_t(m_steps.size()) - 1));
        m_steps.resize(wanted.size());
        endRemoveRows();
    }
    m_steps = std::move(wanted); // the reasons
    m_moving = false;
    refresh();
}

std::optional<NodeId> PlanModel::nodeAt(const QModelIndex& index) const
{
    return index.isValid() && !isNewIdea(index) ? std::optional(stepAt(index).node) : std::nullopt;
}

QModelIndex PlanModel::indexOf(NodeId node) const
{
    const auto found =
        std::find_if(m_steps.begin(), m_steps.end(), [node](const PlannedStep& one) { return one.node == node; });
    return found == m_steps.end() ? QModelIndex() : index(rowOf(found - m_steps.begin()));
}

std::optional<NodeId> PlanModel::newIdeaParent() const
{
    const NodeStore& nodes = m_bench.nodes();
    int at = m_bench.selectedIndex();
    if (at < 0 && nodes.count() > 0) {
        at = nodes.roots().front();
    }
    if (at >= 0 && nodes.at(at).kind == NodeKind::Idea) {
        at = nodes.parentCandidateOf(at);
    }
    return at >= 0 ? std::optional(nodes.at(at).id) : std::nullopt;
}

int PlanModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(m_steps.size()) + 1;
}

bool PlanModel::isDraft(const QModelIndex& index) const
{
    const auto node = nodeAt(index);
    if (!node) {
        return false;
    }
    const NodeSummary& summary = m_bench.nodes().at(m_bench.nodes().indexOf(*node));
    return summary.kind == NodeKind::Idea && summary.state == NodeState::Draft;
}

QString PlanModel::tagOf(const PlannedStep& step, const NodeSummary& node) const
{
    switch (step.kind) {
    case PlannedStep::Kind::Running:
        return node.runningStage ? format::activity(*node.runningStage) : tr("running");
    case PlannedStep::Kind::Queued:
        return tr("queued");
    case PlannedStep::Kind::Next:
        return node.kind == NodeKind::Idea ? tr("next") : tr("next: ideas");
    case PlannedStep::Kind::Open:
        return tr("open");
    }
    return {};
}

/// The engine's reason; without one, which kernel it changes.
QString PlanModel::whyOf(const PlannedStep& step, const NodeSummary& node) const
{
    if (!step.why.empty() || node.parents.empty()) {
        return format::text(step.why);
    }
    return tr("under %1").arg(nameOf(node.parents.front().parent));
}

QString PlanModel::nameOf(NodeId node) const
{
    const int index = m_bench.nodes().indexOf(node);
    return index < 0 ? QString::number(node.value)
                     : QStringLiteral("%1  %2").arg(node.value).arg(format::text(m_bench.nodes().at(index).title));
}

QVariant PlanModel::newIdeaData(int role) const
{
    const auto parent = newIdeaParent();
    switch (role) {
    case Qt::DisplayRole:
        return tr("New idea");
    case WhyRole:
        return parent ? tr("under %1").arg(nameOf(*parent)) : tr("once there is a kernel to change");
    case Qt::EditRole:
        return QVariant::fromValue(m_refused && m_refused->parent == parent ? *m_refused : IdeaWords{{}, {}, parent});
    case Qt::DecorationRole:
        return themedIcon(QStringLiteral("idea"), m_bench.theme(), Token::Accent);
    case Qt::ToolTipRole:
        return m_bench.whyNotSearched().isEmpty()
                   ? tr("Write an idea (I); it is implemented when the search chooses it")
                   : m_bench.whyNotSearched();
    default:
        return {};
    }
}

QVariant PlanModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid() || index.row() >= rowCount()) {
        return {};
    }
    if (isNewIdea(index)) {
        return newIdeaData(role);
    }
    const PlannedStep& step = stepAt(index);
    const int at = m_bench.nodes().indexOf(step.node);
    if (at < 0) {
        return {}; // the session is closing
    }
    const NodeSummary& node = m_bench.nodes().at(at);
    const QString title = nameOf(node.id);
    switch (role) {
    case Qt::DisplayRole:
        return title;
    case Qt::DecorationRole:
        return signIcon(lookOf(node, false), m_bench.theme());
    case TagRole:
        return tagOf(step, node);
    case WhyRole:
        return whyOf(step, node);
    case BoostRole:
        return node.boost;
    case Qt::EditRole: {
        const auto detail = m_bench.detail(node.id);
        return QVariant::fromValue(
            IdeaWords{format::text(node.title), detail ? format::text(detail->ideaText) : QString(), std::nullopt});
    }
    case Qt::ToolTipRole:
    case Qt::AccessibleTextRole: {
        QStringList words{title, tagOf(step, node)};
        if (node.boost != 1) {
            words += tr("boost %1×").arg(node.boost);
        }
        if (const QString why = whyOf(step, node); !why.isEmpty()) {
            words += why;
        }
        return words.join(role == Qt::ToolTipRole ? QStringLiteral("\n") : QStringLiteral(", "));
    }
    default:
        return {};
    }
}

bool PlanModel::setData(const QModelIndex& index, const QVariant& value, int role)
{
    if (role != Qt::EditRole || !value.canConvert<IdeaEdit>()) {
        return false;
    }
    const auto [before, words] = value.value<IdeaEdit>();
    const std::string title = words.title.toStdString(), text = words.text.toStdString();
    if (isNewIdea(index)) {
        const auto parent = words.parent;
        if (!parent) {
            return false;
        }
        grow(
            m_bench, tr("Idea \"%1\"").arg(words.title), command::AddIdea{*parent, title, text},
            [title, parent](const NodeSummary& node) {
                return node.kind == NodeKind::Idea && node.title == title && !node.parents.empty() &&
                       node.parents.front().parent == *parent;
            },
            [this, alive = QPointer(this), words](const std::optional<Error>& refusal) {
                if (alive) { // what was refused is there to be mended when one writes again
                    m_refused = refusal ? std::optional(words) : std::nullopt;
                }
            });
        return true;
    }
    if (const auto node = nodeAt(index); node && (words.title != before.title || words.text != before.text.trimmed())) {
        steer(m_bench, tr("Edit idea %1").arg(node->value), command::EditIdea{*node, title, text},
              command::EditIdea{*node, before.title.toStdString(), before.text.toStdString()});
    }
    return true;
}

Qt::ItemFlags PlanModel::flags(const QModelIndex& index) const
{
    if (!index.isValid()) {
        return Qt::ItemIsDropEnabled;
    }
    Qt::ItemFlags flags = Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemNeverHasChildren;
    if (!m_bench.whyNotSearched().isEmpty()) {
        return flags;
    }
    if (isDraft(index)) {
        flags |= Qt::ItemIsEditable | Qt::ItemIsDragEnabled;
    } else if (isNewIdea(index)) {
        flags |= Qt::ItemIsEditable;
    }
    return flags;
}

QStringList PlanModel::mimeTypes() const
{
    return {nodeType};
}

QMimeData* PlanModel::mimeData(const QModelIndexList& indexes) const
{
    const auto node = indexes.isEmpty() ? std::nullopt : nodeAt(indexes.front());
    auto* data = new QMimeData;
    data->setData(nodeType, node ? QByteArray::number(qlonglong(node->value)) : QByteArray());
    return data;
}

bool PlanModel::canDropMimeData(const QMimeData* data, Qt::DropAction action, int, int, const QModelIndex&) const
{
    return action == Qt::MoveAction && nodeIn(data).has_value();
}

/// The order is the strategy's: what a person moves up is boosted beyond what it was dropped before, and the other way
/// round.
bool PlanModel::dropMimeData(const QMimeData* data, Qt::DropAction, int row, int, const QModelIndex& parent)
{
    const auto node = nodeIn(data);
    const QModelIndex from = node ? indexOf(*node) : QModelIndex();
    if (!from.isValid()) {
        return false;
    }
    const int to = parent.isValid() ? parent.row() : row < 0 ? rowCount() : row;
    const bool up = to <= from.row();
    const QModelIndex passed = up ? index(to) : index(to - 1);
    const auto other = nodeAt(passed);
    if (!other || *other == *node) {
        return false;
    }
    const NodeSummary& moved = m_bench.nodes().at(m_bench.nodes().indexOf(*node));
    const double beyond = m_bench.nodes().at(m_bench.nodes().indexOf(*other)).boost;
    setBoost(m_bench, moved, boostStep(up ? std::max(moved.boost, beyond) : std::min(moved.boost, beyond), up));
    return false; // the row moves when the plan does
}

} // namespace espalier
