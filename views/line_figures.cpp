// SPDX-License-Identifier: GPL-3.0-only
#include "views/line_figures.h"

#include "views/format.h"
#include "views/metric_rows.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <cmath>

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

/// What was sampled on and counted of one line.
struct Samples {
    std::uint64_t count = 0;
    Reasons reasons;
    double executed = 0, threads = 0;            ///< warp instructions; threads of them that were active
    double requests = 0, sectors = 0, ideal = 0; ///< warp-wide accesses of global memory
    double passes = 0, conflicts = 0;            ///< over the banks of shared memory
    void add(const InstructionSamples& instruction)
    {
        count += instruction.samples;
        for (const auto& [reason, samples] : instruction.reasons) {
            reasons[reason] += samples;
        }
        const auto counted = [&](const char* name) {
            const auto found = instruction.counts.find(name);
            return found == instruction.counts.end() ? 0.0 : double(found->second);
        };
        const double here = counted("inst_executed"), touched = counted("sectors_mem_global");
        executed += here;
        threads += counted("thread_inst_executed_pred_on");
        requests += touched > 0 ? here : 0;
        sectors += touched;
        ideal += counted("sectors_mem_global_ideal");
        passes += counted("l1tex_data_pipe_lsu_wavefronts_mem_shared");
        conflicts += counted("l1tex_data_bank_conflicts_pipe_lsu_mem_shared");
    }
};

/// A column of exact counts: its words, the figure of one line (negative: it has none), and how bad that is, 0 to 1.
struct CountColumn {
    const char *title, *tip;
    double (*figure)(const Samples&);
    double (*heat)(const Samples&);
};
constexpr double warpThreads = 32;
constexpr CountColumn countColumns[] = {
    {QT_TRANSLATE_NOOP("figures", "Instr."), QT_TRANSLATE_NOOP("figures", "Warp instructions executed in one call"),
     [](const Samples& s) { return s.executed > 0 ? s.executed : -1; }, [](const Samples&) { return 0.0; }},
    {QT_TRANSLATE_NOOP("figures", "Sect./req."),
     QT_TRANSLATE_NOOP("figures",
                       "32-byte sectors that one warp-wide access of global memory touches; warm where fewer would do"),
     [](const Samples& s) { return s.requests > 0 ? s.sectors / s.requests : -1; },
     [](const Samples& s) { return s.sectors > 0 && s.ideal > 0 ? std::max(0.0, 1 - s.ideal / s.sectors) : 0.0; }},
    {QT_TRANSLATE_NOOP("figures", "Conflicts"),
     QT_TRANSLATE_NOOP("figures", "Extra passes over the banks of shared memory; warm by their share of all passes"),
     [](const Samples& s) { return s.passes > 0 ? s.conflicts : -1; },
     [](const Samples& s) { return s.passes > 0 ? std::min(1.0, s.conflicts / s.passes) : 0.0; }},
    {QT_TRANSLATE_NOOP("figures", "Threads"),
     QT_TRANSLATE_NOOP(
         "figures", "Active threads per warp instruction, of 32; warm where branches diverge or warps are part-filled"),
     [](const Samples& s) { return s.executed > 0 ? s.threads / s.executed : -1; },
     [](const Samples& s) {
         return s.executed > 0 ? std::clamp(1 - s.threads / s.executed / warpThreads, 0.0, 1.0) : 0.0;
     }},
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
    return share >= 0.0995  ? QStringLiteral("%1 %").arg(100 * share, 0, 'f', 0)
           : share >= 0.001 ? QStringLiteral("%1 %").arg(100 * share, 0, 'f', 1)
                            : QStringLiteral("·");
}

QString tipOf(const Samples& samples, std::uint64_t all)
{
    QStringList lines{tr("%1 of %2 samples").arg(format::count(samples.count), format::count(all))};
    const auto sorted = byWeight(samples.reasons);
    for (std::size_t i = 0; i < std::min<std::size_t>(5, sorted.size()); ++i) {
        lines += tr("%1 %: %2")
                     .arg(format::number(
                              100.0 * double(sorted[i].second) / double(std::max<std::uint64_t>(1, samples.count)), 2),
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

/// The columns of counts that any line has something in.
void addCounts(LineFigures& figures, const std::map<int, Samples>& lines)
{
    for (const CountColumn& column : countColumns) {
        const bool any =
            std::any_of(lines.begin(), lines.end(), [&](const auto& line) { return column.figure(line.second) > 0; });
        if (!any) {
            continue;
        }
        const std::size_t before = figures.columns.size();
        figures.columns.push_back({tr(column.title), tr(column.tip)});
        for (const auto& [line, samples] : lines) {
            if (const double value = column.figure(samples); value >= 0) {
                LineRow& row = figures.rows[line];
                row.cells.resize(before);
                row.cells.push_back(LineCell{(figures.modelled ? QStringLiteral("≈ ") : QString()) +
                                                 metricFigure(std::round(10 * value) / 10, {}),
                                             column.heat(samples)});
            }
        }
    }
}

/// `reasons`: with what the warps waited for, and with exact counts; else only the hover tells it.
LineFigures figuresOf(const std::map<int, Samples>& lines, const ProfileRecord& profile, bool reasons)
{
    LineFigures figures;
    figures.modelled = profile.provenance == Provenance::Model;
    if (lines.empty()) {
        return figures;
    }
    figures.columns = {
        {tr("Of all samples"), tr("Share of the program counter samples: where the warps were, waiting or issuing")}};
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
    if (reasons) {
        addCounts(figures, lines);
    }
    return figures;
}

std::optional<int> ownLineOf(const std::vector<SourceLine>& chain)
{
    const auto found = std::find_if(chain.begin(), chain.end(),
                                    [](const SourceLine& place) { return isOwnText(place.file) && place.line > 0; });
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
        if (const auto line = ownLineOf(instruction.chain);
            line && *line <= lines && (instruction.samples > 0 || !instruction.counts.empty())) {
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
    figures.columns.push_back(
        {machine ? tr("SASS") : tr("PTX"), machine ? tr("Machine instructions that came from the line")
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
    std::stable_sort(lines.begin(), lines.end(),
                     [this](int a, int b) { return rows.at(a).weight > rows.at(b).weight; });
    return lines;
}

std::optional<int> ownLine(const std::vector<ListingPlace>& chain)
{
    const auto found = std::find_if(chain.begin(), chain.end(),
                                    [](const ListingPlace& place) { return isOwnText(place.file) && place.line > 0; });
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
