// SPDX-License-Identifier: Apache-2.0
// espalier_corpus: judges the cheats, the honest look-alikes or the contract mutants and prints a table.
#include "tests/cheats/bench.h"
#include "tests/cheats/corpus.h"
#include "tests/cheats/defence_table.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/model/evaluation_json.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace espalier;
using namespace espalier::corpus;

namespace {

constexpr const char* usage = R"(espalier_corpus [options] [NAME…]     judges the files whose names start so; none: all
  --device sim|cuda:N   default sim
  --mutants             the contract mutants instead; NAME is a task or a part of a mutant's name
  --fast                only the handful with "fast: yes"
  --slow                also those that cost a deadline
  --sanitize            also those that only compute-sanitizer finds (a GPU where it is installed)
  --export FOLDER       judges nothing: writes every file, whole, as `espalierctl eval TASK FILE` takes it; its second line
                        names the task and the verdict by device
  --without A,B         these defences taken away: what do the others make of it (core/judge/defences.h, and of the
                        build imports, exports, sections, compiler-sandbox)
  --table               then the second table: for every defence which cheats slip through without it
  --tier quick|full     for all, instead of what each file says
  --profile             with the profile stage, whatever the file says
  --repeat N            judge everything N times; verdicts that differ are misses
  --json                one JSON object instead of tables
  --root FOLDER         where cheats/, honest/ and mutants/ are
  --call-deadline MS    of a candidate's call in the judge
Exit code: the number of misses, and with --table of defences that nothing needs (at most 125); 126 when the corpus could not be run.
)";

struct Options {
    std::string device = "sim";
    std::string root = ESPALIER_CORPUS_ROOT;
    std::vector<std::string> names;
    std::optional<Tier> tier;
    std::string callDeadline;
    std::string exportFolder;
    int repeat = 1;
    bool mutants = false, profile = false, sanitize = false, fast = false, slow = false, table = false, json = false;
    Weakening weakening;
};

/// One line of a table.
struct Row {
    std::string kind, name, title, task, expected, defence;
    Verdict verdict;
    std::string
        state; ///< OK, MISSED, "wrong reason", "not run", "differs"; mutants: killed, survived, explained, stillborn
    std::string note;
    bool miss() const { return state != "OK" && state != "killed" && state != "explained"; }
};

[[noreturn]] void stop(const std::string& why)
{
    fmt::print(stderr, "espalier_corpus: {}\n", why);
    std::exit(126);
}

Options parse(int argc, char** argv)
{
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const auto value = [&]() -> std::string {
            if (i + 1 >= argc) {
                stop(word + " needs a value");
            }
            return argv[++i];
        };
        if (word == "--device") {
            options.device = value();
        } else if (word == "--root") {
            options.root = value();
        } else if (word == "--repeat") {
            options.repeat = std::max(1, std::atoi(value().c_str()));
        } else if (word == "--call-deadline") {
            options.callDeadline = value();
        } else if (word == "--tier") {
            options.tier = value() == "full" ? Tier::Full : Tier::Quick;
        } else if (word == "--without") {
            std::vector<std::string> names;
            const std::string list = value();
            for (const std::string_view name : splitOn(list, ',')) {
                names.emplace_back(name);
            }
            auto weakening = weakeningOf(names);
            if (!weakening) {
                stop("--without: " + weakening.error().message);
            }
            options.weakening = std::move(*weakening);
        } else if (word == "--table") {
            options.table = true;
        } else if (word == "--mutants") {
            options.mutants = true;
        } else if (word == "--profile") {
            options.profile = true;
        } else if (word == "--fast") {
            options.fast = true;
        } else if (word == "--slow") {
            options.slow = true;
        } else if (word == "--sanitize") {
            options.sanitize = true;
        } else if (word == "--export") {
            options.exportFolder = value();
        } else if (word == "--json") {
            options.json = true;
        } else if (word == "--help") {
            fmt::print("{}", usage);
            std::exit(0);
        } else if (word.starts_with("-")) {
            stop(fmt::format("unknown option {}\n{}", word, usage));
        } else {
            options.names.push_back(word);
        }
    }
    return options;
}

