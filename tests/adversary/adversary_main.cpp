// SPDX-License-Identifier: Apache-2.0
// espalier_adversary: draws wrong candidates and honest twins from the grammar, judges them and prints the rates by
// class.
#include "core/base/text.h"
#include "tests/adversary/proof.h"
#include "tests/adversary/rates.h"
#include "tests/adversary/source_writer.h"
#include "tests/cheats/bench.h"

#include "core/base/file.h"
#include "core/model/evaluation_json.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fmt/format.h>
#include <optional>
#include <set>

using namespace espalier;
using namespace espalier::adversary_test;

namespace {

constexpr const char* usage = R"(espalier_adversary [options]
  --device sim|cuda:N   default sim
  --seed N              the draw; default 1
  --count N             wrong candidates; default 24
  --twins N             honest twins; default 8
  --tier quick|full     default quick
  --write FOLDER        the sources too, as FOLDER/NNNN.cu and FOLDER/NNNN_twin.cu, judging nothing
  --only N              the N-th draw alone, with its evidence
  --then-full           then those that passed wrongly once more, in the full tier
  --root FOLDER         the checkout, for its tasks and this folder's texts
  --most-missed N       how many of those that passed are told; default 40
  --least-caught P      exit code 1 when fewer than P per cent of the wrong ones are caught or a twin is not passed
Exit code: 0; 1 as above; 2 usage; 126 when nothing could be judged.
)";

struct Options {
    std::string device = "sim", folder, root = ESPALIER_ADVERSARY_ROOT;
    bool thenFull = false;
    std::uint64_t seed = 1;
    int count = 24, twins = 8, mostMissed = 40;
    std::optional<int> only;
    double leastCaught = -1;
    Tier tier = Tier::Quick;
};

[[noreturn]] void stop(int code, const std::string& why)
{
    fmt::print(stderr, "espalier_adversary: {}\n", why);
    std::exit(code);
}

template <class T>
T number(const std::string& text)
{
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
        stop(2, fmt::format("{} is no number\n{}", text, usage));
    }
    return value;
}

Options parse(int argc, char** argv)
{
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const auto value = [&]() -> std::string {
            if (i + 1 >= argc) {
                stop(2, word + " needs a value");
            }
            return argv[++i];
        };
        if (word == "--device") {
            options.device = value();
        } else if (word == "--seed") {
            options.seed = number<std::uint64_t>(value());
        } else if (word == "--count") {
            options.count = number<int>(value());
        } else if (word == "--twins") {
            options.twins = number<int>(value());
        } else if (word == "--only") {
            options.only = number<int>(value());
        } else if (word == "--most-missed") {
            options.mostMissed = number<int>(value());
        } else if (word == "--least-caught") {
            options.leastCaught = number<double>(value());
        } else if (word == "--then-full") {
            options.thenFull = true;
        } else if (word == "--root") {
            options.root = value();
        } else if (word == "--tier") {
            options.tier = value() == "full" ? Tier::Full : Tier::Quick;
        } else if (word == "--write") {
            options.folder = value();
        } else if (word == "--help") {
            fmt::print("{}", usage);
            std::exit(0);
        } else {
            stop(2, fmt::format("unknown option {}\n{}", word, usage));
        }
    }
    return options;
}

struct Entry {
    Drawn drawn;
    Proof proof;
    std::string source;
    int number = 0;
};

std::string sourceFor(const Drawn& drawn, const std::filesystem::path& root)
{
    auto source = sourceOf(drawn, root / "tasks", root / "tests/adversary");
    if (!source) {
        stop(126, source.error().message);
    }
    return std::move(*source);
}

struct Set {
    std::vector<Entry> entries;
    int unproven = 0, drawn = 0;
};

/// Draws until `options.count` wrong ones are proven; what is not is counted. Twins are of the first ones.
Set drawAll(const Options& options, bool simulated)
{
    Set set;
    for (int n = 0; static_cast<int>(set.entries.size()) < options.count; ++n) {
        if (options.only) {
            n = *options.only;
        }
        Entry entry{draw(options.seed, static_cast<std::uint64_t>(n), simulated), {}, {}, n};
        entry.proof = prove(entry.drawn);
        ++set.drawn;
        if (!entry.proof.wrong) {
            ++set.unproven;
            if (options.only) {
                stop(126, fmt::format("draw {} is not proven wrong: {}", n, sentenceOf(entry.drawn)));
            }
            continue;
        }
        entry.source = sourceFor(entry.drawn, options.root);
        set.entries.push_back(std::move(entry));
        if (options.only) {
            break;
        }
    }
    const std::size_t wrong = set.entries.size();
    for (std::size_t i = 0; i < wrong && static_cast<int>(i) < options.twins; ++i) {
        Entry twin{twinOf(set.entries[i].drawn), {}, {}, set.entries[i].number};
        twin.source = sourceFor(twin.drawn, options.root);
        set.entries.push_back(std::move(twin));
    }
    return set;
}

