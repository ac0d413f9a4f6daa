// SPDX-License-Identifier: Apache-2.0
#include "tests/cheats/defence_table.h"

#include "core/base/text.h"

#include <algorithm>
#include <cctype>
#include <chrono>

namespace espalier::corpus {

namespace {

/// `word` as a whole within `text`: "V2" is not in "V24".
bool hasWord(const std::string& text, const std::string& word)
{
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        const bool begins = at == 0 || std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0;
        const bool ends = end == text.size() || std::isalnum(static_cast<unsigned char>(text[end])) == 0;
        if (begins && ends) {
            return true;
        }
    }
    return false;
}

std::vector<std::string> namesOf(const TableRow& row)
{
    std::vector<std::string> names;
    for (const std::string_view name : splitOn(row.without, ',')) {
        names.emplace_back(name);
    }
    return names;
}

/// All of `some` are in `all`, and more.
bool isPartOf(const std::vector<std::string>& some, const std::vector<std::string>& all)
{
    return some.size() < all.size() &&
           std::all_of(
               some.begin(), some.end(),
               [&](const std::string& one) { return std::find(all.begin(), all.end(), one) != all.end(); });
}

void decideNeeded(std::vector<TableLine>& lines)
{
    for (TableLine& line : lines) {
        line.needed = std::any_of(line.slipped.begin(), line.slipped.end(), [&](const std::string& file) {
            return std::none_of(lines.begin(), lines.end(), [&](const TableLine& other) {
                return isPartOf(namesOf(other.row), namesOf(line.row)) && other.slipped.contains(file);
            });
        });
    }
}

} // namespace

bool concerns(const TableRow& row, const Caught& caught)
{
    const auto weakening = weakeningOf(namesOf(row));
    if (!weakening || (!weakening->ofTheBuild() && caught.evaluation.stage == Stage::Build)) {
        return false;
    }
    const auto checks = splitOn(row.checks, ' ');
    if (std::find(checks.begin(), checks.end(), caught.check) != checks.end()) {
        return true;
    }
    const auto defence = caught.candidate.keys.find("defence");
    const std::vector<std::string> words = alternatives(std::string(row.words));
    return defence != caught.candidate.keys.end() &&
           std::any_of(words.begin(), words.end(),
                       [&](const std::string& word) { return hasWord(defence->second, word); });
}

Result<std::vector<TableLine>> runTable(const std::vector<Caught>& caught, bool simulated,
                                        const std::function<Result<Bench>(const Weakening&)>& open,
                                        const std::function<void(const TableLine&)>& done)
{
    std::vector<TableLine> lines;
    for (const TableRow& row : tableRows()) {
        const auto devices = splitOn(row.devices, ' ');
        if (std::find(devices.begin(), devices.end(), simulated ? "sim" : "cuda") == devices.end()) {
            continue;
        }
        const auto begin = std::chrono::steady_clock::now();
        ESPALIER_TRY(const Weakening weakening, weakeningOf(namesOf(row)));
        TableLine line;
        line.row = row;
        std::vector<Work> works;
        std::vector<const Caught*> files;
        for (const Caught& one : caught) {
            if (!concerns(row, one)) {
                continue;
            }
            const Tier tier = one.candidate.key("tier", simulated) == "full" ? Tier::Full : Tier::Quick;
            for (int i = 0; i < one.candidate.repeats(); ++i) {
                works.push_back({one.candidate.task, one.candidate.source, tier, weakening.rules});
                files.push_back(&one);
            }
        }
        if (!works.empty()) {
            ESPALIER_TRY(Bench bench, open(weakening));
            ESPALIER_CHECK(bench.run(works, [&](std::size_t i, const Verdict& verdict) {
                const std::string& name = files[i]->candidate.name;
                line.judged.insert(name);
                if (verdict.evaluation.outcome == Outcome::Passed) {
                    line.slipped.insert(name);
                } else {
                    ++line.stoppedBy[checkOf(verdict.evaluation)];
                }
            }));
        }
        line.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        lines.push_back(std::move(line));
        done(lines.back());
    }
    decideNeeded(lines);
    return lines;
}

std::vector<std::string> idleDefences(const std::vector<TableLine>& lines)
{
    std::set<std::string> all, needed;
    for (const TableLine& line : lines) {
        for (const std::string& name : namesOf(line.row)) {
            all.insert(name);
            if (line.needed) {
                needed.insert(name);
            }
        }
    }
    std::vector<std::string> idle;
    std::set_difference(all.begin(), all.end(), needed.begin(), needed.end(), std::back_inserter(idle));
    return idle;
}

} // namespace espalier::corpus
