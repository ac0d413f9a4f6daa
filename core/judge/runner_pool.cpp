// SPDX-License-Identifier: Apache-2.0
#include "core/judge/runner_pool.h"

#include "core/judge/queue_need.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>

namespace espalier::judge {

namespace {

bool serves(const LoadedRunner& runner, Role role, const std::string& library)
{
    return (runner.role == Role::Trusted) == (role == Role::Trusted) && runner.library == library &&
           runner.process->alive();
}

} // namespace

Error errorOf(const RunnerFailure& failure, const std::string& what)
{
    if (failure.loss == Loss::Cancelled) {
        return {ErrorCode::Cancelled, "cancelled"};
    }
    const std::string how =
        failure.loss == Loss::Deadline ? fmt::format("did not answer within {}", failure.text) : failure.text;
    return {ErrorCode::WorkerLost,
            failure.loss == Loss::Infrastructure ? failure.text : fmt::format("{} failed: {}", what, how)};
}

Verdict verdictOf(const RunnerFailure& failure, const std::string& during)
{
    const auto verdict = [](Outcome outcome, const char* check, std::string sentence) {
        return Verdict{outcome, NotRunCause::None, sentence, {{check, std::move(sentence)}}, false};
    };
    switch (failure.loss) {
    case Loss::Cancelled:
        return {Outcome::NotRun, NotRunCause::Cancelled, "cancelled", {}, false};
    case Loss::Infrastructure:
        return {Outcome::NotRun, NotRunCause::Infrastructure, failure.text, {}, true};
    case Loss::Deadline:
        return verdict(Outcome::TimedOut, "deadline",
                       fmt::format("did not end within {} during {}; its process was killed", failure.text, during));
    case Loss::DeviceLost:
        return verdict(Outcome::RuntimeFailed, "device",
                       fmt::format("the device reported {} during {}", failure.text, during));
    case Loss::Protocol:
        return verdict(Outcome::RuntimeFailed, "protocol",
                       fmt::format("broke the runner's protocol during {}: {}", during, failure.text));
    case Loss::Exited:
        break;
    }
    if (failure.status && failure.status->signal == SIGSYS) {
        // Which call it was does not reach its parent: the wait status holds the signal alone.
        return verdict(
            Outcome::Suspicious, "sandbox",
            fmt::format("was killed during {} for a system call that no kernel needs: those that start a process "
                        "(fork, exec, clone), look into one (ptrace, process_vm_readv) or are no 64-bit calls",
                        during));
    }
    if (failure.status && failure.status->signal == 0) {
        return verdict(Outcome::RuntimeFailed, "exit",
                       fmt::format("ended its process ({}) during {}", failure.text, during));
    }
    // SIGKILL comes from outside (a person, the kernel short of memory) at least as often as from the candidate.
    Verdict crashed = verdict(Outcome::RuntimeFailed, "crash",
                              fmt::format("its process crashed with {} during {}", failure.text, during));
    crashed.again = failure.status && failure.status->signal == SIGKILL;
    return crashed;
}

RunnerPool::RunnerPool(DeviceSession& session, ArtefactStore& store, std::string worker, Sandbox sandbox,
                       Deadlines deadlines)
    : m_session(session), m_store(store), m_worker(std::move(worker)), m_sandbox(std::move(sandbox)),
      m_deadlines(deadlines)
{
}

Result<void> RunnerPool::prepareStandby(std::size_t wanted)
{
    std::erase_if(m_standbys, [](const auto& standby) { return !standby->alive(); });
    while (m_standbys.size() < wanted) {
        ESPALIER_TRY(auto standby, RunnerProcess::start(m_session, m_worker, &m_sandbox, Queues::One));
        m_standbys.push_back(std::move(standby));
    }
    return {};
}

bool RunnerPool::isWarm(Role role, const std::string& hash) const
{
    return isWarm(role, hash, m_warm.begin());
}

bool RunnerPool::isWarm(Role role, const std::string& hash, std::list<LoadedRunner>::const_iterator from) const
{
    return std::any_of(from, m_warm.end(), [&](const LoadedRunner& warm) { return serves(warm, role, hash); });
}

Result<void> RunnerPool::settle(Interrupts& interrupts)
{
    ESPALIER_CHECK(prepareStandby());
    for (const auto& standby : m_standbys) { // all of them: none starts while another one is calibrated
        if (auto ready = standby->awaitReady(m_deadlines.start, interrupts); !ready) {
            const Error error = errorOf(ready.error(), "starting a runner");
            m_standbys.clear();
            return std::unexpected(error);
        }
    }
    RunnerProcess& next = *m_standbys.front();
    m_runtimeVersion = next.runtimeVersion();
    if (onFresh && next.emptyWall().empty()) {
        ESPALIER_CHECK(onFresh(next, interrupts));
    }
    return {};
}

Result<Queues> RunnerPool::queuesOf(const std::string& hash)
{
    const auto known = m_queues.find(hash);
    if (known != m_queues.end()) {
        return known->second;
    }
    ESPALIER_TRY(const std::string bytes, m_store.text(hash));
    const auto facts = readElf(bytes); // what cannot be read is told when it is loaded
    return m_queues[hash] = facts ? queuesFor(*facts) : Queues::Default;
}

Result<std::unique_ptr<RunnerProcess>> RunnerPool::fresh(bool trusted, const std::string& library,
                                                         Interrupts& interrupts)
{
    ESPALIER_TRY(const Queues queues, queuesOf(library));
    if (!trusted) { // one that is started here is not calibrated while a standby starts
        ESPALIER_CHECK(settle(interrupts));
    }
    if (!trusted && queues == Queues::One) {
        std::unique_ptr<RunnerProcess> runner = std::move(m_standbys.front());
        m_standbys.pop_front(); // the next job's is started when this one has ended: its start would disturb the timing
        return runner;
    }
    const Sandbox* sandbox = trusted ? nullptr : &m_sandbox;
    ESPALIER_TRY(std::unique_ptr<RunnerProcess> runner, RunnerProcess::start(m_session, m_worker, sandbox, queues));
    if (auto ready = runner->awaitReady(m_deadlines.start, interrupts); !ready) {
        return std::unexpected(errorOf(ready.error(), "starting a runner"));
    }
    if (onFresh) {
        ESPALIER_CHECK(onFresh(*runner, interrupts));
    }
    return runner;
}

Judged<void> RunnerPool::beginLoad(LoadedRunner& runner, const std::vector<std::string>& names)
{
    auto library = m_store.descriptor(runner.library);
    if (!library) {
        return std::unexpected(infrastructure(library.error()));
    }
    if (auto begun = runner.process->beginLoad(*library, names); !begun) {
        return std::unexpected(verdictOf(begun.error(), "loading of the library"));
    }
    return {};
}

Judged<void> RunnerPool::finishLoad(LoadedRunner& runner, const std::vector<std::string>& names, Interrupts& interrupts)
{
    auto found = runner.process->finishLoad(m_deadlines.load, interrupts);
    if (!found) {
        Verdict verdict = verdictOf(found.error(), "loading of the library");
        if (found.error().loss == Loss::Protocol) {
            verdict = {Outcome::RuntimeFailed,
                       NotRunCause::None,
                       fmt::format("the library cannot be loaded: {}", found.error().text),
                       {{"load", found.error().text}},
                       false};
        }
        return std::unexpected(std::move(verdict));
    }
    runner.found = *found;
    if ((runner.found & 1) == 0) {
        return rejected(
            Outcome::RuntimeFailed, "entry",
            fmt::format("the library has no function {0}; define it as extern \"C\" cudaError_t {0}(…)", names.at(0)));
    }
    return {};
}

Judged<LoadedRunner> RunnerPool::candidate(const std::string& hash, const std::vector<std::string>& names,
                                           Interrupts& interrupts)
{
    auto runner = fresh(false, hash, interrupts);
    if (!runner) {
        return std::unexpected(infrastructure(runner.error()));
    }
    LoadedRunner loaded{std::move(*runner), hash, Role::Candidate, 0};
    ESPALIER_CHECK(beginLoad(loaded, names));
    ESPALIER_CHECK(finishLoad(loaded, names, interrupts));
    return loaded;
}

Result<std::vector<Judged<LoadedRunner*>>> RunnerPool::seat(const std::vector<Seat>& seats, Interrupts& interrupts)
{
    unseat();
    m_leaving.clear(); // their memory is counted as free
    std::vector<Judged<LoadedRunner*>> seated;
    for (const Seat& wanted : seats) {
        const Sandbox* sandbox = wanted.role == Role::Trusted ? nullptr : &m_sandbox;
        ESPALIER_TRY(const Queues queues, queuesOf(wanted.library));
        ESPALIER_TRY(std::unique_ptr<RunnerProcess> process,
                     RunnerProcess::start(m_session, m_worker, sandbox, queues));
        m_seated.push_back(LoadedRunner{std::move(process), wanted.library, wanted.role, 0});
        seated.emplace_back(&m_seated.back());
    }
    for (LoadedRunner& runner : m_seated) {
        if (auto ready = runner.process->awaitReady(m_deadlines.start, interrupts); !ready) {
            return std::unexpected(errorOf(ready.error(), "starting a runner"));
        }
    }
    for (LoadedRunner& runner : m_seated) { // no other one starts meanwhile: it would stand in the figures
        if (onFresh) {
            ESPALIER_CHECK(onFresh(*runner.process, interrupts));
        }
    }
    for (std::size_t i = 0; i < seats.size(); ++i) { // side by side: a vendor's library takes a quarter of a second
        if (auto begun = beginLoad(**seated[i], seats[i].names); !begun) {
            seated[i] = std::unexpected(std::move(begun.error()));
        }
    }
    for (std::size_t i = 0; i < seats.size(); ++i) {
        if (!seated[i]) {
            continue;
        }
        if (auto loaded = finishLoad(**seated[i], seats[i].names, interrupts); !loaded) {
            seated[i] = std::unexpected(std::move(loaded.error()));
        }
    }
    return seated;
}

void RunnerPool::unseat()
{
    for (LoadedRunner& runner : m_seated) {
        runner.process->beginKill();
    }
    m_leaving.splice(m_leaving.end(), m_seated);
}

Result<LoadedRunner*> RunnerPool::warm(Role role, const std::string& hash, const std::vector<std::string>& names,
                                       const std::string& what, Interrupts& interrupts)
{
    for (auto it = m_warm.begin(); it != m_warm.end(); ++it) {
        if (serves(*it, role, hash)) {
            it->served = true;
            m_warm.splice(m_warm.begin(), m_warm, it);
            return &m_warm.front();
        }
    }
    ESPALIER_TRY(const int library, m_store.descriptor(hash));
    ESPALIER_TRY(std::unique_ptr<RunnerProcess> runner, fresh(role == Role::Trusted, hash, interrupts));
    LoadedRunner loaded{std::move(runner), hash, role, 0};
    auto found = loaded.process->load(library, names, m_deadlines.start, interrupts);
    if (!found) {
        return std::unexpected(errorOf(found.error(), fmt::format("loading {}", what)));
    }
    loaded.found = *found;
    m_warm.push_front(std::move(loaded));
    trim();
    return &m_warm.front();
}

void RunnerPool::keep(LoadedRunner runner)
{
    if (!runner.process || !runner.process->alive()) {
        return;
    }
    runner.role = Role::Rival;
    runner.served = false;
    m_warm.push_front(std::move(runner));
    if (isWarm(Role::Rival, m_warm.front().library, ++m_warm.begin())) { // it was judged before
        leave(m_warm.begin());
    }
    trim();
}

void RunnerPool::trim()
{
    constexpr std::size_t most = 8, mostUnserved = 2; // parents in use stay before candidates that may become one
    const std::size_t fewest = std::max<std::size_t>(m_expected, 3);
    const std::uint64_t each = std::max<std::uint64_t>(m_session.bytesPerRunner(), 1);
    const std::size_t affordable = static_cast<std::size_t>(m_session.device().info().totalBytes / 8 / each);
    const std::size_t limit = std::max(fewest, std::min(affordable, most));
    std::size_t unserved = 0;
    for (auto it = m_warm.begin(); it != m_warm.end();) {
        const auto runner = it++;
        if (!runner->served && ++unserved > mostUnserved) {
            leave(runner);
        }
    }
    while (m_warm.size() > limit) {
        leave(std::prev(m_warm.end()));
    }
}

void RunnerPool::leave(std::list<LoadedRunner>::iterator warm)
{
    warm->process->beginKill();
    m_leaving.splice(m_leaving.end(), m_warm, warm);
}

void RunnerPool::drop(const LoadedRunner* runner)
{
    m_warm.remove_if([&](const LoadedRunner& warm) { return &warm == runner; });
}

void RunnerPool::dropDead()
{
    const auto dead = [](const LoadedRunner& runner) { return !runner.process->alive(); };
    m_warm.remove_if(dead);
    m_leaving.remove_if(dead);
}

void RunnerPool::clear()
{
    m_warm.clear();
    m_seated.clear();
    m_leaving.clear();
    m_standbys.clear();
}

void RunnerPool::forgetBuffer(std::uint64_t serial)
{
    NoInterrupts nobody;
    for (auto* runners : {&m_warm, &m_seated}) {
        for (LoadedRunner& runner : *runners) {
            if (runner.process->alive()) {
                (void)runner.process->forget(serial, nobody);
            }
        }
    }
    if (m_candidate && m_candidate->alive()) {
        (void)m_candidate->forget(serial, nobody);
    }
    dropDead();
}

} // namespace espalier::judge
