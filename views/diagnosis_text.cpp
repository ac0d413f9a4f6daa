// SPDX-License-Identifier: GPL-3.0-only
#include "views/diagnosis_text.h"

#include "core/analysis/diagnosis.h"
#include "views/format.h"
#include "views/theme.h"

#include <QCoreApplication>
#include <QStringList>

namespace espalier {

namespace {

QString tr(const char* source)
{
    return QCoreApplication::translate("diagnosis", source);
}

constexpr double muchToGain = 20; ///< per cent of the time: then there is something worth changing, known or not

QString escaped(const std::string& text)
{
    QString words = format::text(text);
    if (!words.isEmpty()) {
        words[0] = words[0].toUpper();
    }
    return words.toHtmlEscaped();
}

QString stopped(const QString& sentence)
{
    return sentence.isEmpty() || sentence.endsWith(QLatin1Char('.')) ? sentence : sentence + QLatin1Char('.');
}

QString marked(const QString& html, Provenance provenance)
{
    return provenance == Provenance::Model ? QStringLiteral("<i>≈ %1</i>").arg(html) : html;
}

QString warning(const std::string& check, const Theme& theme)
{
    return QStringLiteral("<span style='color:%1'>%2</span>")
        .arg(theme[Token::Suspicious].name(), tr("To be checked: %1").arg(stopped(escaped(check))));
}

QString gainText(const Diagnosis& one)
{
    return one.gainPercent >= 1 ? tr("at most %1 % of the time to gain").arg(format::number(one.gainPercent, 2))
                                : QString();
}

QString linesText(const Diagnosis& one)
{
    QStringList places;
    for (const DiagnosisLine& line : one.lines) {
        places += QStringLiteral("<a href='line:%1'>%2</a> (%3)")
                      .arg(QString::number(line.line), tr("line %1").arg(line.line),
                           tr("%1 % of these waits").arg(format::number(100 * line.share, 2)));
    }
    return places.join(QStringLiteral(", "));
}

} // namespace

QString diagnosisCard(const NodeDetail& detail, const Theme& theme)
{
    QStringList parts;
    if (const auto roofline = rooflineOf(detail.evaluation)) {
        parts += marked(stopped(escaped(roofline->sentence)), roofline->provenance);
        for (const std::string& check : roofline->checks) {
            parts += warning(check, theme);
        }
    }
    const std::vector<Diagnosis> findings = diagnose(detail.evaluation);
    if (!findings.empty()) {
        const Diagnosis& first = findings.front();
        const QString gain = gainText(first), lines = linesText(first);
        QString text = escaped(first.sentence);
        if (!lines.isEmpty()) {
            text += QStringLiteral(", ") + lines;
        }
        text += gain.isEmpty() ? QStringLiteral(".") : QStringLiteral("; %1.").arg(gain);
        parts += marked(text, first.provenance);
        if (findings.size() > 1) {
            parts += QStringLiteral("<a href='profile:'>%1</a>")
                         .arg(findings.size() == 2 ? tr("One more finding")
                                                   : tr("%1 more findings").arg(findings.size() - 1));
        }
    }
    return parts.join(QStringLiteral("<br>"));
}

QString diagnosisPage(const NodeDetail& detail, const Theme& theme)
{
    const Evaluation& evaluation = detail.evaluation;
    QString page;
    const auto paragraph = [&page](const QString& html) { page += QStringLiteral("<p>%1</p>").arg(html); };
    if (!evaluation.profile) {
        return {};
    }
    if (const auto roofline = rooflineOf(evaluation)) {
        paragraph(marked(stopped(escaped(roofline->sentence)), roofline->provenance));
        for (const std::string& check : roofline->checks) {
            paragraph(warning(check, theme));
        }
    }
    const std::vector<Diagnosis> findings = diagnose(evaluation);
    if (findings.empty()) {
        const auto roofline = rooflineOf(evaluation);
        paragraph(roofline && roofline->headroomPercent >= muchToGain
                      ? tr("None of the rules explains where that time goes: what was counted points to no one cause.")
                      : tr("No rule found anything worth changing in what was counted."));
    }
    for (const Diagnosis& one : findings) {
        const QString gain = gainText(one), lines = linesText(one);
        QString html = QStringLiteral("<b>%1</b>").arg(stopped(marked(escaped(one.sentence), one.provenance)));
        if (!gain.isEmpty()) {
            html += QStringLiteral(" <span style='color:%1'>%2</span>")
                        .arg(theme[Token::Passed].name(), stopped(marked(gain, one.provenance)));
        }
        html += QStringLiteral("<br>%1").arg(stopped(escaped(one.advice)));
        if (!lines.isEmpty()) {
            html += QStringLiteral("<br>%1").arg(tr("From %1.").arg(lines));
        }
        paragraph(html);
    }
    for (const CollectorRun& run : evaluation.profile->collectors) {
        if (!run.note.empty()) {
            paragraph(QStringLiteral("<span style='color:%1'>%2</span>")
                          .arg(theme[run.done ? Token::Muted : Token::Suspicious].name(), stopped(escaped(run.note))));
        }
    }
    return page;
}

} // namespace espalier
