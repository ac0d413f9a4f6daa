// SPDX-License-Identifier: Apache-2.0
#include "tests/cheats/corpus.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/model/task_loader.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier::corpus {

namespace {

namespace fs = std::filesystem;

Result<std::string> pasted(const std::string& text, const fs::path& templates)
{
    std::string whole;
    for (const std::string_view line : splitLines(text)) {
        constexpr std::string_view mark = "// @paste ";
        if (line.starts_with(mark)) {
            ESPALIER_TRY(const std::string part, readFile(templates / fmt::format("{}.inc", line.substr(mark.size()))));
            whole += part;
        } else {
            whole.append(line).push_back('\n');
        }
    }
    return whole;
}

std::map<std::string, std::string> headOf(const std::string& text)
{
    std::map<std::string, std::string> keys;
    for (const std::string_view line : splitLines(text)) {
        if (!line.starts_with("// ")) {
            break;
        }
        const auto colon = line.find(": ");
        if (colon != std::string_view::npos) {
            keys.emplace(line.substr(3, colon - 3), trimmed(line.substr(colon + 2)));
        }
    }
    return keys;
}

Result<Candidate> parse(const fs::path& file, const fs::path& templates)
{
    ESPALIER_TRY(const std::string text, readFile(file));
    Candidate candidate;
    candidate.name = file.stem().string();
    candidate.keys = headOf(text);
    const auto complain = [&](const std::string& what) {
        return fail(ErrorCode::InvalidInput, fmt::format("{}: {}", file.string(), what));
    };
    candidate.honest = candidate.keys.contains("honest");
    candidate.title = candidate.keys[candidate.honest ? "honest" : "cheat"];
    if (candidate.title.empty()) {
        return complain("the head names neither cheat nor honest");
    }
    candidate.task = candidate.keys["task"];
    if (candidate.task.find('/') != std::string::npos) {
        candidate.task = (file.parent_path() / candidate.task).string();
    }
    for (const bool simulated : {true, false}) {
        for (const std::string& name : alternatives(candidate.key("expect", simulated))) {
            if (!outcomeNamed(name)) {
                return complain(fmt::format("expect: {} is no outcome", name));
            }
        }
    }
    if (candidate.task.empty() || candidate.expected(true).empty() || candidate.keys["device"].empty()) {
        return complain("the head must state task, expect and device");
    }
    ESPALIER_TRY(candidate.source, pasted(text, templates));
    return candidate;
}

} // namespace

std::vector<std::string> alternatives(const std::string& text)
{
    std::vector<std::string> all;
    for (const std::string_view piece : splitOn(text, '|')) {
        if (!trimmed(piece).empty()) {
            all.push_back(std::string(trimmed(piece)));
        }
    }
    return all;
}

std::string Candidate::key(const std::string& key, bool simulated) const
{
    for (const std::string& one : {key + (simulated ? "-sim" : "-cuda"), key}) {
        if (const auto found = keys.find(one); found != keys.end()) {
            return found->second;
        }
    }
    return {};
}

bool Candidate::servesDevice(bool simulated, bool sanitize) const
{
    const auto words = splitOn(keys.at("device"), ' ');
    return std::find(words.begin(), words.end(), simulated ? "sim" : "cuda") != words.end() ||
           (!simulated && sanitize && needsSanitizer());
}

bool Candidate::needsSanitizer() const
{
    const auto words = splitOn(keys.at("device"), ' ');
    return std::find(words.begin(), words.end(), "sanitizer") != words.end();
}

std::vector<Outcome> Candidate::expected(bool simulated) const
{
    std::vector<Outcome> outcomes;
    for (const std::string& outcome : alternatives(key("expect", simulated))) {
        outcomes.push_back(*outcomeNamed(outcome));
    }
    return outcomes;
}

std::vector<std::string> Candidate::evidence(bool simulated) const
{
    return alternatives(key("evidence", simulated));
}

int Candidate::repeats() const
{
    const auto found = keys.find("repeat");
    return found == keys.end() ? 1 : std::clamp(std::atoi(found->second.c_str()), 1, 100);
}

