// SPDX-License-Identifier: Apache-2.0
#include "core/judge/judge_loop.h"

#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/judge/block_clock.h"
#include "core/judge/defences.h"

#include <charconv>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <string_view>
#include <sys/prctl.h>
#include <unistd.h>

namespace espalier::judge {

namespace {

struct Options {
    SessionSettings session;
    Deadlines deadlines;
    bool callDeadlineGiven = false;
    bool sandbox = true;
};

Result<std::chrono::milliseconds> milliseconds(std::string_view option, std::string_view text)
{
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value <= 0) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("{} needs a whole number of milliseconds, not \"{}\"", option, text));
    }
    return std::chrono::milliseconds(value);
}

Result<Options> parse(int argc, char** argv)
{
    Options options;
    for (int i = 0; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == "--no-sandbox") {
            options.sandbox = false;
            continue;
        }
        if (i + 1 >= argc) {
            return fail(ErrorCode::InvalidInput,
                        fmt::format("espalier-worker judge: unknown option {} (or its value is missing)", word));
        }
        const char* value = argv[++i];
        if (word == "--device") {
            options.session.device = value;
        } else if (word == "--runtime") {
            options.session.runtime = value;
        } else if (word == "--profile") {
            options.session.profile = value;
        } else if (word == "--call-deadline") {
            ESPALIER_TRY(options.deadlines.call, milliseconds(word, value));
            options.callDeadlineGiven = true;
        } else if (word == "--load-deadline") {
            ESPALIER_TRY(options.deadlines.load, milliseconds(word, value));
        } else {
            return fail(ErrorCode::InvalidInput, fmt::format("espalier-worker judge: unknown option {}", word));
        }
    }
    return options;
}

/// Everything of a judge that works; made before the first hello is answered, so that the hello is true.
struct Parts {
    std::unique_ptr<DeviceSession> session;
    std::unique_ptr<RunnerPool> runners;
    std::unique_ptr<BufferPool> buffers;
    std::unique_ptr<Context> context;
    std::unique_ptr<Evaluator> evaluator;
    JudgeHello hello;

    ~Parts()
    {
        evaluator.reset();
        if (runners) {
            runners->clear(); // they map the judge's buffers and talk to its device
        }
    }
};

std::string epochOf(const JudgeHello& hello)
{
    return sha256Of({"epoch 1", hello.deviceName, hello.uuid, hello.driver, hello.runtime, hello.architecture})
        .substr(0, 16);
}

Result<std::unique_ptr<Parts>> assemble(Options& options, ArtefactStore& store, Interrupts& loop)
{
    auto parts = std::make_unique<Parts>();
    ESPALIER_TRY(parts->session, openSession(options.session));
    DeviceSession& session = *parts->session;
    if (session.simulated() && !options.callDeadlineGiven) {
        options.deadlines.call =
            std::chrono::seconds(60); // instructions are counted; the clock only catches host loops
    }
    const bool sandboxed = options.sandbox && stands(Defence::Bubblewrap);
    Sandbox sandbox = sandboxed ? Sandbox::probe(session.sandboxNeeds(), options.session.worker)
                                : Sandbox::none(session.sandboxNeeds(), "switched off");
    parts->runners =
        std::make_unique<RunnerPool>(session, store, options.session.worker, std::move(sandbox), options.deadlines);
    RunnerPool& runners = *parts->runners;
    runners.onFresh = [&session](RunnerProcess& runner, Interrupts& watch) {
        return calibrate(session, runner, watch);
    };
    parts->buffers = std::make_unique<BufferPool>(session.device(),
                                                  [&runners](std::uint64_t serial) { runners.forgetBuffer(serial); });
    NoInterrupts nobody; // the engine's first line waits in the pipe until the judge is ready for it
    auto settled = runners.settle(nobody);
    if (!settled && runners.sandbox().active()) { // a driver may refuse to start as the first process of a name space
        runners.setSandbox(Sandbox::probe(session.sandboxNeeds(), options.session.worker, false));
        settled = runners.settle(nobody);
    }
    ESPALIER_CHECK(std::move(settled));

    const DeviceInfo& info = session.device().info();
    JudgeHello& hello = parts->hello;
    hello.deviceId = info.id;
    hello.deviceName = info.name;
    hello.uuid = info.uuid;
    hello.driver = info.driver;
    hello.architecture = session.architecture();
    hello.simulated = session.simulated();
    hello.sandbox = runners.sandbox().grade();
    hello.deviceBytes = info.totalBytes;
    const int version = runners.runtimeVersion();
    hello.runtime = fmt::format("{}.{}", version / 1000, version % 1000 / 10);

    parts->context.reset(new Context{session, store, runners, *parts->buffers, loop});
    // Without roofs there is no goal floor (the record then says 0), and the physical one is that of the DRAM.
    parts->evaluator =
        std::make_unique<Evaluator>(*parts->context, readFile(findRoofs()).value_or(std::string()), epochOf(hello));
    return parts;
}

/// stdout carries the protocol and nothing else: whatever a library prints goes to stderr.
UniqueFd takeStandardOutput()
{
    UniqueFd out(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10));
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    return out;
}

} // namespace

int judgeMain(int argc, char** argv, const std::string& program)
{
    auto options = parse(argc, argv);
    if (!options) {
        fmt::print(stderr, "{}\n", options.error().message);
        return 2;
    }
    options->session.worker = (executableFolder() / program).string();
    UniqueFd out = takeStandardOutput();
    UniqueFd in(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10));
    ArtefactStore store(worker::maxStoreBytes);
    JudgeLoop loop(LineChannel(std::move(in), std::move(out), worker::maxLineBytes), store);
    auto parts = assemble(*options, store, loop);
    const Result<JudgeHello> hello = parts ? Result<JudgeHello>((*parts)->hello) : std::unexpected(parts.error());
    const auto evaluate = [&](const worker::Evaluate& job, const Evaluator::Callbacks& callbacks) {
        Evaluation evaluation = (*parts)->evaluator->run(job, callbacks);
        (void)(*parts)->runners->prepareStandby(); // while the engine compiles the next one
        return evaluation;
    };
    return loop.run(hello, evaluate, [&] { return !(*parts)->evaluator->recover(); });
}

} // namespace espalier::judge
