// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/engine.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// The verbs of espalierctl: each takes its parsed options, prints, and returns the exit code.
namespace espalier::ctl {

struct DoctorVerb {
    bool roofs = false; ///< measures what the GPU reaches, some seconds
    bool json = false;
};
int doctor(const DoctorVerb& options);

/// One provider or saved model: exact URL, the provider's own error, the models it offers.
struct ProviderDoctorVerb {
    std::string provider; ///< a provider's name, or that of a saved profile
    std::string baseUrl, model, folder;
    std::vector<std::string> command;
    bool ask = false; ///< also sends one short question, which costs a few tokens
    bool json = false;
};
int providerDoctor(const ProviderDoctorVerb& options);

int tasks(bool json);

struct RunVerb {
    EngineOptions engine;
    std::string exportFolder; ///< empty: nothing is exported at the end
    bool dryRun = false;      ///< only says what models would cost
    bool json = false;
};
int run(const RunVerb& options);

struct EvalVerb {
    std::string task, file;
    std::string device = "auto";
    std::vector<std::string> cases;
    std::string incumbent; ///< FILE.cu or FILE.so:SYMBOL; empty: the task's, else the root
    bool full = false;
    bool sanitize = false;
    bool profile = false;     ///< with all counters
    bool exactCounts = false; ///< and counts by instruction
    TimingSetting setting;
    bool json = false;
};
int evaluate(const EvalVerb& options);

struct AuditVerb {
    std::string task;
    std::string device = "auto";
    bool json = false;
};
/// 0: fit, 3: a null candidate passed or the root did not, 5: a verdict is missing.
int audit(const AuditVerb& options);

struct SteerVerb {
    std::string session;
    std::string act; ///< the subcommand: pin, unpin, prune, …
    std::int64_t node = 0;
    std::string as, reason;        ///< overturn: "passed" or "rejected", and why
    std::string promptFile;        ///< ask: a file with own words, "-": standard input; empty: the prompt as assembled
    bool ideas = false;            ///< ask: for ideas, also where the node is a candidate
    std::string text;              ///< hint, ban
    int number = 0;                ///< unhint, lift-ban
    std::string predicate;         ///< ban
    std::string strategy;          ///< strategy
    std::int64_t second = 0;       ///< cross: with which node
    Budget budget;                 ///< budget: what was given
    bool unlimited = false;        ///< budget: nothing that is spent has a limit any more
    std::vector<std::string> lift; ///< budget: limits that hold no more
    std::string file, name;        ///< attach: which file, under which name; detach: the name; inject: the kernel
    std::string title;             ///< edit, add-idea, inject
    double factor = 1;             ///< boost
    std::vector<std::string> join, leave; ///< proposers
    EngineOptions models;                 ///< proposers: the models that join, and how much they are asked for
    std::vector<std::string> program;     ///< proposers: of --command, taken from the line before it is parsed
    bool json = false;
};
int steer(const SteerVerb& options);

struct WatchVerb {
    std::string session;
    std::int64_t node = 0;
    std::string file; ///< empty: node_N.cu here; written from the node where it does not exist
    int saves = 0;    ///< end after so many verdicts; 0: at Ctrl-C
    bool json = false;
};
int watch(const WatchVerb& options);

struct ReproVerb {
    std::string session;
    std::int64_t node = 0;
    std::string caseId, file;          ///< empty: the call that failed, else the first verified case; standard output
    std::optional<std::uint64_t> seed; ///< absent: the judge's own, else 1
    bool json = false;
};
int repro(const ReproVerb& options);

struct CopyVerb {
    std::string session, file;
    bool json = false;
};
int copySession(const CopyVerb& options);

struct ReportVerb {
    std::string session, folder;
    bool json = false;
};
int report(const ReportVerb& options);

struct ShowVerb {
    std::string session;
    std::int64_t node = 0;          ///< 0: none
    std::vector<std::int64_t> pair; ///< two nodes to compare, or none
    bool tree = false, source = false, prompt = false, ptx = false, sass = false, json = false;
};
int show(const ShowVerb& options);

struct CompareVerb {
    std::string first, second; ///< session files
    bool json = false;
};
int compare(const CompareVerb& options);

struct VerifyVerb {
    std::string folder; ///< that was exported to
    std::string device; ///< empty: of the kind that the evidence is of
    bool json = false;
};
/// 0: the evidence holds, 3: it does not, 5: it cannot be told here.
int verify(const VerifyVerb& options);

struct ExportVerb {
    std::string session;
    std::int64_t node = 0;
    std::string form = "cuda", folder;
    std::string name; ///< of files and C function; empty: the entry's
    bool json = false;
};
int exportNode(const ExportVerb& options);

} // namespace espalier::ctl