Result<std::vector<Candidate>> loadCorpus(const fs::path& folder, const fs::path& templates)
{
    std::vector<fs::path> files;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
        if (entry.path().extension() == ".cu") {
            files.push_back(entry.path());
        }
    }
    if (error || files.empty()) {
        return fail(ErrorCode::NotFound, fmt::format("{} holds no candidates", folder.string()));
    }
    std::sort(files.begin(), files.end());
    std::vector<Candidate> corpus;
    for (const fs::path& file : files) {
        ESPALIER_TRY(Candidate candidate, parse(file, templates));
        corpus.push_back(std::move(candidate));
    }
    return corpus;
}

Result<void> exportCandidate(const Candidate& candidate, const fs::path& folder)
{
    std::string task = candidate.task;
    if (const fs::path own = candidate.task; own.has_parent_path()) {
        task = (fs::path("tasks") / own.filename()).string();
        std::error_code error;
        fs::create_directories(folder / "tasks", error);
        fs::copy(own, folder / task, fs::copy_options::recursive | fs::copy_options::overwrite_existing, error);
        if (error) {
            return fail(ErrorCode::Io, fmt::format("{} cannot be copied to {}: {}", own.string(),
                                                   (folder / task).string(), error.message()));
        }
    }
    std::string line = fmt::format("// corpus: task={}", task);
    for (const bool simulated : {true, false}) {
        if (candidate.servesDevice(simulated, true)) {
            std::string expected = candidate.key("expect", simulated);
            std::erase(expected, ' ');
            line += fmt::format(" {}={}", simulated ? "sim" : "cuda", expected);
        }
    }
    line += fmt::format(" tier={}{}{}\n", candidate.keys.contains("tier") ? candidate.keys.at("tier") : "quick",
                        candidate.keys.contains("profile") ? " profile=yes" : "",
                        candidate.needsSanitizer() ? " sanitize=yes" : "");
    std::string text = candidate.source;
    text.insert(text.find('\n') + 1, line); // below the licence
    return writeFileAtomically(folder / (candidate.name + ".cu"), text);
}

std::string Mutant::explanation(bool simulated) const
{
    for (const char* device : {simulated ? "sim" : "cuda", "all"}) {
        if (const auto found = explained.find(device); found != explained.end()) {
            return found->second;
        }
    }
    return {};
}

Result<std::vector<Mutant>> loadMutants(const fs::path& file)
{
    ESPALIER_TRY(const std::string text, readFile(file));
    ESPALIER_TRY(const Json json, parseJson(text, file.filename().string()));
    const JsonReader top(json, file.filename().string());
    ESPALIER_TRY(const JsonReader taskField, top.at("task"));
    ESPALIER_TRY(const std::string task, taskField.string());
    ESPALIER_TRY(const JsonReader list, top.at("mutants"));
    ESPALIER_TRY(const std::vector<JsonReader> items, list.items());
    std::vector<Mutant> mutants;
    for (const JsonReader& item : items) {
        std::map<std::string, std::string> fields;
        for (const char* field : {"name", "base", "find", "replace"}) {
            ESPALIER_TRY(const JsonReader value, item.at(field));
            ESPALIER_TRY(fields[field], value.string());
        }
        Mutant mutant{task, fields["name"], fields["base"], {}, {}};
        if (item.has("explained")) {
            ESPALIER_TRY(const JsonReader explained, item.at("explained"));
            ESPALIER_TRY(const auto members, explained.members());
            for (const auto& [device, why] : members) {
                ESPALIER_TRY(mutant.explained[device], why.string());
            }
        }
        ESPALIER_TRY(mutant.source, readFile(builtInTasksFolder() / task / mutant.base));
        const std::size_t at = mutant.source.find(fields["find"]);
        if (at == std::string::npos || mutant.source.find(fields["find"], at + 1) != std::string::npos) {
            return fail(ErrorCode::InvalidInput,
                        fmt::format("{}: the pattern of \"{}\" does not apply exactly once to {}; "
                                    "write it anew for the present text",
                                    file.filename().string(), mutant.name, mutant.base));
        }
        mutant.source.replace(at, fields["find"].size(), fields["replace"]);
        mutants.push_back(std::move(mutant));
    }
    return mutants;
}

} // namespace espalier::corpus