std::string lower(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

/// Everything that a person would read of a verdict.
std::string wordsOf(const Evaluation& evaluation)
{
    std::string words = evaluation.reason;
    for (const Evidence& evidence : evaluation.evidence) {
        words += "\n" + evidence.sentence;
    }
    if (evaluation.build) {
        for (const CompileMessage& message : evaluation.build->messages) {
            words += "\n" + message.text;
        }
        words += "\n" + evaluation.build->log;
    }
    return lower(words);
}

std::string stateOf(const Candidate& candidate, const Evaluation& evaluation, bool simulated)
{
    const auto expected = candidate.expected(simulated);
    if (std::find(expected.begin(), expected.end(), evaluation.outcome) == expected.end()) {
        return evaluation.outcome == Outcome::NotRun ? "not run" : "MISSED";
    }
    const auto wanted = candidate.evidence(simulated);
    const std::string words = wordsOf(evaluation);
    const bool found = wanted.empty() || std::any_of(wanted.begin(), wanted.end(), [&](const std::string& word) {
                           return words.find(lower(word)) != std::string::npos;
                       });
    return found ? "OK" : "wrong reason";
}

bool named(const Options& options, const std::string& name)
{
    return options.names.empty() ||
           std::any_of(options.names.begin(), options.names.end(),
                       [&](const std::string& one) { return name.find(one) != std::string::npos; });
}

void print(const Row& row)
{
    const Evaluation& e = row.verdict.evaluation;
    fmt::print("{:<34} {:<14} {:<10} {:>7.0f} {:>8.0f}  {:<12} {}\n", row.name.substr(0, 34), nameOf(e.outcome),
               checkOf(e), row.verdict.verdictSeconds * 1e3,
               (row.verdict.verdictSeconds + row.verdict.buildSeconds) * 1e3, row.state,
               e.outcome == Outcome::Passed ? std::string() : printable(e.reason, 240));
    if (!row.note.empty()) {
        fmt::print("{:<34} {}\n", "", row.note);
    }
    std::fflush(stdout);
}

void printHead(const JudgeHello& hello)
{
    fmt::print("{} ({}), sandbox: {}\n", hello.deviceName, hello.deviceId, hello.sandbox);
    fmt::print("{:<34} {:<14} {:<10} {:>7} {:>8}  {:<12} {}\n", "candidate", "outcome", "check", "ms", "+build",
               "state", "reason");
}

Json jsonOf(const Row& row)
{
    Json json = {{"kind", row.kind},
                 {"name", row.name},
                 {"title", row.title},
                 {"task", row.task},
                 {"expected", row.expected},
                 {"defence", row.defence},
                 {"state", row.state},
                 {"note", row.note},
                 {"check", checkOf(row.verdict.evaluation)},
                 {"verdict_ms", row.verdict.verdictSeconds * 1e3},
                 {"build_ms", row.verdict.buildSeconds * 1e3},
                 {"outcome", nameOf(row.verdict.evaluation.outcome)},
                 {"reason", printable(row.verdict.evaluation.reason, 2000)},
                 {"evidence", Json::array()}};
    for (const Evidence& evidence : row.verdict.evaluation.evidence) {
        json["evidence"].push_back(toJson(evidence));
    }
    return json;
}

/// The rows and works of a run, not judged yet; `state` tells what to make of a verdict.
struct Plan {
    std::vector<Row> rows;
    std::vector<Work> works;
    std::vector<Candidate> candidates; ///< by row; empty for mutants
    std::vector<Mutant> mutants;
    std::vector<std::string> untried; ///< names, because there is no sandbox
};

void planFolder(const Options& options, const std::string& folder, const JudgeHello& hello, Plan& plan)
{
    const bool simulated = hello.simulated;
    auto corpus = loadCorpus(options.root + "/" + folder, options.root + "/cheats/templates");
    if (!corpus) {
        stop(corpus.error().message);
    }
    for (Candidate& candidate : *corpus) {
        const bool asked = !options.names.empty();
        const bool wanted = candidate.servesDevice(simulated, options.sanitize) && named(options, candidate.name) &&
                            (!options.fast || candidate.key("fast", simulated) == "yes") &&
                            (options.slow || asked || candidate.key("slow", simulated) != "yes");
        if (!wanted) {
            continue;
        }
        if (candidate.key("sandbox", simulated) == "needed" && hello.sandbox.starts_with("none")) {
            plan.untried.push_back(candidate.name);
            continue;
        }
        const Tier tier = options.tier.value_or(candidate.key("tier", simulated) == "full" ? Tier::Full : Tier::Quick);
        for (int i = 0; i < candidate.repeats() * options.repeat; ++i) {
            Row row;
            row.kind = folder;
            row.name = candidate.name;
            row.title = candidate.title;
            row.task = candidate.task;
            row.expected = candidate.key("expect", simulated);
            row.defence = candidate.key("defence", simulated);
            plan.rows.push_back(std::move(row));
            const bool profile = options.profile || candidate.key("profile", simulated) == "yes";
            plan.works.push_back({candidate.task, candidate.source, tier, options.weakening.rules, profile,
                                  options.sanitize && candidate.needsSanitizer()});
            plan.candidates.push_back(candidate);
        }
    }
}

void planMutants(const Options& options, Plan& plan)
{
    for (const char* task : {"softmax_f32", "layernorm_f32", "matmul_f32", "conv2d_f32", "conv2d_relu_maxpool_f32"}) {
        auto mutants = loadMutants(options.root + "/mutants/" + task + ".json");
        if (!mutants) {
            stop(mutants.error().message);
        }
        for (Mutant& mutant : *mutants) {
            if (!named(options, mutant.task + ": " + mutant.name)) {
                continue;
            }
            for (int i = 0; i < options.repeat; ++i) {
                Row row;
                row.kind = "mutant";
                row.name = mutant.name;
                row.title = mutant.name;
                row.task = mutant.task;
                plan.rows.push_back(std::move(row));
                plan.works.push_back({mutant.task, mutant.source, options.tier.value_or(Tier::Quick), {}});
                plan.mutants.push_back(mutant);
            }
        }
    }
}

/// Fills in state and note of row `i` from its verdict.
void settle(Plan& plan, std::size_t i, bool simulated)
{
    Row& row = plan.rows[i];
    const Evaluation& evaluation = row.verdict.evaluation;
    if (plan.mutants.empty()) {
        row.state = stateOf(plan.candidates[i], evaluation, simulated);
        return;
    }
    switch (evaluation.outcome) {
    case Outcome::Passed:
        row.note = plan.mutants[i].explanation(simulated);
        row.state = row.note.empty() ? "SURVIVED" : "explained";
        break;
    case Outcome::BuildFailed:
        row.state = "stillborn";
        break;
    case Outcome::NotRun:
        row.state = "not run";
        break;
    default:
        row.state = "killed";
    }
}

/// The same candidate judged several times must end the same way.
void compareRepeats(Plan& plan)
{
    for (std::size_t i = 1; i < plan.rows.size(); ++i) {
        Row& row = plan.rows[i];
        const Row& before = plan.rows[i - 1];
        if (row.name == before.name && row.task == before.task && !row.miss() && !before.miss() &&
            row.verdict.evaluation.outcome != before.verdict.evaluation.outcome) {
            row.state = "differs";
        }
    }
}

Result<Bench> open(const Options& options, const Weakening& weakening)
{
    JudgeSettings settings;
    settings.launcher.worker = findWorker();
    settings.device = options.device;
    settings.lossWindow = std::chrono::seconds(0); // a lost judge is a row of the table, not the end
    settings.launcher.judgeOptions = weakening.judgeOptions();
    if (!settings.launcher.judgeOptions.empty()) {
        settings.launcher.worker = (executableFolder() / "espalier-corpus-worker").string();
    }
    if (!options.callDeadline.empty()) {
        settings.launcher.judgeOptions.insert(settings.launcher.judgeOptions.end(),
                                              {"--call-deadline", options.callDeadline});
    }
    BuildPoolOptions build;
    build.sandbox = weakening.compilerSandbox;
    build.useCache = weakening.compilerSandbox; // what was built within one says nothing of a build without
    return Bench::start(settings, build);
}

void print(const TableLine& line)
{
    fmt::print("{:<72} {:>6} {:>7}  {}", line.row.without, line.judged.size(), line.slipped.size(),
               fmt::join(line.slipped, " "));
    if (!line.stoppedBy.empty()) {
        fmt::print("{}(still stopped:", line.slipped.empty() ? "" : "  ");
        for (const auto& [check, count] : line.stoppedBy) {
            fmt::print(" {} {}", count, check);
        }
        fmt::print(")");
    }
    fmt::print("\n");
    std::fflush(stdout);
}

Json jsonOf(const TableLine& line)
{
    return {{"without", std::string(line.row.without)},
            {"judged", line.judged},
            {"slipped", line.slipped},
            {"stopped_by", line.stoppedBy},
            {"needed", line.needed},
            {"seconds", line.seconds}};
}

/// The second table; how many defences nothing in the corpus needs.
int secondTable(const Options& options, const JudgeHello& hello, const Plan& plan, Json& json)
{
    std::vector<Caught> caught;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < plan.rows.size(); ++i) {
        const Evaluation& evaluation = plan.rows[i].verdict.evaluation;
        const bool cheat = !plan.candidates[i].honest && evaluation.outcome != Outcome::Passed;
        if (cheat && seen.insert(plan.rows[i].name).second) {
            caught.push_back({plan.candidates[i], evaluation, checkOf(evaluation)});
        }
    }
    if (!options.json) {
        fmt::print("\n{:<72} {:>6} {:>7}  {}\n", "without", "judged", "slipped", "slipped through");
    }
    json["defences"] = Json::array();
    const auto lines = runTable(
        caught, hello.simulated, [&](const Weakening& weakening) { return open(options, weakening); },
        [&](const TableLine& line) {
            if (!options.json) {
                print(line);
            }
        });
    if (!lines) {
        stop(lines.error().message);
    }
    for (const TableLine& line : *lines) {
        json["defences"].push_back(jsonOf(line));
    }
    const std::vector<std::string> idle = idleDefences(*lines);
    json["idle"] = idle;
    if (!options.json && !idle.empty()) {
        fmt::print("nothing in the corpus needs on this device: {}\n", fmt::join(idle, " "));
    }
    return static_cast<int>(idle.size());
}

