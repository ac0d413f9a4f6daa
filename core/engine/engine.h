// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/engine/command.h"
#include "core/llm/chat.h"
#include "core/model/event.h"
#include "core/propose/llm/llm_settings.h"
#include "core/worker/evaluator.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace espalier {

struct EngineParts;

/// How to open or create a session. Empty optionals take what the session says, or the default for a new one; a value
/// that conflicts with an existing session is an InvalidInput error.
struct EngineOptions {
    std::filesystem::path session;     ///< created when it does not exist
    std::optional<std::string> task;   ///< name or folder; needed for a new session; an existing one
                                       ///< carries its own, of which this may be another edition
    std::optional<std::string> device; ///< auto (default), sim, cuda:N
    /// Default: playbook, tuner, and llm where there are models. Replaces the session's, which is an act.
    std::optional<std::vector<std::string>> proposers;
    std::optional<std::string> strategy;     ///< default "refine"; replaces the session's
    std::optional<std::string> strategyOnce; ///< for this opening only: the session keeps its own
    std::optional<std::uint64_t> seed;       ///< default 1
    std::optional<std::string> incumbent;    ///< FILE.cu or FILE.so:SYMBOL; default: the task's, else the root
    std::optional<Budget> budget;            ///< replaces the session's
    std::vector<std::string> modelNames;     ///< saved profiles, put before `models`
    std::vector<llm::ModelProfile> models;   ///< empty: the session's; else they replace them
    std::optional<LlmSettings> llm;          ///< likewise
    bool actsOnly = false;                   ///< nothing is asked of models: their keys need not be there
    std::vector<std::string> launcher;       ///< put before the judge's command line
    int builders = 0;                        ///< 0: as many as cores
    bool lessons = true;                     ///< a run's end asks a model what it has taught
    Profiling profiling = Profiling::Off;    ///< of every candidate that passes; what leads at the end always is
};

/// The search on its own thread: owns tree, store, build pool and judges. Thread: create, post and destroy from one
/// thread; `observer` is called on the engine's thread, must not block and must not throw. Ownership: the destructor
/// stops the engine (bounded, about two seconds) and joins its thread; every finished stage is in the store before its
/// event is sent. Errors: open() fails with one sentence when the session cannot be opened (no session file, newer
/// version, held by another process, read-only folder, conflicting options) or the task cannot be loaded.
class Engine
{
public:
    using Observer = std::function<void(const event::Event&)>;

    static Result<std::unique_ptr<Engine>> open(EngineOptions options, Observer observer);
    /// The same on other parts than this machine's compiler and judge: tests.
    static Result<std::unique_ptr<Engine>> open(EngineOptions options, Observer observer, EngineParts parts);
    ~Engine();
    /// Never blocks. `ticket`: other than 0 it comes back in event::Answered.
    void post(command::Command command, std::uint64_t ticket = 0);

private:
    class Impl;
    explicit Engine(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

} // namespace espalier