void writeAll(const Options& options, const Set& set)
{
    for (const Entry& entry : set.entries) {
        const std::string name = fmt::format("{:04}{}.cu", entry.number, entry.drawn.honest ? "_twin" : "");
        if (auto written = writeFileAtomically(std::filesystem::path(options.folder) / name, entry.source); !written) {
            stop(126, written.error().message);
        }
    }
}

bool isVerdict(const Evaluation& evaluation)
{
    return evaluation.outcome != Outcome::NotRun && evaluation.outcome != Outcome::BuildFailed;
}

void tell(const Entry& entry, const Evaluation& evaluation)
{
    fmt::print("{:>6} {:<14} {}\n       {}\n", entry.number, nameOf(evaluation.outcome), sentenceOf(entry.drawn),
               entry.drawn.honest
                   ? printable(evaluation.reason, 240)
                   : fmt::format(
                         "proven at {}: {:.3g} element bounds, {:.3g} norm bounds; shows in {:.0f} % of ordinary calls",
                         entry.proof.shape, entry.proof.elementRatio, entry.proof.sliceRatio,
                         100 * entry.proof.chance));
    std::fflush(stdout);
}

/// What judging a set has brought.
struct Round {
    Rates rates;
    std::vector<Entry> missed; ///< wrong, and passed
    std::vector<double> seconds;
    int notJudged = 0, rejectedTwins = 0;

    void print()
    {
        rates.print();
        std::sort(seconds.begin(), seconds.end());
        fmt::print("\n{} not judged; a verdict takes {:.2f} s (median of {})\n", notJudged,
                   seconds.empty() ? 0.0 : seconds[seconds.size() / 2], seconds.size());
    }
};

Round judge(corpus::Bench& bench, const std::vector<Entry>& entries, Tier tier, const Options& options)
{
    std::vector<corpus::Work> works;
    for (const Entry& entry : entries) {
        works.push_back({entry.drawn.task, entry.source, tier, {}, false, false});
    }
    Round round;
    int told = 0;
    const auto done = bench.run(works, [&](std::size_t i, const corpus::Verdict& verdict) {
        const Entry& entry = entries[i];
        const Evaluation& evaluation = verdict.evaluation;
        const bool passed = evaluation.outcome == Outcome::Passed;
        if (!isVerdict(evaluation)) {
            ++round.notJudged;
            tell(entry, evaluation);
            fmt::print("       {}\n", printable(evaluation.reason, 400));
            return;
        }
        round.seconds.push_back(verdict.verdictSeconds);
        round.rates.add(entry.drawn, entry.proof.chance, !passed);
        round.rejectedTwins += entry.drawn.honest && !passed ? 1 : 0;
        if (passed && !entry.drawn.honest) {
            round.missed.push_back(entry);
        }
        if (passed != entry.drawn.honest && ++told <= options.mostMissed) {
            tell(entry, evaluation);
        }
        if (options.only) {
            fmt::print("{}\n", toJson(evaluation).dump(1));
        }
    });
    if (!done) {
        stop(126, done.error().message);
    }
    return round;
}

} // namespace

int main(int argc, char** argv)
{
    const Options options = parse(argc, argv);
    const Set set = drawAll(options, options.device == "sim");
    if (!options.folder.empty()) {
        writeAll(options, set);
        fmt::print("{} candidates written; {} of {} draws were not proven wrong\n", set.entries.size(), set.unproven,
                   set.drawn);
        return 0;
    }
    JudgeSettings settings;
    settings.launcher.worker = findWorker();
    settings.device = options.device;
    settings.lossWindow = std::chrono::seconds(0); // a lost judge is a candidate's row, not the end
    auto bench = corpus::Bench::start(settings, {});
    if (!bench) {
        stop(126, bench.error().message);
    }
    Round first = judge(*bench, set.entries, options.tier, options);
    first.print();
    fmt::print("\n{} draws, {} not proven wrong\n", set.drawn, set.unproven);
    if (options.thenFull) {
        fmt::print("\nthe {} that passed wrongly, in the full tier\n", first.missed.size());
        judge(*bench, first.missed, Tier::Full, options).print();
    }
    const bool falls =
        options.leastCaught >= 0 && (first.rates.caughtPercent() < options.leastCaught || first.rejectedTwins > 0);
    return first.seconds.empty() ? 126 : falls ? 1 : 0;
}