/// Counts, and the misses.
int summary(const Options& options, const JudgeHello& hello, const Plan& plan, double seconds, Json& json)
{
    const auto missed = std::count_if(plan.rows.begin(), plan.rows.end(), [](const Row& row) { return row.miss(); });
    std::map<std::string, int> states;
    for (const Row& row : plan.rows) {
        ++states[row.state];
    }
    json = {{"device", hello.deviceId},
            {"device_name", hello.deviceName},
            {"sandbox", hello.sandbox},
            {"driver", hello.driver},
            {"seconds", seconds},
            {"judged", plan.rows.size()},
            {"without", options.weakening.without},
            {"misses", missed},
            {"states", states},
            {"untried", plan.untried},
            {"rows", Json::array()}};
    for (const Row& row : plan.rows) {
        json["rows"].push_back(jsonOf(row));
    }
    if (!options.json) {
        fmt::print("\n{} judged in {:.1f} s:", plan.rows.size(), seconds);
        for (const auto& [state, count] : states) {
            fmt::print(" {} {}", count, state);
        }
        fmt::print("\n");
        if (!plan.untried.empty()) {
            fmt::print("not tried, because there is no sandbox here ({}): {}\n", hello.sandbox,
                       fmt::join(plan.untried, " "));
        }
    }
    return static_cast<int>(missed);
}

