// SPDX-License-Identifier: Apache-2.0
#include "tests/simgpu/forked_runner.h"

#include "core/simgpu/sim_runner_device.h"

#include <csignal>
#include <cstdio>
#include <dlfcn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace espalier::sim::test {

ForkedRunner::ForkedRunner(UniqueFd client, const std::string& library,
                           std::vector<std::pair<BufferGrant, std::size_t>> grants, CallEntry call)
{
    auto ends = MessageSocket::pair();
    m_pid = ::fork();
    if (m_pid == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::signal(SIGSEGV, SIG_DFL); // a sanitizer's handler would turn the signal into an exit code
        ends->first.release().reset();
        runChild(std::move(client), library, grants, call, ends->second);
        std::_Exit(0);
    }
    m_child.emplace(std::move(ends->first));
}

ForkedRunner::~ForkedRunner()
{
    if (m_pid > 0) {
        ::kill(m_pid, SIGKILL);
        ::waitpid(m_pid, nullptr, 0);
    }
}

void ForkedRunner::runChild(UniqueFd client, const std::string& library,
                            const std::vector<std::pair<BufferGrant, std::size_t>>& grants, const CallEntry& call,
                            MessageSocket& parent)
{
    auto device = openSimRunnerDevice(std::move(client), SIMRT_PATH);
    if (!device) {
        std::fprintf(stderr, "runner: %s\n", device.error().message.c_str());
        return;
    }
    RunnerView view = {**device, nullptr, {}};
    for (const auto& [grant, offset] : grants) {
        auto address = (*device)->map(grant, UniqueFd(), offset);
        if (!address) {
            std::fprintf(stderr, "runner: %s\n", address.error().message.c_str());
            return;
        }
        view.addresses.push_back(*address);
    }
    view.library = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!view.library) {
        std::fprintf(stderr, "runner: %s\n", ::dlerror());
        return;
    }
    if (!parent.send("ready")) {
        return;
    }
    for (;;) {
        auto order = parent.receive();
        if (!order) {
            return;
        }
        const auto space = order->bytes.find(' ');
        const std::size_t count = std::stoul(order->bytes.substr(0, space));
        void* entry = ::dlsym(view.library, order->bytes.substr(space + 1).c_str());
        auto clock =
            (*device)->runBlock({count, true, [&](std::size_t) { return entry ? call(view, entry) : -1; }, {}});
        if (!clock) {
            std::fprintf(stderr, "runner: %s\n", clock.error().message.c_str());
            return;
        }
        if (!parent.send(std::to_string(clock->status))) {
            return;
        }
    }
}

bool ForkedRunner::ready()
{
    return m_child->receive(std::chrono::seconds(20)).has_value();
}

std::optional<int> ForkedRunner::block(const std::string& entry, std::size_t count)
{
    if (!m_child->send(std::to_string(count) + " " + entry)) {
        return std::nullopt;
    }
    const auto answer = m_child->receive(std::chrono::seconds(20));
    return answer ? std::optional(std::stoi(answer->bytes)) : std::nullopt;
}

int ForkedRunner::waitForSignal()
{
    int status = 0;
    ::waitpid(m_pid, &status, 0);
    m_pid = -1;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

} // namespace espalier::sim::test
