// SPDX-License-Identifier: GPL-3.0-only
#include "views/format.h"

#include "core/analysis/fresh_runs.h"

#include <QCoreApplication>
#include <QLocale>
#include <QStringList>
#include <cmath>

namespace espalier::format {

namespace {

QString tr(const char* source)
{
    return QCoreApplication::translate("format", source);
}

QString marked(const QString& figure, Provenance provenance)
{
    return provenance == Provenance::Model ? QStringLiteral("≈ ") + figure : figure;
}

} // namespace

QString text(std::string_view utf8)
{
    return QString::fromUtf8(utf8.data(), qsizetype(utf8.size()));
}

QString number(double value, int digits)
{
    if (!std::isfinite(value)) {
        return QStringLiteral("–");
    }
    if (value == 0) {
        return QStringLiteral("0");
    }
    const double size = std::abs(value);
    if (size >= 1e6 || size < 1e-3) {
        return QString::number(value, 'e', digits - 1);
    }
    const int before = int(std::floor(std::log10(size))) + 1;
    return QString::number(value, 'f', std::max(0, digits - before));
}

QString speedup(double value, Provenance provenance)
{
    return marked(number(value) + QStringLiteral("×"), provenance);
}

QString speedup(const Interval& interval, Provenance provenance)
{
    return speedup(interval.value, provenance);
}

QString bounds(const Interval& interval)
{
    const QString low = number(interval.low), high = number(interval.high);
    return low == high ? QString() : QStringLiteral("[%1, %2]").arg(low, high);
}

QString withBounds(const QString& figure, const Interval& interval)
{
    return QStringLiteral("%1 %2").arg(figure, bounds(interval)).trimmed();
}

QString intervalWords(const Interval& interval)
{
    const QString low = number(interval.low), high = number(interval.high);
    return low == high ? QString() : tr(" (95 % interval %1 to %2)").arg(low, high);
}

QString ratio(const Interval& interval, Provenance provenance)
{
    const double band = provenance == Provenance::Model ? 0 : statistics::leastDifference;
    const bool tie = statistics::compare(interval, band) == statistics::Comparison::Tie;
    return (tie ? QStringLiteral("= ") : QString()) + speedup(interval.value, provenance);
}

QString halfWidth(const Interval& interval)
{
    const double half = interval.value > 0 ? (interval.high - interval.low) / 2 / interval.value : 0;
    return half > 0 ? QStringLiteral("±%1 %").arg(number(100 * half, 2)) : QStringLiteral("–");
}

QString time(double microseconds, Provenance provenance)
{
    const bool seconds = microseconds >= 1e6, milli = microseconds >= 1e3;
    const double value = seconds ? microseconds / 1e6 : milli ? microseconds / 1e3 : microseconds;
    const QString unit = seconds ? QStringLiteral("s") : milli ? QStringLiteral("ms") : QStringLiteral("µs");
    return marked(number(value) + QChar(0xa0) + unit, provenance);
}

QString seconds(double seconds)
{
    if (seconds < 10) {
        return QString::number(seconds, 'f', 2) + QStringLiteral(" s");
    }
    if (seconds < 100) {
        return QString::number(std::lround(seconds)) + QStringLiteral(" s");
    }
    const long whole = std::lround(seconds);
    return QStringLiteral("%1 min %2 s").arg(whole / 60).arg(whole % 60);
}

QString clock(double seconds)
{
    const long whole = std::max(0L, std::lround(seconds));
    const QString tail =
        QStringLiteral("%1:%2").arg(whole / 60 % 60, 2, 10, QLatin1Char('0')).arg(whole % 60, 2, 10, QLatin1Char('0'));
    return whole >= 3600 ? QStringLiteral("%1:%2").arg(whole / 3600).arg(tail) : tail;
}

QString count(std::uint64_t value)
{
    return QLocale(QLocale::English).toString(qulonglong(value));
}

QString outcome(Outcome outcome)
{
    switch (outcome) {
    case Outcome::Passed:
        return tr("passed");
    case Outcome::Incorrect:
        return tr("incorrect");
    case Outcome::Suspicious:
        return tr("suspicious");
    case Outcome::BuildFailed:
        return tr("did not build");
    case Outcome::RuntimeFailed:
        return tr("failed at run time");
    case Outcome::TimedOut:
        return tr("timed out");
    case Outcome::NotRun:
        return tr("not run");
    }
    return {};
}

QString stage(Stage stage)
{
    switch (stage) {
    case Stage::Generate:
        return tr("Generate");
    case Stage::Build:
        return tr("Build");
    case Stage::Verify:
        return tr("Verify");
    case Stage::Time:
        return tr("Time");
    case Stage::Profile:
        return tr("Profile");
    }
    return {};
}

QString activity(Stage stage)
{
    switch (stage) {
    case Stage::Generate:
        return tr("writing");
    case Stage::Build:
        return tr("building");
    case Stage::Verify:
        return tr("verifying");
    case Stage::Time:
        return tr("timing");
    case Stage::Profile:
        return tr("profiling");
    }
    return {};
}

QString kind(NodeKind kind)
{
    switch (kind) {
    case NodeKind::Root:
        return tr("root");
    case NodeKind::Idea:
        return tr("idea");
    case NodeKind::Candidate:
        return tr("candidate");
    }
    return {};
}

QString state(NodeState state)
{
    switch (state) {
    case NodeState::Draft:
        return tr("draft");
    case NodeState::Queued:
        return tr("queued");
    case NodeState::Running:
        return tr("running");
    case NodeState::Done:
        return tr("done");
    }
    return {};
}

QString runState(RunState state)
{
    switch (state) {
    case RunState::Idle:
        return tr("idle");
    case RunState::Running:
        return tr("running");
    case RunState::Pausing:
        return tr("pausing");
    case RunState::Paused:
        return tr("paused");
    case RunState::Finished:
        return tr("finished");
    case RunState::Failed:
        return tr("failed");
    }
    return {};
}

QString provenance(Provenance provenance)
{
    return provenance == Provenance::Measured ? tr("measured") : tr("modelled");
}

QString budget(const RunStatus& status)
{
    QStringList parts;
    parts += status.budget.evaluations ? tr("%1/%2 evals").arg(status.evaluations).arg(*status.budget.evaluations)
                                       : tr("%1 evals").arg(status.evaluations);
    if (status.usd > 0 || status.budget.usd) {
        parts += QStringLiteral("$%1").arg(status.usd, 0, 'f', 2);
    }
    if (status.state == RunState::Running && status.secondsLeft) {
        parts += tr("%1 left").arg(clock(*status.secondsLeft));
    } else {
        parts += tr("%1 spent").arg(clock(status.seconds));
    }
    return parts.join(QStringLiteral(" · "));
}

QString statusLine(const RunStatus& status, Provenance provenance)
{
    QStringList parts{tr("engine %1").arg(runState(status.state))};
    if (!status.why.empty() && status.state != RunState::Running) {
        parts.front() += QStringLiteral(": ") + text(status.why); // why it does not run
    }
    if (status.building > 0) {
        parts += tr("%1 building").arg(status.building);
    }
    if (status.waiting > 0) {
        parts += tr("%1 waiting").arg(status.waiting);
    }
    if (status.judging > 0) {
        parts += tr("%1 judging").arg(status.judging);
    }
    if (status.readsOn) {
        parts += tr("an answer is coming: %1 s more at most").arg(*status.readsOn);
    }
    if (status.idleShare) {
        parts += tr("device idle %1 %").arg(number(100 * *status.idleShare));
    }
    parts += tr("provenance %1").arg(text(nameOf(provenance)));
    return parts.join(QStringLiteral(" · "));
}

} // namespace espalier::format
