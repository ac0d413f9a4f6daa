// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/examples.h"
#include "app/ctl/model_words.h"
#include "app/ctl/numbers.h"
#include "app/ctl/output.h"
#include "app/ctl/program_words.h"
#include "app/ctl/steer_options.h"
#include "app/ctl/usage.h"
#include "app/ctl/verbs.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

namespace {

using namespace espalier;

constexpr const char* exitCodes =
    "Each verb has examples of its own: espalierctl VERB --help\n"
    "Exit codes: 0 passed or finished, 2 usage, 3 rejected, 4 build failed, 5 not run, 130 interrupted.\n";

/// CLI11 fills these; an option that was not given stays empty, so that a resumed session keeps its own.
struct RunWords {
    std::string task, edition, session, device, strategy, incumbent;
    std::vector<std::string> proposers, launcher;
    ctl::ModelWords models;
    std::int64_t evaluations = -1, tokens = -1;
    double seconds = -1, usd = -1;
    std::optional<double> target, roofPercent;
    std::optional<std::int64_t> plateau;
    std::int64_t seed = -1;
    int builders = 0;
};

ctl::RunVerb runVerbOf(const RunWords& words, ctl::RunVerb verb)
{
    verb.engine.session = words.session;
    if (!words.task.empty() || !words.edition.empty()) {
        verb.engine.task = words.edition.empty() ? words.task : words.edition;
    }
    verb.engine.builders = words.builders;
    verb.engine.launcher = words.launcher;
    if (!words.device.empty()) {
        verb.engine.device = words.device;
    }
    if (!words.incumbent.empty()) {
        verb.engine.incumbent = words.incumbent;
    }
    if (!words.strategy.empty()) {
        verb.engine.strategy = words.strategy;
    }
    if (!words.proposers.empty()) {
        verb.engine.proposers = words.proposers;
    }
    if (words.seed >= 0) {
        verb.engine.seed = static_cast<std::uint64_t>(words.seed);
    }
    if (words.evaluations >= 0 || words.seconds >= 0 || words.usd >= 0 || words.tokens >= 0 || words.target ||
        words.roofPercent || words.plateau) {
        Budget budget;
        budget.evaluations = words.evaluations >= 0 ? std::optional(words.evaluations) : std::nullopt;
        budget.seconds = words.seconds >= 0 ? std::optional(words.seconds) : std::nullopt;
        budget.usd = words.usd >= 0 ? std::optional(words.usd) : std::nullopt;
        budget.tokens = words.tokens >= 0 ? std::optional(words.tokens) : std::nullopt;
        budget.target = words.target;
        budget.roofPercent = words.roofPercent;
        budget.plateau = words.plateau;
        verb.engine.budget = budget;
    }
    return verb;
}

void addRun(CLI::App& app, RunWords& words, ctl::RunVerb& verb)
{
    CLI::App* run = app.add_subcommand("run", "Search for a faster kernel, or go on with a session");
    run->add_option("task", words.task,
                    "Name of a built-in task, or a task folder; a session that exists carries its own and needs none");
    run->add_option("--task", words.edition,
                    "The same; for a session that exists another edition of its task, which keeps the tree");
    run->add_option("--session", words.session, "The session file; created when it does not exist")->required();
    run->add_option("--device", words.device, "auto (default), sim, cuda:N, or several of one kind: cuda:0,cuda:1");
    run->add_option(
           "--proposer", words.proposers,
           "Who proposes: playbook, tuner, llm, command, manual, replay; separated by commas. Default: playbook, "
           "tuner, and llm where a model is named; on a session that is there it changes who takes part")
        ->delimiter(',');
    run->add_option("--strategy", words.strategy,
                    "refine (default), beam, ucb, evolution, sample or manual; parameters after a colon: beam:width=3; "
                    "another one may take a session over");
    run->add_option("--incumbent", words.incumbent,
                    "The kernel that serves today, timed as a rival: FILE.cu, or FILE.so:SYMBOL");
    ctl::takesWhole(run->add_option("--evals", words.evaluations, "Most evaluations of the session, all runs together"),
                    0);
    ctl::takesNumber(run->add_option("--seconds", words.seconds, "Most seconds of the session, all runs together"), 0);
    ctl::takesNumber(run->add_option("--usd", words.usd, "Most money for models, all runs together"), 0);
    ctl::takesWhole(run->add_option("--tokens", words.tokens, "Most tokens of models, in and out, all runs together"),
                    0);
    CLI::Option* target =
        run->add_option("--target", words.target,
                        "Enough when the best is surely so many times as fast as the incumbent (the root without one)");
    ctl::takesNumberAbove(target, 1, "2: twice as fast");
    CLI::Option* roof = run->add_option("--roof", words.roofPercent,
                                        "Enough when the best is surely within so many per cent of its goal floor");
    ctl::takesNumber(roof, 0);
    ctl::takesWhole(run->add_option("--plateau", words.plateau, "Enough after so many evaluations without a new best"),
                    1);
    ctl::addModelOptions(*run, words.models);
    ctl::takesWhole(
        run->add_option("--seed", words.seed, "Seed of the search (default 1); secret inputs do not depend on it"), 0);
    run->add_flag_callback(
        "--profile", [&verb] { verb.engine.profiling = Profiling::Full; },
        "Profile every candidate that passes, not only what leads at the end: all counters, samples by line");
    ctl::takesWhole(run->add_option("--builders", words.builders, "Compilers at once (default: one per core)"), 0,
                    1024);
    run->add_option("--launcher", words.launcher,
                    "Put before the judge's command line: ssh host, srun --gpus=1; takes all that follows it, as "
                    "--command does")
        ->expected(1, -1);
    run->add_flag_callback(
        "--no-lessons", [&verb] { verb.engine.lessons = false; },
        "Do not ask a model at the end what the session has taught");
    run->add_flag("--dry-run", verb.dryRun, "Only estimate what models would cost");
    run->add_option("--export", verb.exportFolder, "Export the best candidate to this folder at the end");
    run->add_flag("--json", verb.json, "One JSON object on standard output");
}

void addEval(CLI::App& app, ctl::EvalVerb& verb, std::string& tier)
{
    CLI::App* eval = app.add_subcommand("eval", "Build, verify and time one kernel");
    eval->add_option("task", verb.task, "Name of a built-in task, or a task folder")->required();
    eval->add_option("file", verb.file, "The candidate: one .cu file")->required();
    eval->add_option("--device", verb.device, "auto (default), sim, or cuda:N");
    eval->add_option("--case", verb.cases, "Only these cases of the task")->delimiter(',');
    eval->add_option("--incumbent", verb.incumbent,
                     "The kernel that serves today, timed as a rival: FILE.cu, or FILE.so:SYMBOL");
    eval->add_flag("--sanitize", verb.sanitize,
                   "Look with compute-sanitizer too (CUDA devices); without its word the kernel does not pass");
    eval->add_flag("--profile", verb.profile,
                   "Afterwards read hardware counters and samples by source line (CUDA devices; the simulated device "
                   "counts anyway)");
    eval->add_flag("--exact-counts", verb.exactCounts,
                   "Like --profile, with exact counts by instruction from one call of patched kernels (CUDA devices)");
    eval->add_option("--tier", tier, "quick (default) or full timing")->check(CLI::IsMember({"quick", "full"}));
    eval->add_option("--regime", verb.setting.regime,
                     "cold (default): the L2 cache is displaced before each call; steady: calls follow each other as "
                     "the cache is")
        ->check(CLI::IsMember({"cold", "steady"}));
    eval->add_option("--mode", verb.setting.mode,
                     "offline (default): calls back to back; server: calls arrive at random, latency counts "
                     "(needs --regime steady and --rate)")
        ->check(CLI::IsMember({"offline", "server"}));
    ctl::takesNumber(eval->add_option("--rate", verb.setting.rate, "Mode server: mean calls per second, 1 to 100000"),
                     1, 100000);
    eval->add_flag("--json", verb.json, "One JSON object on standard output");
}

CLI::App* addDoctor(CLI::App& app, ctl::ProviderDoctorVerb& verb)
{
    CLI::App* doctor = app.add_subcommand("doctor", "What works on this machine, what does not, and the remedy");
    CLI::Option* provider = doctor->add_option("--provider", verb.provider,
                                               "Examine one provider instead (openai, openai-responses, anthropic, "
                                               "gemini, command, manual, replay) or saved model");
    doctor->add_option("--base-url", verb.baseUrl, "Its address; else the provider's own")->needs(provider);
    doctor->add_option("--model", verb.model, "The model's name: is it offered?")->needs(provider);
    doctor->add_option("--folder", verb.folder, "manual, replay: the folder of the exchanges")->needs(provider);
    doctor->add_option("--command", verb.command, "command: the program and its arguments, as for run")
        ->expected(1, -1);
    doctor->add_flag("--ask", verb.ask, "Also send one short question, which costs a few tokens")->needs(provider);
    doctor->add_flag("--json", verb.json, "One JSON object on standard output");
    return doctor;
}

void addAudit(CLI::App& app, ctl::AuditVerb& verb)
{
    CLI::App* audit = app.add_subcommand("audit", "Is a task fit to be searched? Null candidates must fail on it");
    audit->add_option("task", verb.task, "Name of a built-in task, or a task folder")->required();
    audit->add_option("--device", verb.device, "auto (default), sim, or cuda:N");
    audit->add_flag("--json", verb.json, "One JSON object on standard output");
}

void addWatch(CLI::App& app, ctl::WatchVerb& verb)
{
    CLI::App* watch = app.add_subcommand("watch", "Judge every save of a kernel as a child of a node");
    watch->add_option("session", verb.session, "The session file")->required();
    ctl::takesWhole(watch->add_option("node", verb.node, "The root or candidate to start from"), 1)->required();
    watch->add_option("--file", verb.file,
                      "The file that you edit; default: node_N.cu here, written where it is missing");
    ctl::takesWhole(watch->add_option("--saves", verb.saves, "End after so many verdicts; default: at Ctrl-C"), 0,
                    1'000'000);
    watch->add_flag("--json", verb.json, "One JSON object a line on standard output");
}

void addRepro(CLI::App& app, ctl::ReproVerb& verb)
{
    CLI::App* repro = app.add_subcommand(
        "repro", "One self-contained program that makes a call again and compares it with the oracle");
    repro->add_option("session", verb.session, "The session file")->required();
    ctl::takesWhole(repro->add_option("node", verb.node, "The root or candidate"), 1)->required();
    repro->add_option("--case", verb.caseId,
                      "A case of the task; default: the call that the kernel failed, else the first verified case");
    ctl::takesWhole(repro->add_option_function<std::uint64_t>(
                        "--seed", [&verb](std::uint64_t seed) { verb.seed = seed; },
                        "Of its inputs; default: those of the call that failed, else 1"),
                    0);
    repro->add_option("--to", verb.file, "The file; default: standard output");
    repro->add_flag("--json", verb.json, "One JSON object on standard output");
}

void addCopy(CLI::App& app, ctl::CopyVerb& verb)
{
    CLI::App* copy = app.add_subcommand("copy", "A whole copy of a session as one file, also while a run writes it");
    copy->add_option("session", verb.session, "The session file")->required();
    copy->add_option("to", verb.file, "The copy; nothing is overwritten")->required();
    copy->add_flag("--json", verb.json, "One JSON object on standard output");
}

void addReport(CLI::App& app, ctl::ReportVerb& verb)
{
    CLI::App* report = app.add_subcommand("report", "What a search found and how, as Markdown and HTML");
    report->add_option("session", verb.session, "The session file")->required();
    report->add_option("--to", verb.folder, "The folder, created when it is missing")->required();
    report->add_flag("--json", verb.json, "One JSON object on standard output");
}

void addShow(CLI::App& app, ctl::ShowVerb& verb)
{
    CLI::App* show = app.add_subcommand("show", "Read a session");
    show->add_option("session", verb.session, "The session file")->required();
    CLI::Option* node = ctl::takesWhole(show->add_option("--node", verb.node, "One node in full"), 1);
    CLI::Option* pair = show->add_option("--diff", verb.pair,
                                         "Two candidates: which is better and how surely, figures, and what differs in "
                                         "source (--ptx, --sass: in code)");
    ctl::takesWhole(pair, 1)->expected(2)->excludes(node);
    show->add_flag("--tree", verb.tree, "The tree, one line a node");
    show->add_flag("--source", verb.source, "The source of --node alone");
    show->add_flag("--prompt", verb.prompt, "The prompt of the last question about --node alone");
    show->add_flag("--ptx", verb.ptx, "What the compiler made of --node alone: PTX");
    show->add_flag("--sass", verb.sass, "Likewise its machine code, with the source line of each instruction");
    show->add_flag("--json", verb.json, "One JSON object on standard output");
}

void addExport(CLI::App& app, ctl::ExportVerb& verb)
{
    CLI::App* exporter = app.add_subcommand("export", "Write a passed candidate for another code base");
    exporter->add_option("session", verb.session, "The session file")->required();
    ctl::takesWhole(exporter->add_option("--node", verb.node, "The candidate"), 1)->required();
    exporter->add_option("--form", verb.form, "cuda: .cu, .h, evidence and the task");
    exporter->add_option(
        "--name", verb.name,
        "Of the files and the C function; default: the entry's, the function with digits behind it, so "
        "that two exports share no name");
    exporter->add_option("--to", verb.folder, "The folder, created when it is missing")->required();
    exporter->add_flag("--json", verb.json, "One JSON object on standard output");
}

void addCompare(CLI::App& app, ctl::CompareVerb& verb)
{
    CLI::App* compare = app.add_subcommand("compare", "Two sessions of one task: their bests, curves and cases");
    compare->add_option("first", verb.first, "A session file")->required();
    compare->add_option("second", verb.second, "The other one")->required();
    compare->add_flag("--json", verb.json, "One JSON object on standard output");
}

void addVerify(CLI::App& app, ctl::VerifyVerb& verb)
{
    CLI::App* check =
        app.add_subcommand("verify", "Does the evidence of an export still hold? Builds, judges and times it");
    check->add_option("folder", verb.folder, "The folder that was exported to")->required();
    check->add_option("--device", verb.device, "sim or cuda:N; default: as the evidence says");
    check->add_flag("--json", verb.json, "One JSON object on standard output");
}

/// Words that a program took and that are options of ours, too: where that was not meant, it is said.
void noteTaken(const CLI::App& verb, const std::string& option, const ctl::ProgramWords& program)
{
    if (!program.open || program.outright) {
        return;
    }
    for (const std::string& word : program.words) {
        const CLI::Option* own = verb.get_option_no_throw(word.substr(0, word.find('=')));
        if (own && word.starts_with("--") && own->get_group() != "Models") { // a program's model is its own
            ctl::note(fmt::format("espalierctl: {0} and what follows {1} is given to {2}. Options of espalierctl stand "
                                  "before {1}, or behind {1}=\"{2} …\".",
                                  word, option, program.words.front()));
            return;
        }
    }
}

int runVerb(int argc, char** argv)
{
    CLI::App app("Espalier: grows and steers a search for faster CUDA kernels.", "espalierctl");
    app.require_subcommand(1);
    app.footer(ctl::examplesOf() + "\n" + exitCodes);
    app.set_version_flag("--version", ESPALIER_VERSION);
    bool json = false;
    RunWords words;
    ctl::RunVerb run;
    ctl::EvalVerb eval;
    std::string tier = "quick";
    ctl::AuditVerb audit;
    ctl::ShowVerb show;
    ctl::SteerVerb steer;
    ctl::ExportVerb exporter;
    ctl::ProviderDoctorVerb provider;
    ctl::DoctorVerb doctorVerb;
    CLI::App* doctor = addDoctor(app, provider);
    doctor->add_flag("--roofs", doctorVerb.roofs,
                     "Measure what the GPU reaches (bytes and operations a second) and keep it");
    CLI::App* tasks = app.add_subcommand("tasks", "List the built-in tasks");
    tasks->add_flag("--json", json, "One JSON object on standard output");
    addRun(app, words, run);
    addEval(app, eval, tier);
    addAudit(app, audit);
    addShow(app, show);
    ctl::addSteer(app, steer);
    addExport(app, exporter);
    ctl::WatchVerb watch;
    ctl::ReproVerb repro;
    ctl::ReportVerb report;
    addWatch(app, watch);
    addRepro(app, repro);
    addReport(app, report);
    ctl::CopyVerb copy;
    addCopy(app, copy);
    ctl::CompareVerb compare;
    ctl::VerifyVerb check;
    addCompare(app, compare);
    addVerify(app, check);
    for (CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
        verb->footer(ctl::examplesOf(verb->get_name()));
    }
    std::vector<std::string> line(argv + std::min(argc, 1), argv + argc);
    std::map<std::string, ctl::ProgramWords> programs;
    const bool joins =
        std::find(line.begin(), line.end(), "proposers") != line.end(); // steer … proposers add --command
    if (!line.empty() && (line.front() == "run" || line.front() == "doctor" || (line.front() == "steer" && joins))) {
        auto split = ctl::takePrograms(line, {"--command", "--launcher"});
        if (!split) {
            return ctl::failWith(split.error(), false);
        }
        line = std::move(split->rest);
        programs = std::move(split->programs);
    }
    if (const auto found = programs.find("--command"); found != programs.end()) {
        steer.program = found->second.words;
    }
    const auto programOf = [&](const char* option, const CLI::App& verb) {
        if (const auto found = programs.find(option); found != programs.end()) {
            noteTaken(verb, option, found->second);
            return found->second.words;
        }
        return std::vector<std::string>();
    };
    try {
        std::reverse(line.begin(), line.end()); // as the parser wants them
        app.parse(std::move(line));
    } catch (const CLI::ParseError& error) {
        return ctl::answerUsage(app, error);
    }
    if (app.got_subcommand(doctor)) {
        provider.command = programOf("--command", *doctor);
        if (provider.provider.empty() && !provider.command.empty()) {
            provider.provider = "command";
        }
        doctorVerb.json = provider.json;
        return provider.provider.empty() ? ctl::doctor(doctorVerb) : ctl::providerDoctor(provider);
    }
    if (app.got_subcommand(tasks)) {
        return ctl::tasks(json);
    }
    if (app.got_subcommand("audit")) {
        return ctl::audit(audit);
    }
    if (app.got_subcommand("run")) {
        words.models.command = programOf("--command", *app.get_subcommand("run"));
        words.launcher = programOf("--launcher", *app.get_subcommand("run"));
        run = runVerbOf(words, run);
        if (const auto applied = ctl::applyModelWords(words.models, run.engine); !applied) {
            return ctl::failWith(applied.error(), run.json);
        }
        return ctl::run(run);
    }
    if (app.got_subcommand("eval")) {
        eval.full = tier == "full";
        return ctl::evaluate(eval);
    }
    if (app.got_subcommand("steer")) {
        return ctl::steer(steer);
    }
    if (app.got_subcommand("watch")) {
        return ctl::watch(watch);
    }
    if (app.got_subcommand("repro")) {
        return ctl::repro(repro);
    }
    if (app.got_subcommand("copy")) {
        return ctl::copySession(copy);
    }
    if (app.got_subcommand("report")) {
        return ctl::report(report);
    }
    if (app.got_subcommand("compare")) {
        return ctl::compare(compare);
    }
    if (app.got_subcommand("verify")) {
        return ctl::verify(check);
    }
    return app.got_subcommand("show") ? ctl::show(show) : ctl::exportNode(exporter);
}

} // namespace

int main(int argc, char** argv)
{
    try {
        return runVerb(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "espalierctl: internal error: %s\n", error.what());
        return espalier::ctl::exitNotRun;
    }
}