int exportAll(const Options& options)
{
    std::error_code error;
    std::filesystem::create_directories(options.exportFolder, error);
    int files = 0;
    for (const char* folder : {"cheats", "honest"}) {
        const auto corpus = loadCorpus(options.root + "/" + folder, options.root + "/cheats/templates");
        if (!corpus) {
            stop(corpus.error().message);
        }
        for (const Candidate& candidate : *corpus) {
            if (!named(options, candidate.name)) {
                continue;
            }
            if (const auto written = exportCandidate(candidate, options.exportFolder); !written) {
                stop(written.error().message);
            }
            ++files;
        }
    }
    fmt::print("{} files in {}\n", files, options.exportFolder);
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    const Options options = parse(argc, argv);
    if (!options.exportFolder.empty()) {
        return exportAll(options);
    }
    auto bench = open(options, options.weakening);
    if (!bench) {
        stop(bench.error().message);
    }
    const JudgeHello hello = bench->hello();
    Plan plan;
    if (options.mutants) {
        planMutants(options, plan);
    } else {
        planFolder(options, "cheats", hello, plan);
        planFolder(options, "honest", hello, plan);
    }
    if (plan.rows.empty()) {
        stop("no candidate fits these words and this device");
    }
    if (!options.json) {
        printHead(hello);
    }
    const auto begin = std::chrono::steady_clock::now();
    const auto done = [&](std::size_t i, const Verdict& verdict) {
        plan.rows[i].verdict = verdict;
        settle(plan, i, hello.simulated);
        if (!options.json) {
            print(plan.rows[i]);
        }
    };
    if (const auto ran = bench->run(plan.works, done); !ran) {
        stop(ran.error().message);
    }
    compareRepeats(plan);
    Json json;
    int misses = summary(options, hello, plan,
                         std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), json);
    if (options.table && !options.mutants) {
        misses += secondTable(options, hello, plan, json);
    }
    if (options.json) {
        fmt::print("{}\n", json.dump(1, ' ', false, Json::error_handler_t::replace));
    }
    return std::min(misses, 125);
}
