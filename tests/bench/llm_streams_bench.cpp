// SPDX-License-Identifier: Apache-2.0
// What many streams at once cost the engine's thread: `llm_streams_bench [streams] [tokens a second] [seconds]`. A
// server in a process of its own sends one chunk a token; the figure is this process's user and system time, by
// getrusage, over the time in which all streams run. The loop is the engine's: poll on the client's descriptor, then
// receive().
#include "core/llm/make_client.h"

#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace espalier;
using Clock = std::chrono::steady_clock;

namespace {

struct Load {
    int streams = 64, tokensPerSecond = 50, seconds = 10;
};

std::string chunk(const std::string& payload)
{
    char size[32];
    std::snprintf(size, sizeof size, "%zx\r\n", payload.size());
    return size + payload + "\r\n";
}

struct Stream {
    int fd;
    int sent = 0;
    Clock::time_point next;
};

/// One poll loop: accepts, drops what is asked, and sends each stream its tokens at their times, never two streams
/// together unless they fall together.
[[noreturn]] void serve(int listener, const Load& load)
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::signal(SIGPIPE, SIG_IGN);
    std::vector<Stream> streams;
    const auto gap = std::chrono::nanoseconds(1'000'000'000 / load.tokensPerSecond);
    const int tokens = load.tokensPerSecond * load.seconds;
    const std::string token =
        chunk("data: "
              "{\"id\":\"chatcmpl-0123456789abcdef\",\"object\":\"chat.completion.chunk\",\"created\":1764460800,"
              "\"model\":\"bench-model\",\"system_fingerprint\":\"fp_0123456789\",\"choices\":[{\"index\":0,\"delta\":{"
              "\"content\":\" warp\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n");
    const std::string end =
        chunk("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n") +
        "0\r\n\r\n";
    for (;;) {
        pollfd polled{listener, POLLIN, 0};
        ::poll(&polled, 1, streams.empty() ? 100 : 1);
        if (polled.revents) {
            const int fd = ::accept(listener, nullptr, nullptr);
            const int on = 1;
            ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            char request[65536];
            [[maybe_unused]] const auto got = ::recv(fd, request, sizeof request, 0);
            const char head[] =
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
            ::send(fd, head, sizeof head - 1, MSG_NOSIGNAL);
            const auto phase = gap * static_cast<long>(streams.size() * 7 % 64) / 64; // not in step with each other
            streams.push_back({fd, 0, Clock::now() + std::chrono::milliseconds(300) + phase});
        }
        for (Stream& stream : streams) {
            while (stream.fd >= 0 && Clock::now() >= stream.next) {
                const std::string& bytes = stream.sent < tokens ? token : end;
                ::send(stream.fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
                stream.next += gap;
                if (stream.sent++ == tokens) {
                    ::close(stream.fd);
                    stream.fd = -1;
                }
            }
        }
    }
}

double cpuSeconds()
{
    rusage usage = {};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int fail(const std::string& why)
{
    std::fprintf(stderr, "llm_streams_bench: %s\n", why.c_str());
    return 1;
}

} // namespace

int main(int argc, char** argv)
{
    Load load;
    load.streams = argc > 1 ? std::atoi(argv[1]) : load.streams;
    load.tokensPerSecond = argc > 2 ? std::atoi(argv[2]) : load.tokensPerSecond;
    load.seconds = argc > 3 ? std::atoi(argv[3]) : load.seconds;
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    if (::bind(listener, reinterpret_cast<sockaddr*>(&address), length) != 0 || ::listen(listener, 1024) != 0 ||
        ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
        return fail("no loopback");
    }
    const pid_t server = ::fork();
    if (server == 0) {
        serve(listener, load);
    }
    ::close(listener);

    llm::ChatServices services;
    auto loop = llm::CurlLoop::create();
    if (!loop) {
        return fail(loop.error().message);
    }
    services.loop = *loop;
    services.knowledge = std::make_shared<llm::ModelKnowledge>();
    llm::ModelProfile profile;
    profile.provider = "openai";
    profile.baseUrl = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    profile.model = "bench-model";
    auto client = llm::makeClient(profile, services);
    if (!client) {
        return fail(client.error().message);
    }
    for (std::int64_t id = 1; id <= load.streams; ++id) {
        llm::ChatRequest request;
        request.messages = {{"user", "Write a kernel."}};
        (*client)->start(RequestId{id}, request);
        (*client)->release(RequestId{id});
    }
    std::size_t deltas = 0, wakes = 0, bytes = 0;
    int ended = 0, good = 0;
    const auto begun = Clock::now();
    std::optional<Clock::time_point> first, last;
    double cpuFirst = 0, cpuLast = 0;
    while (ended < load.streams && Clock::now() - begun < std::chrono::seconds(load.seconds * 3 + 30)) {
        pollfd polled{(*client)->descriptor(), POLLIN, 0};
        ::poll(&polled, 1, 100);
        ++wakes;
        bool running = false;
        for (const llm::chat::Event& event : (*client)->receive()) {
            if (const auto* delta = std::get_if<llm::chat::Delta>(&event)) {
                running = true;
                ++deltas;
                bytes += delta->text.size();
                if (!first) {
                    first = Clock::now();
                    cpuFirst = cpuSeconds();
                }
            } else if (const auto* answered = std::get_if<llm::chat::Answered>(&event)) {
                ++ended;
                good += answered->answer.finish == llm::Finish::Complete &&
                        answered->answer.text.size() ==
                            static_cast<std::size_t>(5 * load.tokensPerSecond * load.seconds) - 1;
            } else if (std::holds_alternative<llm::chat::Failed>(event)) {
                ++ended;
            }
        }
        if (running) {
            last = Clock::now();
            cpuLast = cpuSeconds();
        }
    }
    ::kill(server, SIGKILL);
    ::waitpid(server, nullptr, 0);
    if (good != load.streams || !first) {
        return fail("only " + std::to_string(good) + " of " + std::to_string(load.streams) + " streams were whole");
    }
    const double wall = std::chrono::duration<double>(*last - *first).count(), cpu = cpuLast - cpuFirst;
    std::printf("%d streams, %zu tokens in %.1f s: %.3f s of CPU, %.2f %% of one core, %.1f us a token, %zu deltas, "
                "%.0f wakes a second\n",
                load.streams, bytes / 5, wall, cpu, 100 * cpu / wall, 1e6 * cpu / (static_cast<double>(bytes) / 5),
                deltas, static_cast<double>(wakes) / wall);
    return 0;
}
