// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/engine.h"

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
    bool profile = false; ///< with all counters
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
    std::string act; ///< overturn, ask, hint, unhint, attach, detach
    std::int64_t node = 0;
    std::string as, reason; ///< overturn: "passed" or "rejected", and why
    std::string promptFile; ///< ask: a file with own words, "-": standard input; empty: the prompt as assembled
    bool ideas = false;     ///< ask: for ideas, also where the node is a candidate
    std::string text;       ///< hint
    int number = 0;         ///< unhint
    std::string file, name; ///< attach: which file, under which name; detach: the name
    bool json = false;
};
int steer(const SteerVerb& options);

struct ShowVerb {
    std::string session;
    std::int64_t node = 0; ///< 0: none
    bool tree = false, source = false, prompt = false, json = false;
};
int show(const ShowVerb& options);

struct ExportVerb {
    std::string session;
    std::int64_t node = 0;
    std::string form = "cuda", folder;
    bool json = false;
};
int exportNode(const ExportVerb& options);

} // namespace espalier::ctl
