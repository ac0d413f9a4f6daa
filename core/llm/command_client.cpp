// SPDX-License-Identifier: Apache-2.0
#include "core/llm/command_client.h"

#include "core/base/text.h"
#include "core/llm/answer_bytes.h"
#include "core/llm/answer_text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

extern char** environ;

namespace espalier::llm {

namespace {

constexpr std::size_t outputCap = std::size_t{32} << 20, wordsCap = std::size_t{64} << 10;

std::chrono::nanoseconds seconds(double value)
{
    return std::chrono::nanoseconds(static_cast<std::int64_t>(std::clamp(value, 0.0, 1e8) * 1e9));
}

std::vector<std::string> environmentFor(const ChatRequest& request)
{
    std::vector<std::string> variables;
    for (char** variable = environ; *variable; ++variable) {
        if (!std::string_view(*variable).starts_with("ESPALIER_SCHEMA=")) {
            variables.emplace_back(*variable);
        }
    }
    variables.push_back("ESPALIER_PURPOSE=" + request.purpose);
    variables.push_back("ESPALIER_SUBJECT=" + request.subject);
    if (!request.jsonSchema.empty()) {
        variables.push_back("ESPALIER_SCHEMA=" + request.jsonSchema);
    }
    std::erase_if(variables, [](const std::string& each) { return each.find('\0') != std::string::npos; });
    return variables;
}

} // namespace

std::string promptText(const ChatRequest& request)
{
    std::string text;
    const bool dialogue = std::any_of(request.messages.begin(), request.messages.end(),
                                      [](const Message& message) { return message.role == "assistant"; });
    for (const Message& message : request.messages) {
        text += text.empty() ? "" : "\n\n";
        text += dialogue ? "## " + message.role + "\n\n" + message.text : message.text;
    }
    if (!request.jsonSchema.empty()) {
        text += "\n\nAnswer with JSON alone that follows this JSON schema:\n" + request.jsonSchema;
    }
    return text + "\n";
}

struct CommandClient::Run {
    RequestId id{0};
    ChatRequest request;
    std::string prompt;
    bool released = false;
    std::size_t fed = 0;
    std::optional<Subprocess> process;
    UniqueFd exitNotice; ///< pidfd: a grandchild may hold the pipes open for ever
    std::string output, words;
    bool tooLong = false;
    Clock::time_point begun{}, lastByte{};
    std::optional<Clock::time_point> firstByte;
};

CommandClient::CommandClient(const ModelProfile& profile)
    : m_profile(profile), m_model(profile.model.empty() ? profile.command.front() : profile.model),
      m_line(fmt::format("{}", fmt::join(profile.command, " ")))
{
}

CommandClient::~CommandClient() = default;

Result<std::unique_ptr<ChatClient>> CommandClient::make(const ModelProfile& profile)
{
    if (profile.command.empty() || profile.command.front().empty()) {
        return espalier::fail(
            ErrorCode::InvalidInput,
            "the provider command needs a program: name it in the profile's field command, or behind --command");
    }
    if (const std::string why = whyNotStartable(profile.command.front()); !why.empty()) {
        return espalier::fail(ErrorCode::NotFound, "the provider command: " + why);
    }
    std::signal(SIGPIPE, SIG_IGN); // a program that does not read its input is no end of ours
    std::unique_ptr<CommandClient> client(new CommandClient(profile));
    client->m_poll.reset(::epoll_create1(EPOLL_CLOEXEC));
    if (!client->m_poll) {
        return espalier::fail(ErrorCode::Internal, "cannot prepare to run commands: out of descriptors");
    }
    return client;
}

WireRecord CommandClient::wireOf(const Run& run) const
{
    return {"command:" + m_redactor.clean(m_line), m_redactor.clean(run.prompt), m_redactor.clean(run.output)};
}

WireRecord CommandClient::start(RequestId id, const ChatRequest& request)
{
    auto run = std::make_unique<Run>();
    run->id = id;
    run->request = request;
    run->prompt = promptText(request);
    const WireRecord wire = wireOf(*run);
    m_runs.insert_or_assign(id, std::move(run));
    return wire;
}

void CommandClient::release(RequestId id)
{
    if (const auto found = m_runs.find(id); found != m_runs.end()) {
        found->second->released = true;
    }
}

void CommandClient::cancel(RequestId id)
{
    if (const auto found = m_runs.find(id); found != m_runs.end()) {
        fail(*found->second, ChatFailure::Kind::Cancelled, "the request was cancelled");
    }
}

int CommandClient::timeoutMilliseconds() const
{
    if (!m_events.empty()) {
        return 0;
    }
    std::optional<Clock::time_point> due;
    for (const auto& [id, run] : m_runs) {
        if (run->released && !run->process) {
            return 0;
        }
        if (run->process && !run->exitNotice) {
            return 20; // a kernel without pidfd: its end has to be looked for
        }
        if (run->process) {
            const auto quiet = run->firstByte ? run->lastByte + seconds(m_profile.stallSeconds)
                                              : run->begun + seconds(m_profile.firstTokenSeconds);
            const auto next = std::min(quiet, run->begun + seconds(m_profile.totalSeconds));
            due = due ? std::min(*due, next) : next;
        }
    }
    if (!due) {
        return -1;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

std::vector<chat::Event> CommandClient::receive()
{
    std::vector<RequestId> ids;
    for (const auto& [id, run] : m_runs) {
        if (run->released) {
            ids.push_back(id);
        }
    }
    for (const RequestId id : ids) {
        Run& run = *m_runs.at(id);
        if (!run.process) {
            launch(run);
        } else {
            advance(run);
        }
    }
    return std::exchange(m_events, {});
}

void CommandClient::watch(Run& run, const UniqueFd& fd, std::uint32_t events)
{
    if (fd) {
        epoll_event event = {};
        event.events = events;
        event.data.u64 = static_cast<std::uint64_t>(run.id.value);
        ::epoll_ctl(m_poll.get(), EPOLL_CTL_ADD, fd.get(), &event);
    }
}

void CommandClient::launch(Run& run)
{
    m_events.push_back(chat::Sent{run.id, wireOf(run)});
    ProcessSpec spec;
    spec.argv = m_profile.command;
    spec.environment = environmentFor(run.request);
    spec.workingDirectory = m_profile.folder;
    spec.standardInput = ProcessSpec::Stream::Pipe;
    auto started = Subprocess::start(spec);
    if (!started) {
        fail(run, ChatFailure::Kind::Unreachable, started.error().message);
        return;
    }
    run.process.emplace(std::move(*started));
    run.begun = run.lastByte = Clock::now();
    run.exitNotice.reset(static_cast<int>(::syscall(SYS_pidfd_open, run.process->pid(), 0)));
    for (UniqueFd* fd : {&run.process->input(), &run.process->output(), &run.process->error()}) {
        ::fcntl(fd->get(), F_SETFL, ::fcntl(fd->get(), F_GETFL) | O_NONBLOCK);
    }
    watch(run, run.process->input(), EPOLLOUT);
    watch(run, run.process->output(), EPOLLIN);
    watch(run, run.process->error(), EPOLLIN);
    watch(run, run.exitNotice, EPOLLIN);
}

void CommandClient::readInto(Run& run, UniqueFd& fd, std::string& into)
{
    char buffer[65536];
    const bool answer = &into == &run.output;
    while (fd) {
        const ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0 && errno == EAGAIN) {
            return;
        }
        if (got <= 0) {
            fd.reset();
            return;
        }
        const std::size_t cap = answer ? outputCap : wordsCap;
        const std::size_t kept = std::min(static_cast<std::size_t>(got), cap - std::min(cap, into.size()));
        into.append(buffer, kept);
        run.lastByte = Clock::now();
        if (answer) {
            run.tooLong = run.tooLong || kept < static_cast<std::size_t>(got);
            run.firstByte = run.firstByte.value_or(run.lastByte);
            m_events.push_back(chat::Delta{run.id, m_redactor.cleanAnswer({buffer, kept})});
        }
    }
}

bool CommandClient::advance(Run& run)
{
    while (run.process->input()) {
        const std::string_view rest = std::string_view(run.prompt).substr(run.fed);
        const ssize_t put = rest.empty() ? 0 : ::write(run.process->input().get(), rest.data(), rest.size());
        run.fed += put > 0 ? static_cast<std::size_t>(put) : 0;
        if (run.fed == run.prompt.size() || (put < 0 && errno != EAGAIN && errno != EINTR)) {
            run.process->input().reset();
        } else if (put < 0 && errno == EAGAIN) {
            break;
        }
    }
    const auto status = run.process->poll(); // before the last read: what it wrote is in the pipe by then
    readInto(run, run.process->output(), run.output);
    readInto(run, run.process->error(), run.words);
    if (run.tooLong) {
        answer(run, Finish::TooLong);
        return false;
    }
    if (status) {
        conclude(run, *status);
        return false;
    }
    return checkDeadline(run);
}

bool CommandClient::checkDeadline(Run& run)
{
    const auto now = Clock::now();
    const char* missed = nullptr;
    double limit = 0;
    const auto check = [&](Clock::time_point since, double allowed, const char* what) {
        if (!missed && now >= since + seconds(allowed)) {
            missed = what;
            limit = allowed;
        }
    };
    check(run.begun, m_profile.totalSeconds, "did not end (totalSeconds)");
    if (run.firstByte) {
        check(run.lastByte, m_profile.stallSeconds, "printed nothing more (stallSeconds)");
    } else {
        check(run.begun, m_profile.firstTokenSeconds, "printed nothing (firstTokenSeconds)");
    }
    if (missed) {
        fail(run, ChatFailure::Kind::Deadline, fmt::format("within {:g} s it {}, and was killed", limit, missed));
    }
    return !missed;
}

void CommandClient::conclude(Run& run, const ExitStatus& status)
{
    const std::string words = printable(
        trimmed(std::string_view(run.words).substr(run.words.size() - std::min<std::size_t>(run.words.size(), 600))),
        600);
    if (!status.success()) {
        fail(run, ChatFailure::Kind::Rejected,
             fmt::format("it ended with {}{}", status.text(), words.empty() ? "" : ": " + words));
        return;
    }
    answer(run, Finish::Complete, words);
}

/// `words`: what it said beside its answer; they matter where there is none.
void CommandClient::answer(Run& run, Finish finish, const std::string& words)
{
    ChatAnswer answer;
    answer.finish = finish;
    if (finish == Finish::TooLong) {
        run.output = printable(run.output, keptOfTooLong);
        answer.adjustments.push_back(m_redactor.clean(fmt::format(
            "{} printed more than {}, which no model's answer is: it was ended", m_line, bytesText(outputCap))));
    } else if (trimmed(run.output).empty()) {
        run.output.clear();
        answer.adjustments.push_back(m_redactor.clean(
            fmt::format("{} ended well and printed no answer{}", m_line, words.empty() ? "" : ": " + words)));
    }
    const std::string text = finish == Finish::TooLong ? run.output : answerTextOf(run.output);
    const SplitAnswer split = finish == Finish::TooLong ? SplitAnswer{} : splitReasoning(text);
    answer.text = m_redactor.cleanAnswer(split.text.empty() ? text : split.text);
    answer.reasoning = m_redactor.cleanAnswer(split.reasoning);
    answer.model = m_model;
    answer.firstTokenSeconds = run.firstByte ? std::chrono::duration<double>(*run.firstByte - run.begun).count() : 0;
    answer.seconds = std::chrono::duration<double>(Clock::now() - run.begun).count();
    m_events.push_back(chat::Answered{run.id, std::move(answer), wireOf(run)});
    m_runs.erase(RequestId{run.id}); // a copy: the id lives in what is erased
}

void CommandClient::fail(Run& run, ChatFailure::Kind kind, const std::string& what)
{
    ChatFailure failure;
    failure.kind = kind;
    failure.message = m_redactor.clean(fmt::format("command {}: {}", m_line, what));
    failure.partialText = m_redactor.cleanAnswer(run.output);
    m_events.push_back(chat::Failed{run.id, std::move(failure), wireOf(run)});
    m_runs.erase(RequestId{run.id});
}

} // namespace espalier::llm
