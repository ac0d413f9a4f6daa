// SPDX-License-Identifier: GPL-3.0-only
#include "views/line_figures.h"

#include "views/format.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>

namespace espalier {

namespace {

QString tr(const char* source)
{
    return QCoreApplication::translate("figures", source);
}

/// A header's line says nothing about the candidate's text.
bool isOwnText(const std::string& file)
{
    return file.ends_with(".cu");
}

using Reasons = std::map<std::string, std::uint64_t>;

struct Samples {
    std::uint64_t count = 0;
    Reasons reasons;
    void add(const InstructionSamples& instruction)
    {
        count += instruction.samples;
        for (const auto& [reason, samples] : instruction.reasons) {
            reasons[reason] += samples;
        }
    }
};

QString reasonWords(const std::string& reason)
{
    return reason == "selected" ? tr("issued") : format::text(reason).replace(QLatin1Char('_'), QLatin1Char(' '));
}

std::vector<std::pair<std::string, std::uint64_t>> byWeight(const Reasons& reasons)
{
    std::vector<std::pair<std::string, std::uint64_t>> sorted(reasons.begin(), reasons.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    return sorted;
}

QString percentText(double share)
{
    return share >= 0.0995 ? QStringLiteral("%1 %").arg(100 * share, 0, 'f', 0)
           : share >= 0.001 ? QStringLiteral("%1 %").arg(100 * share, 0, 'f', 1)
                            : QStringLiteral("·");
}

QString tipOf(const Samples& samples, std::uint64_t all)
{
    QStringList lines{tr("%1 of %2 samples").arg(format::count(samples.count), format::count(all))};
    const auto sorted = byWeight(samples.reasons);
    for (std::size_t i = 0; i < std::min<std::size_t>(5, sorted.size()); ++i) {
        lines += tr("%1 %: %2").arg(format::number(100.0 * double(sorted[i].second) / double(std::max<std::uint64_t>(1, samples.count)), 2),
                                    reasonWords(sorted[i].first));
    }
    return lines.join(QLatin1Char('\n'));
}

/// What most warps waited for; issuing is no waiting.
QString mainReason(const Samples& samples)
{
    for (const auto& [reason, count] : byWeight(samples.reasons)) {
        if (reason != "selected" && reason != "not_selected") {
            return reasonWords(reason);
        }
    }
    return {};
}

/// `reasons`: with what the warps waited for; else only the hover tells it.
LineFigures figuresOf(const std::map<int, Samples>& lines, const ProfileRecord& profile, bool reasons)
{
    LineFigures figures;
    figures.modelled = profile.provenance == Provenance::Model;
    if (lines.empty()) {
        return figures;
    }
    figures.columns = {{tr("Time"), tr("Share of the program counter samples: where the warps were, waiting or issuing")}};
    if (reasons) {
        figures.columns.push_back({tr("Waits for"), tr("What most of the waiting warps waited for")});
    }
    std::uint64_t most = 1;
    for (const auto& [line, samples] : lines) {
        most = std::max(most, samples.count);
    }
    const std::uint64_t all = std::max<std::uint64_t>(1, profile.samples);
    for (const auto& [line, samples] : lines) {
        LineRow row;
        const double share = double(samples.count) / double(all);
        row.weight = share;
        row.cells = {LineCell{(figures.modelled ? QStringLiteral("≈ ") : QString()) + percentText(share),
                              double(samples.count) / double(most)}};
        constexpr double worthAWord = 0.01;
        if (const QString reason = mainReason(samples); reasons && share >= worthAWord && !reason.isEmpty()) {
            row.cells.push_back(LineCell{reason, 0});
        }
        row.tip = tipOf(samples, all);
        figures.rows.emplace(line, std::move(row));
    }
    return figures;
}

std::optional<int> ownLineOf(const std::vector<SourceLine>& chain)
{
    const auto found =
        std::find_if(chain.begin(), chain.end(), [](const SourceLine& place) { return isOwnText(place.file) && place.line > 0; });
    return found == chain.end() ? std::nullopt : std::optional(found->line);
}

LineFigures sampleFigures(const NodeDetail& detail, int lines)
{
    const auto& profile = detail.evaluation.profile;
    if (!profile) {
        return {};
    }
    std::map<int, Samples> byLine;
    for (const InstructionSamples& instruction : profile->instructions) {
        if (const auto line = ownLineOf(instruction.chain); line && *line <= lines && instruction.samples > 0) {
            byLine[*line - 1].add(instruction);
        }
    }
    return figuresOf(byLine, *profile, true);
}

/// A column of its own behind those that are there.
void addInstructions(LineFigures& figures, const CodeListings& listings, int lines)
{
    const bool machine = !listings.sass.lines.empty();
    std::map<int, int> count;
    for (const ListingLine& line : machine ? listings.sass.lines : listings.ptx.lines) {
        const auto own = line.instruction ? ownLine(line.chain) : std::nullopt;
        if (own && *own <= lines) {
            ++count[*own - 1];
        }
    }
    if (count.empty()) {
        return;
    }
    const std::size_t before = figures.columns.size();
    figures.columns.push_back({machine ? tr("SASS") : tr("PTX"), machine ? tr("Machine instructions that came from the line")
                                                                         : tr("PTX instructions that came from the line")});
    for (const auto& [line, instructions] : count) {
        LineRow& row = figures.rows[line];
        row.cells.resize(before);
        row.cells.push_back(LineCell{QString::number(instructions), 0});
    }
}

} // namespace

std::vector<int> LineFigures::hottest() const
{
    std::vector<int> lines;
    for (const auto& [line, row] : rows) {
        if (row.weight > 0) {
            lines.push_back(line);
        }
    }
    std::stable_sort(lines.begin(), lines.end(), [this](int a, int b) { return rows.at(a).weight > rows.at(b).weight; });
    return lines;
}

std::optional<int> ownLine(const std::vector<ListingPlace>& chain)
{
    const auto found =
        std::find_if(chain.begin(), chain.end(), [](const ListingPlace& place) { return isOwnText(place.file) && place.line > 0; });
    return found == chain.end() ? std::nullopt : std::optional(found->line);
}

QString chainText(const std::vector<ListingPlace>& chain)
{
    QStringList parts;
    for (const ListingPlace& place : chain) {
        parts += QStringLiteral("%1:%2").arg(format::text(place.file)).arg(place.line);
    }
    return parts.join(QStringLiteral(" ← "));
}

LineFigures sourceFigures(const NodeDetail& detail, int lines, const CodeListings* listings)
{
    LineFigures figures = sampleFigures(detail, lines);
    if (listings) {
        addInstructions(figures, *listings, lines);
    }
    return figures;
}

LineFigures sassFigures(const NodeDetail& detail, const std::vector<ListingLine>& listing)
{
    const auto& profile = detail.evaluation.profile;
    if (!profile || profile->instructions.empty()) {
        return {};
    }
    std::map<std::pair<std::string_view, std::uint64_t>, const InstructionSamples*> sampled;
    for (const InstructionSamples& instruction : profile->instructions) {
        sampled[{instruction.function, instruction.offset}] = &instruction;
    }
    std::map<int, Samples> byLine;
    for (std::size_t i = 0; i < listing.size(); ++i) {
        if (!listing[i].offset) {
            continue;
        }
        const auto found = sampled.find({listing[i].function, *listing[i].offset});
        if (found != sampled.end() && found->second->samples > 0) {
            byLine[int(i)].add(*found->second);
        }
    }
    return figuresOf(byLine, *profile, false);
}

} // namespace espalier
