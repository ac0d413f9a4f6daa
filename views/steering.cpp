// SPDX-License-Identifier: GPL-3.0-only
#include "views/steering.h"

#include "views/sign_icon.h"
#include "views/workbench.h"

#include <QAction>
#include <QKeySequence>
#include <QMenu>

namespace espalier {

namespace {

/// One row of what the window shows of an act.
struct ActWords {
    Act act;
    const char* text;
    const char* tip;
    const char* icon; ///< empty: none
    QList<QKeySequence> keys;
    bool letter = false; ///< only where a node has the focus
};

const QList<ActWords>& words()
{
    const auto key = [](int code) { return QKeySequence(code); };
    static const QList<ActWords> all = {
        {Act::Pin,
         QT_TRANSLATE_NOOP("Steering", "Pin"),
         QT_TRANSLATE_NOOP("Steering", "Keep the search building on this node"),
         "pin",
         {key(Qt::Key_P)},
         true},
        {Act::Prune,
         QT_TRANSLATE_NOOP("Steering", "Prune branch"),
         QT_TRANSLATE_NOOP("Steering", "The search leaves this branch alone; nothing is deleted"),
         "prune",
         {key(Qt::Key_X), key(Qt::Key_Delete)},
         true},
        {Act::BoostMore,
         QT_TRANSLATE_NOOP("Steering", "Boost"),
         QT_TRANSLATE_NOOP("Steering", "Twice the weight in the search's next choices"),
         "boost",
         {key(Qt::Key_Plus), key(Qt::Key_Equal), key(int(Qt::CTRL) | Qt::Key_Up)},
         true},
        {Act::BoostLess,
         QT_TRANSLATE_NOOP("Steering", "Boost less"),
         QT_TRANSLATE_NOOP("Steering", "Half the weight in the search's next choices"),
         "",
         {key(Qt::Key_Minus), key(int(Qt::CTRL) | Qt::Key_Down)},
         true},
        {Act::BranchBudget,
         QT_TRANSLATE_NOOP("Steering", "Budget of this branch…"),
         QT_TRANSLATE_NOOP("Steering", "What this node and all below it may spend from now on"),
         "",
         {key(int(Qt::CTRL) | Qt::Key_L)}},
        {Act::NewIdea,
         QT_TRANSLATE_NOOP("Steering", "New idea here"),
         QT_TRANSLATE_NOOP("Steering", "Write an idea for what to try on this kernel"),
         "idea",
         {key(Qt::Key_I)},
         true},
        {Act::EditIdea,
         QT_TRANSLATE_NOOP("Steering", "Edit idea"),
         QT_TRANSLATE_NOOP("Steering", "Change its words before it is implemented"),
         "",
         {key(Qt::Key_F2)}},
        {Act::AskAgain,
         QT_TRANSLATE_NOOP("Steering", "Have it written again"),
         QT_TRANSLATE_NOOP("Steering", "The model writes another kernel under the same idea when the search runs"),
         "",
         {key(int(Qt::CTRL) | Qt::Key_R)}},
        {Act::AskIdeas,
         QT_TRANSLATE_NOOP("Steering", "Ask for ideas here"),
         QT_TRANSLATE_NOOP("Steering", "The model is asked for new ideas on this kernel when the search runs"),
         "",
         {key(int(Qt::CTRL) | Qt::SHIFT | Qt::Key_R)}},
        {Act::Inject,
         QT_TRANSLATE_NOOP("Steering", "Own kernel here…"),
         QT_TRANSLATE_NOOP("Steering", "Judge a kernel of your own as a candidate under this node"),
         "",
         {key(int(Qt::CTRL) | Qt::Key_I)}},
        {Act::InjectRoot,
         QT_TRANSLATE_NOOP("Steering", "Own kernel as a new root…"),
         QT_TRANSLATE_NOOP("Steering", "The search grows from a kernel of your own as well"),
         "",
         {key(int(Qt::CTRL) | Qt::SHIFT | Qt::Key_I)}},
        {Act::Cross,
         QT_TRANSLATE_NOOP("Steering", "Cross with…"),
         QT_TRANSLATE_NOOP("Steering", "Then click the second kernel: an idea takes what is good in both"),
         "",
         {key(Qt::Key_C)},
         true},
        {Act::VerifyAgain,
         QT_TRANSLATE_NOOP("Steering", "Verify again"),
         QT_TRANSLATE_NOOP("Steering", "On new inputs, at once; beside the budget"),
         "",
         {key(int(Qt::CTRL) | Qt::SHIFT | Qt::Key_V)}},
        {Act::TimeAgain,
         QT_TRANSLATE_NOOP("Steering", "Time again"),
         QT_TRANSLATE_NOOP("Steering", "On new inputs, in the full tier, at once; beside the budget"),
         "",
         {key(int(Qt::CTRL) | Qt::SHIFT | Qt::Key_T)}},
        {Act::ProfileNow,
         QT_TRANSLATE_NOOP("Steering", "Profile now"),
         QT_TRANSLATE_NOOP("Steering", "All counters, and samples by source line, at once; beside the budget"),
         "",
         {key(int(Qt::CTRL) | Qt::SHIFT | Qt::Key_M)}},
        {Act::Nsight,
         QT_TRANSLATE_NOOP("Steering", "Open in Nsight Compute"),
         QT_TRANSLATE_NOOP("Steering", "Build a program that runs this kernel, profile it and open the report"),
         "",
         {key(int(Qt::CTRL) | Qt::SHIFT | Qt::Key_N)}},
        {Act::Kill,
         QT_TRANSLATE_NOOP("Steering", "Kill"),
         QT_TRANSLATE_NOOP("Steering", "Abandon what is built or judged of it; it does not come back"),
         "stop",
         {key(int(Qt::CTRL) | Qt::Key_K)}},
        {Act::Overturn,
         QT_TRANSLATE_NOOP("Steering", "Reject against the judge…"),
         QT_TRANSLATE_NOOP("Steering", "Set your word over the judge's, with a reason; both stay on record"),
         "",
         {key(int(Qt::CTRL) | Qt::SHIFT | Qt::Key_O)}},
        {Act::Copy,
         QT_TRANSLATE_NOOP("Steering", "Copy source"),
         QT_TRANSLATE_NOOP("Steering", "Copy the whole source"),
         "copy",
         {key(int(Qt::CTRL) | Qt::SHIFT | Qt::Key_C)}},
        {Act::Export,
         QT_TRANSLATE_NOOP("Steering", "Export kernel…"),
         QT_TRANSLATE_NOOP("Steering", "Write the kernel, its prototype and its evidence to a folder"),
         "export",
         {key(int(Qt::CTRL) | Qt::Key_E)}},
        {Act::ToParent,
         QT_TRANSLATE_NOOP("Steering", "Go to parent candidate"),
         QT_TRANSLATE_NOOP("Steering", "Select the candidate this one builds on"),
         "",
         {key(int(Qt::ALT) | Qt::Key_Up)}},
        {Act::ToBest,
         QT_TRANSLATE_NOOP("Steering", "Go to best"),
         QT_TRANSLATE_NOOP("Steering", "Select the best candidate"),
         "best",
         {key(int(Qt::CTRL) | Qt::Key_B)}},
    };
    return all;
}

} // namespace

Steering::Steering(Workbench& bench, QObject* parent) : QObject(parent), m_bench(bench)
{
    for (const ActWords& one : words()) {
        auto* action = new QAction(tr(one.text), this);
        action->setShortcuts(one.keys);
        if (one.letter) {
            action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
        }
        connect(action, &QAction::triggered, this, [this, act = one.act] { perform(act); });
        m_actions[std::size_t(one.act)] = action;
    }
    connect(&bench, &Workbench::selectionChanged, this, &Steering::update);
    connect(&bench, &Workbench::sessionOpened, this, &Steering::update);
    connect(&bench, &Workbench::sessionClosed, this, &Steering::update);
    connect(&bench.nodes(), &NodeStore::updated, this, &Steering::update);
    connect(&bench.nodes(), &NodeStore::statusChanged, this, &Steering::update);
    connect(&bench.themes(), &ThemeManager::themeChanged, this, &Steering::updateIcons);
    connect(&bench, &Workbench::detailChanged, this, [this](NodeId node) {
        if (m_copyWhenThere == node) {
            copySource();
        }
    });
    updateIcons();
    update();
}

void Steering::updateIcons()
{
    for (const ActWords& one : words()) {
        if (*one.icon) {
            action(one.act)->setIcon(themedIcon(QString::fromLatin1(one.icon), m_bench.theme()));
        }
    }
}

void Steering::setNsight(const QString& whyNot)
{
    m_noNsight = whyNot;
    update();
}

void Steering::update()
{
    const int index = m_bench.selectedIndex();
    const NodeSummary* node = index >= 0 ? &m_bench.nodes().at(index) : nullptr;
    pin()->setText(node && node->pinned ? tr("Unpin") : tr("Pin"));
    prune()->setText(node && node->pruned ? tr("Restore branch") : tr("Prune branch"));
    action(Act::Overturn)
        ->setText(node && node->outcome != Outcome::Passed ? tr("Accept against the judge…")
                                                           : tr("Reject against the judge…"));
    for (const ActWords& one : words()) {
        QAction* action = this->action(one.act);
        const QString reason = one.act == Act::Nsight && !m_noNsight.isEmpty() ? m_noNsight : whyNot(one.act, m_bench);
        action->setEnabled(reason.isEmpty());
        const QString keys = one.keys.isEmpty() ? QString() : one.keys.front().toString(QKeySequence::NativeText);
        action->setToolTip(!reason.isEmpty() ? reason : tr("%1 (%2)").arg(tr(one.tip), keys));
    }
}

void Steering::installOn(QWidget* widget)
{
    for (const ActWords& one : words()) {
        if (one.letter) {
            widget->addAction(action(one.act));
        }
    }
}

void Steering::fill(QMenu* menu) const
{
    const QList<QList<Act>> groups = {
        {Act::Pin, Act::Prune, Act::BoostMore, Act::BoostLess, Act::BranchBudget},
        {Act::NewIdea, Act::EditIdea, Act::AskIdeas, Act::AskAgain, Act::Cross, Act::Inject, Act::InjectRoot},
        {Act::VerifyAgain, Act::TimeAgain, Act::ProfileNow, Act::Nsight, Act::Kill, Act::Overturn},
        {Act::Copy, Act::Export},
        {Act::ToParent, Act::ToBest},
    };
    for (const QList<Act>& group : groups) {
        if (!menu->isEmpty()) {
            menu->addSeparator();
        }
        for (const Act act : group) {
            menu->addAction(action(act));
        }
    }
}

void Steering::popup(const QPoint& global, QWidget* parent)
{
    auto* menu = new QMenu(parent);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->setToolTipsVisible(true);
    fill(menu);
    menu->popup(global);
}

} // namespace espalier
