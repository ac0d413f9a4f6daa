// SPDX-License-Identifier: GPL-3.0-only
#include "views/sentence.h"

#include "core/analysis/fresh_runs.h"
#include "views/format.h"

#include <QCoreApplication>
#include <QRegularExpression>

namespace espalier {

namespace {

QString tr(const char* source)
{
    return QCoreApplication::translate("sentence", source);
}

/// A reason as a person would say it: of several clauses the first, without the compiler's names for kernels. The
/// Stages tab has all of it.
QString spoken(QString reason)
{
    constexpr qsizetype longReason = 100;
    static const QRegularExpression mangled(QStringLiteral(" in kernel _Z\\w+"));
    reason.remove(mangled);
    if (const qsizetype clause = reason.indexOf(QStringLiteral("; ")); clause > 0 && reason.size() > longReason) {
        reason.truncate(clause);
    }
    return reason.trimmed();
}

/// "reason." as the tail of a sentence; a plain stop when nothing is known.
QString because(const QString& head, const std::string& reason)
{
    QString text = spoken(format::text(reason));
    if (text.isEmpty()) {
        return head + QLatin1Char('.');
    }
    if (!text.endsWith(QLatin1Char('.')) && !text.endsWith(QLatin1Char('?')) && !text.endsWith(QLatin1Char('!'))) {
        text += QLatin1Char('.');
    }
    return head + QStringLiteral(": ") + text;
}

QString capitalised(QString text)
{
    if (!text.isEmpty()) {
        text[0] = text[0].toUpper();
    }
    return text;
}

QString modelNote(Provenance provenance)
{
    return provenance == Provenance::Model ? tr(" Modelled by the simulated device, not measured.") : QString();
}

/// "; 1.02× slower than cublas (95 % interval …)", empty where no library was timed beside it.
QString besideLibrary(const NodeSummary& node)
{
    if (!node.speedupLibrary) {
        return {};
    }
    const double band =
        node.provenance.value_or(Provenance::Model) == Provenance::Model ? 0 : statistics::leastDifference;
    const bool tie = statistics::compare(*node.speedupLibrary, band) == statistics::Comparison::Tie;
    return QStringLiteral("; ") + comparison(*node.speedupLibrary, format::text(node.library), tie);
}

QString passedSentence(const NodeSummary& node)
{
    const Provenance provenance = node.provenance.value_or(Provenance::Model);
    QString text;
    if (node.speedupParent) {
        text = capitalised(comparison(*node.speedupParent, tr("its parent"), node.tieWithParent));
        if (node.speedupRoot) {
            text += tr(", %1 the root's speed").arg(format::speedup(node.speedupRoot->value, Provenance::Measured));
        }
    } else if (node.speedupRoot) {
        text = capitalised(comparison(*node.speedupRoot, tr("the root"), false));
    } else if (node.timeUs) {
        text = tr("Correct, %1 per call").arg(format::time(node.timeUs->value, Provenance::Measured));
    } else {
        text = tr("Correct; no time was taken");
    }
    return text + besideLibrary(node) + QLatin1Char('.') + modelNote(provenance);
}

QString rootSentence(const NodeSummary& node)
{
    if (node.outcome != Outcome::Passed || !node.timeUs) {
        return tr("The kernel the search starts from.");
    }
    return tr("The kernel the search starts from: %1 per call%2%3.")
               .arg(format::time(node.timeUs->value, Provenance::Measured), format::intervalWords(*node.timeUs),
                    besideLibrary(node)) +
           modelNote(node.provenance.value_or(Provenance::Model));
}

QString ideaSentence(const NodeSummary& node, const IdeaResult& result)
{
    if (node.state == NodeState::Draft) {
        return tr("A draft: nothing has been spent on it, and it can still be edited.");
    }
    if (result.implementations == 0) {
        return node.state == NodeState::Running ? tr("Is being written as code.") : tr("Waits to be implemented.");
    }
    if (result.passed == 0) {
        return result.running > 0 ? tr("Implemented; its verdict is not in yet.")
                                  : tr("None of its %1 implementation(s) passed.").arg(result.implementations);
    }
    QString text = tr("%1 of %2 implementation(s) passed").arg(result.passed).arg(result.implementations);
    if (result.bestSpeedupRoot) {
        text += tr("; the best runs at %1 the root's speed")
                    .arg(format::speedup(result.bestSpeedupRoot->value, Provenance::Measured));
    }
    return text + QLatin1Char('.') + (result.bestSpeedupRoot ? modelNote(result.provenance) : QString());
}

QString runningSentence(const NodeSummary& node)
{
    switch (node.runningStage.value_or(Stage::Generate)) {
    case Stage::Generate:
        return tr("Its source is being written.");
    case Stage::Build:
        return tr("Is being built.");
    case Stage::Verify:
        return tr("Is being checked against the oracle.");
    case Stage::Time:
        return tr("Is being timed against its parent and the root.");
    case Stage::Profile:
        return tr("Is being profiled.");
    }
    return {};
}

} // namespace

QString comparison(const Interval& speedup, const QString& rival, bool tie)
{
    if (tie || (speedup.low <= 1 && speedup.high >= 1)) {
        return tr("as fast as %1 within the noise%2").arg(rival, format::intervalWords(speedup));
    }
    const bool faster = speedup.value > 1;
    const Interval shown = faster ? speedup : Interval{1 / speedup.value, 1 / speedup.high, 1 / speedup.low};
    return (faster ? tr("%1× faster than %2%3") : tr("%1× slower than %2%3"))
        .arg(format::number(shown.value), rival, format::intervalWords(shown));
}

QString sentenceFor(const NodeSummary& node, const IdeaResult& result)
{
    if (node.kind == NodeKind::Idea) {
        return ideaSentence(node, result);
    }
    switch (node.state) {
    case NodeState::Draft:
        return tr("A draft: it has no source yet.");
    case NodeState::Queued:
        return tr("Waits for its turn.");
    case NodeState::Running:
        return runningSentence(node);
    case NodeState::Done:
        break;
    }
    if (!node.banned.empty() && node.outcome == Outcome::Passed) {
        return because(tr("Passed, and is out of the search"), node.banned);
    }
    if (node.overturned) {
        return because(node.overturned->as == Outcome::Passed ? tr("Accepted by %1 although the judge said %2")
                                                              : tr("Rejected by %1 although the judge said %2"),
                       node.overturned->reason)
            .arg(format::text(node.overturned->author), format::outcome(node.overturned->judged));
    }
    switch (node.outcome) {
    case Outcome::Passed:
        return node.kind == NodeKind::Root ? rootSentence(node) : passedSentence(node);
    case Outcome::Incorrect:
        return because(tr("Rejected"), node.reason);
    case Outcome::Suspicious:
        return because(tr("Rejected as suspicious"), node.reason);
    case Outcome::BuildFailed:
        return because(tr("Did not build"), node.reason);
    case Outcome::RuntimeFailed:
        return because(tr("Failed at run time"), node.reason);
    case Outcome::TimedOut:
        return because(tr("Ran past its deadline"), node.reason);
    case Outcome::NotRun:
        return because(tr("Not run"), node.reason);
    }
    return {};
}

} // namespace espalier
