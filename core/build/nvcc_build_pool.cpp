// SPDX-License-Identifier: Apache-2.0
#include "core/build/nvcc_build_pool.h"

#include "core/base/fd.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/text.h"
#include "core/build/build_cache.h"
#include "core/build/build_key.h"
#include "core/build/build_sandbox.h"
#include "core/build/compile_messages.h"
#include "core/build/compile_step.h"
#include "core/build/contract_check.h"
#include "core/build/entry_header.h"
#include "core/build/host_objects.h"
#include "core/build/host_part.h"
#include "core/build/leftovers.h"
#include "core/build/slip_advice.h"
#include "core/build/source_review.h"
#include "core/build/symbol_check.h"
#include "core/model/language_standard.h"

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace espalier {

namespace {

Evaluation ended(Outcome outcome, NotRunCause cause, std::string reason)
{
    Evaluation evaluation;
    evaluation.outcome = outcome;
    evaluation.cause = cause;
    evaluation.stage = Stage::Build;
    evaluation.reason = std::move(reason);
    return evaluation;
}

Evaluation notRun(NotRunCause cause, std::string reason)
{
    return ended(Outcome::NotRun, cause, std::move(reason));
}

const char* sourceNameOf(SourceRole role)
{
    switch (role) {
    case SourceRole::Oracle:
        return "oracle.cu";
    case SourceRole::Baseline:
        return "baseline.cu";
    case SourceRole::Incumbent:
        return "incumbent.cu";
    case SourceRole::Candidate:
        break;
    }
    return "candidate.cu";
}

/// A shell's and bubblewrap's word for a program that a signal ended. Not 255: that is nvcc's when ptxas or nvlink
/// finds an error in the code.
bool isSignal(int exitCode)
{
    return exitCode > 128 && exitCode <= 128 + SIGRTMAX;
}

/// "90a" is 9.0, "120" is 12.0; nullopt for anything that nvcc would not understand either.
std::optional<std::pair<int, int>> capabilityOf(std::string_view architecture)
{
    int number = 0;
    std::size_t digits = 0;
    while (digits < architecture.size() && digits < 3 && architecture[digits] >= '0' && architecture[digits] <= '9') {
        number = number * 10 + (architecture[digits++] - '0');
    }
    const std::string_view suffix = architecture.substr(digits);
    if (digits < 2 || !(suffix.empty() || suffix == "a" || suffix == "f")) {
        return std::nullopt;
    }
    return std::pair(number / 10, number % 10);
}

std::vector<InputFile> filesFor(const BuildJob& job)
{
    std::vector<InputFile> files = {{"entry.h", entryHeader(*job.task)}};
    if (job.role == SourceRole::Candidate) {
        for (InputFile& file : leftoverFiles(*job.task)) {
            files.push_back(std::move(file));
        }
    }
    return files;
}

std::vector<std::string> nvccArguments(const BuildJob& job)
{
    const std::string& arch = job.architecture;
    std::vector<std::string> arguments = {"-cudart",
                                          "none",
                                          "--no-compress",
                                          "-lineinfo",
                                          "-Xptxas",
                                          "-v",
                                          "-std=" + languageStandard(job.source, *job.task),
                                          "-Xcompiler",
                                          "-fPIC,-fvisibility=default",
                                          "-include",
                                          "entry.h",
                                          "-gencode",
                                          fmt::format("arch=compute_{0},code=[sm_{0},compute_{0}]", arch)};
    for (const std::string& flag : job.task->build.flags) {
        if (!flag.starts_with("-std=")) {
            arguments.push_back(flag);
        }
    }
    if (job.role == SourceRole::Candidate) {
        for (std::string& argument : leftoverArguments()) {
            arguments.push_back(std::move(argument));
        }
    }
    for (const std::string& library : job.libraries) {
        arguments.push_back("-l" + library);
    }
    return arguments;
}

/// What all threads of a pool share: found once, then only read (the keys lock themselves).
class Builder
{
public:
    explicit Builder(BuildPoolOptions options)
        : m_options(std::move(options)), m_cache(m_options.cache.empty() ? cacheFolder() / "builds" : m_options.cache)
    {
        if (m_options.toolkit && m_options.sandbox) {
            m_sandbox = probeCompilerSandbox(*m_options.toolkit);
        } else {
            m_sandbox.grade = "none: switched off";
        }
    }

    BuildResult build(const BuildJob& job, std::stop_token stop)
    {
        BuildResult result;
        result.id = job.id;
        if (auto refused = refuse(job)) {
            result.evaluation = std::move(*refused);
        } else {
            BuildCache::Entry entry = obtain(job, stop);
            if (entry.library && job.role == SourceRole::Candidate) {
                holdToLimits(job, entry);
            }
            result.evaluation = std::move(entry.evaluation);
            if (job.role == SourceRole::Candidate) { // not cached: what is looked for may change
                for (Evidence& one : reviewSource(job.source)) {
                    result.evaluation.evidence.push_back(std::move(one));
                }
            }
            result.library = std::move(entry.library);
        }
        return result;
    }

private:
    std::optional<Evaluation> refuse(const BuildJob& job) const
    {
        if (!m_options.toolkit) {
            return notRun(NotRunCause::Infrastructure, m_options.toolkit.error().message);
        }
        if (hostCompilerIdentity().empty()) {
            return notRun(NotRunCause::Infrastructure,
                          "nvcc needs g++, which was not found in /usr/bin; install the package g++");
        }
        const auto capability = capabilityOf(job.architecture);
        if (!capability) {
            return notRun(NotRunCause::Infrastructure,
                          fmt::format("\"{}\" is no GPU architecture such as 90a", printable(job.architecture, 40)));
        }
        const std::pair needed(job.task->needs.capabilityMajor, job.task->needs.capabilityMinor);
        if (*capability < needed) {
            return notRun(NotRunCause::Unsupported,
                          fmt::format("the task needs compute capability {}.{}; the device has {}.{}", needed.first,
                                      needed.second, capability->first, capability->second));
        }
        return std::nullopt;
    }

    BuildCache::Entry obtain(const BuildJob& job, std::stop_token stop)
    {
        if (const auto standard = statedStandard(job.source); !standard) {
            return {ended(Outcome::BuildFailed, NotRunCause::None,
                          fmt::format("{}, {}", sourceNameOf(job.role), standard.error().message)),
                    std::nullopt};
        }
        const std::vector<InputFile> files = filesFor(job);
        const std::vector<std::string> arguments = nvccArguments(job);
        const auto key = m_keys.keyOf(job, *m_options.toolkit, files, arguments);
        if (!key) {
            return {notRun(NotRunCause::Infrastructure, key.error().message), std::nullopt};
        }
        if (m_options.useCache) {
            if (auto found = m_cache.find(*key)) {
                found->evaluation.build->cached = true;
                found->evaluation.build->seconds = 0;
                return std::move(*found);
            }
        }
        BuildCache::Entry entry = compileNow(job, files, arguments, std::move(stop));
        if (entry.evaluation.build) {
            entry.evaluation.build->key = *key;
        }
        const Outcome outcome = entry.evaluation.outcome;
        const auto& evidence = entry.evaluation.evidence;
        const bool ofThisMachine =
            !evidence.empty() && evidence.front().check == "resources"; // other limits, another end
        const bool lasting = !ofThisMachine && (outcome == Outcome::Passed || outcome == Outcome::BuildFailed ||
                                                outcome == Outcome::Suspicious);
        if (m_options.useCache && lasting && entry.evaluation.build) {
            if (const auto stored = m_cache.store(*key, entry); !stored) {
                entry.evaluation.build->log +=
                    fmt::format("\n[espalier] the build cache was not written: {}\n", stored.error().message);
            }
        }
        return entry;
    }

    BuildCache::Entry compileNow(const BuildJob& job, const std::vector<InputFile>& files,
                                 const std::vector<std::string>& arguments, std::stop_token stop)
    {
        const double deadline = m_options.deadlineSeconds.value_or(job.task->build.deadlineSeconds);
        CompileRequest request;
        request.source = job.source;
        request.sourceName = sourceNameOf(job.role);
        request.files = files;
        request.includeRoots = job.task->build.includeRoots;
        request.arguments = arguments;
        request.sandboxed = m_sandbox.available;
        request.deadline = std::chrono::milliseconds(static_cast<std::int64_t>(std::min(deadline, 86400.0) * 1000));
        request.memoryLimit = m_options.memoryLimit;
        request.fileSizeLimit = m_options.fileSizeLimit;
        request.outputCap = m_options.outputCap;
        const std::string host = hostKey(job, files, arguments);
        request.host = host.empty() ? nullptr : m_hosts.find(host);
        request.keepHost = !host.empty() && !m_hosts.refused(host);
        auto compiled = compile(*m_options.toolkit, request, stop);
        if (compiled && !compiled->joined) {
            m_hosts.refuse(host);
            request.host = nullptr; // it may still be built whole
            request.keepHost = false;
            compiled = compile(*m_options.toolkit, request, std::move(stop));
        }
        if (!compiled) {
            return {notRun(NotRunCause::Infrastructure, compiled.error().message), std::nullopt};
        }
        if (!compiled->host.empty()) {
            m_hosts.store(host, std::exchange(compiled->host, {}));
        }
        BuildCache::Entry entry = judged(job, *compiled, deadline);
        entry.evaluation.build->deviceOnly = request.host != nullptr;
        return entry;
    }

    /// Names what the host object of a candidate depends on; empty where its device part cannot be told apart.
    std::string hostKey(const BuildJob& job, const std::vector<InputFile>& files,
                        const std::vector<std::string>& arguments)
    {
        std::optional<std::string> part;
        if (m_options.reuseHost && job.role == SourceRole::Candidate) {
            part = hostPartOf(job.source);
        }
        if (!part) {
            return {};
        }
        BuildJob host = job;
        host.source = std::move(*part);
        return m_keys.keyOf(host, *m_options.toolkit, files, arguments).value_or(std::string());
    }

    BuildCache::Entry judged(const BuildJob& job, const CompileResult& compiled, double deadline) const
    {
        BuildRecord record;
        record.architecture = "sm_" + job.architecture;
        record.toolkit = m_options.toolkit->version;
        record.seconds = compiled.seconds;
        CompilerOutput said = parseCompilerOutput(compiled.output, job.source, compiled.ptx, sourceNameOf(job.role));
        record.messages = std::move(said.messages);
        record.kernels = std::move(said.kernels);
        record.log = printable(compiled.output, m_options.outputCap);
        if (compiled.dropped > 0) {
            record.log += fmt::format("\n[espalier] {} more bytes of compiler output were dropped\n", compiled.dropped);
        }
        if (!m_sandbox.available) {
            record.log += fmt::format("\n[espalier] compiled without a sandbox ({})\n", m_sandbox.grade);
        }
        Evaluation evaluation = verdictOn(job, compiled, said.crashed, record, deadline);
        if (evaluation.outcome == Outcome::Passed) {
            readKernels(job, compiled.library, record, evaluation);
        }
        std::optional<Library> library;
        if (evaluation.outcome == Outcome::Passed) {
            auto bytes = std::make_shared<const std::string>(compiled.library);
            record.libraryHash = sha256(*bytes);
            library = Library{record.libraryHash, std::move(bytes)};
        }
        evaluation.build = std::move(record);
        return {std::move(evaluation), std::move(library)};
    }

    /// What cannot be read cannot be held to the contract: that is no pass.
    static void readKernels(const BuildJob& job, const std::string& library, BuildRecord& record,
                            Evaluation& evaluation)
    {
        const auto functions = readMachineCode(library);
        if (functions) {
            return mergeMachineCode(*functions, record);
        }
        if (job.role == SourceRole::Candidate) {
            evaluation.outcome = Outcome::Suspicious;
            evaluation.reason = functions.error().message;
            evaluation.evidence.push_back({"precision", functions.error().message});
        }
    }

    Evaluation verdictOn(const BuildJob& job, const CompileResult& compiled, bool crashed, const BuildRecord& record,
                         double deadline) const
    {
        const std::string name = sourceNameOf(job.role);
        if (compiled.cancelled) {
            return notRun(NotRunCause::Cancelled, "the build was cancelled");
        }
        if (compiled.timedOut) {
            Evaluation late = ended(
                Outcome::TimedOut, NotRunCause::None,
                fmt::format("compiling {} took longer than the deadline of {:g} s and was stopped", name, deadline));
            late.evidence = {{"deadline", late.reason}};
            return late;
        }
        if (!compiled.started) {
            const std::string said(trimmed(printable(compiled.output, 300)));
            return notRun(
                NotRunCause::Infrastructure,
                fmt::format("the compiler's sandbox did not start ({}); try again, or look at espalierctl doctor",
                            said.empty() ? compiled.status.text() : said));
        }
        if (!compiled.status.success()) {
            return failure(job, compiled, crashed, record);
        }
        SymbolVerdict symbols = checkSymbols(compiled.library, *job.task, job.role);
        Evaluation evaluation =
            ended(symbols.outcome, symbols.outcome == Outcome::NotRun ? NotRunCause::Unsupported : NotRunCause::None,
                  std::move(symbols.reason));
        evaluation.evidence = std::move(symbols.evidence);
        return evaluation;
    }

    /// The compiler's memory and file limits as its programs report them; empty when none was passed.
    std::string passedLimit(const std::string& name, const CompileResult& compiled) const
    {
        const auto said = [&](std::initializer_list<const char*> marks) {
            return std::any_of(marks.begin(), marks.end(),
                               [&](const char* mark) { return compiled.output.find(mark) != std::string::npos; });
        };
        if (said({"File size limit exceeded", "signal 25"}) || compiled.status.code == 128 + SIGXFSZ) {
            return fmt::format("compiling {} writes a file larger than {}; make the code smaller", name,
                               bytesText(m_options.fileSizeLimit));
        }
        if (said({"error: out of memory", "virtual memory exhausted", "out of memory allocating", "std::bad_alloc"})) {
            return fmt::format("compiling {} needs more memory than {}; make the code smaller", name,
                               bytesText(m_options.memoryLimit));
        }
        return {};
    }

    Evaluation failure(const BuildJob& job, const CompileResult& compiled, bool crashed,
                       const BuildRecord& record) const
    {
        const std::string name = sourceNameOf(job.role);
        if (std::string limit = passedLimit(name, compiled); !limit.empty()) {
            Evaluation evaluation = ended(Outcome::BuildFailed, NotRunCause::None, std::move(limit));
            evaluation.evidence = {{"resources", evaluation.reason}};
            return evaluation;
        }
        std::string first = firstError(record.messages);
        if (crashed || compiled.status.signal != 0 || isSignal(compiled.status.code)) {
            return notRun(NotRunCause::Infrastructure, fmt::format("the compiler died on {}: {}", name,
                                                                   first.empty() ? compiled.status.text() : first));
        }
        if (compiled.status.code == 126 || compiled.status.code == 127) {
            return notRun(NotRunCause::Infrastructure,
                          fmt::format("nvcc could not be run ({}); reinstall the CUDA toolkit {}",
                                      trimmed(printable(compiled.output, 200)), m_options.toolkit->version));
        }
        if (std::string slip = slipAdvice(record.messages, job.source, *job.task); !slip.empty()) {
            Evaluation evaluation = ended(Outcome::BuildFailed, NotRunCause::None, std::move(slip));
            evaluation.evidence = {{"not_allowed", evaluation.reason}};
            return evaluation;
        }
        if (first.empty()) {
            first = fmt::format("{}: nvcc ended with {}", name, compiled.status.text());
        }
        return ended(Outcome::BuildFailed, NotRunCause::None, std::move(first));
    }

    static void holdToLimits(const BuildJob& job, BuildCache::Entry& entry)
    {
        const auto broken = brokenContract(*job.task, *entry.evaluation.build, entry.library->bytes->size());
        if (broken) { // it was built and would run: what it breaks is the contract
            entry.evaluation.outcome = Outcome::Incorrect;
            entry.evaluation.reason = broken->sentence;
            entry.evaluation.evidence.push_back(*broken);
            entry.library.reset();
        }
    }

    BuildPoolOptions m_options;
    BuildCache m_cache;
    BuildKeys m_keys;
    HostObjects m_hosts;
    CompilerSandbox m_sandbox;
};

class NvccBuildPool : public BuildPool
{
public:
    explicit NvccBuildPool(BuildPoolOptions options)
        : m_wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), m_builder(std::move(options))
    {
    }

    void start(int workers)
    {
        for (int i = 0; i < workers; ++i) {
            m_threads.emplace_back([this](std::stop_token stop) { work(stop); });
        }
    }

    ~NvccBuildPool() override
    {
        for (std::jthread& thread : m_threads) {
            thread.request_stop();
        }
        {
            const std::lock_guard lock(m_mutex);
            for (auto& [id, source] : m_running) {
                source.request_stop();
            }
        }
        m_threads.clear(); // joins
    }

    void submit(BuildJob job) override
    {
        {
            const std::lock_guard lock(m_mutex);
            m_queue.push_back(std::move(job));
        }
        m_available.notify_one();
    }

    void cancel(RequestId id) override
    {
        const std::lock_guard lock(m_mutex);
        const auto queued =
            std::find_if(m_queue.begin(), m_queue.end(), [&](const BuildJob& job) { return job.id == id; });
        if (queued != m_queue.end()) {
            m_queue.erase(queued);
            m_done.push_back({id, notRun(NotRunCause::Cancelled, "the build was cancelled"), std::nullopt});
            announce();
            return;
        }
        if (const auto running = m_running.find(id); running != m_running.end()) {
            running->second.request_stop();
        }
    }

    int descriptor() const override { return m_wake.get(); }

    std::vector<BuildResult> receive() override
    {
        const std::lock_guard lock(m_mutex);
        std::uint64_t count = 0;
        (void)!::read(m_wake.get(), &count, sizeof count);
        return std::exchange(m_done, {});
    }

    int busy() const override
    {
        const std::lock_guard lock(m_mutex);
        return static_cast<int>(m_running.size());
    }

private:
    void announce()
    {
        const std::uint64_t one = 1;
        (void)!::write(m_wake.get(), &one, sizeof one);
    }

    void work(std::stop_token stop)
    {
        std::unique_lock lock(m_mutex);
        while (m_available.wait(lock, stop, [this] { return !m_queue.empty(); }) && !stop.stop_requested()) {
            const BuildJob job = std::move(m_queue.front());
            m_queue.pop_front();
            std::stop_source& cancel = m_running[job.id];
            lock.unlock();
            BuildResult result = buildGuarded(job, cancel.get_token());
            lock.lock();
            m_running.erase(job.id);
            m_done.push_back(std::move(result));
            announce();
        }
    }

    /// No exception may leave a thread's body; the only ones left are the standard library's (memory).
    BuildResult buildGuarded(const BuildJob& job, std::stop_token stop)
    {
        try {
            return m_builder.build(job, std::move(stop));
        } catch (const std::exception& error) {
            return {job.id,
                    notRun(NotRunCause::Infrastructure, fmt::format("the build could not be done: {}", error.what())),
                    std::nullopt};
        }
    }

    UniqueFd m_wake;
    Builder m_builder;
    mutable std::mutex m_mutex;
    std::condition_variable_any m_available;
    std::deque<BuildJob> m_queue;
    std::map<RequestId, std::stop_source> m_running;
    std::vector<BuildResult> m_done;
    std::vector<std::jthread> m_threads; // last: ends before what it uses
};

} // namespace

std::unique_ptr<BuildPool> makeNvccBuildPool(BuildPoolOptions options)
{
    int workers = options.workers;
    if (workers <= 0) {
        workers = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    }
    auto pool = std::make_unique<NvccBuildPool>(std::move(options));
    pool->start(workers);
    return pool;
}

BuildResult buildNow(const BuildJob& job, const BuildPoolOptions& options)
{
    return Builder(options).build(job, {});
}

} // namespace espalier
