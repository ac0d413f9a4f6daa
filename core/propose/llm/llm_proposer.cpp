// SPDX-License-Identifier: Apache-2.0
#include "core/propose/llm/llm_proposer.h"

#include "core/base/hash.h"
#include "core/base/text.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <utility>

namespace espalier {
namespace {

constexpr int mostAttempts = 2; ///< answers that are read for one question
constexpr int mostFailures = 3; ///< requests that end without an answer, for reasons that may pass
constexpr double smallestRoom = 0.2;
constexpr std::int64_t mostOutput = 65536;

constexpr const char* ideasSchema =
    R"({"type":"object","additionalProperties":false,"required":["ideas"],"properties":{"ideas":{"type":"array","items":)"
    R"({"type":"object","additionalProperties":false,"required":["title","text","expected_gain"],"properties":)"
    R"({"title":{"type":"string"},"text":{"type":"string"},"expected_gain":{"type":"number"}}}}}})";

/// Behind a prompt that has no place for it.
std::string mismatchWords(const std::string& mismatch)
{
    return fmt::format("\n\nYour answer before this one was of no use: {}\n", mismatch);
}

std::string shortHash(std::string_view text)
{
    return sha256(text).substr(0, 8);
}

/// The same question has the same key in every run of the session. Under one parent several are asked for ideas.
/// `proposer`: empty in sessions of older versions.
std::string keyOf(const IdeaContext& context, int attempt, const std::string& proposer)
{
    const std::string own = context.prompt.empty() ? "" : "/own " + shortHash(context.prompt);
    const std::string again = context.round > 0 ? fmt::format("/again {}", context.round) : "";
    const std::string whose = proposer.empty() ? "" : "/of " + proposer;
    return fmt::format("ideas/{}{}{}{}/{}", context.parent.value, whose, again, own, attempt);
}

std::string keyOf(const ImplementContext& context, int attempt)
{
    const std::string own = context.prompt.empty() ? "" : "/own " + shortHash(context.prompt);
    const std::string what = context.failed ? fmt::format("repair/{}", context.failed->node.value)
                                            : fmt::format("implement/{}/{}", context.idea.value, context.ordinal);
    return fmt::format("{}/{}{}/{}", what, shortHash(context.title + "\n" + context.text), own, attempt);
}

std::string subjectOf(const IdeaContext& context)
{
    return fmt::format("{}: {}", context.task->id, context.parentTitle);
}

std::string subjectOf(const ImplementContext& context)
{
    return fmt::format("{}: {} #{}{}", context.task->id, context.title, context.ordinal,
                       context.failed ? fmt::format(" repair {}", context.failed->number) : "");
}

/// Ideas cost a question; under a kernel that is far behind they are not worth it.
bool worthIdeas(const IdeaContext& context)
{
    if (!context.background || context.parentIsTaskRoot || context.background->parentPinned || !context.parentScore ||
        !context.prompt.empty()) {
        return true;
    }
    const double share = *context.parentScore / std::max(context.background->bestScore, 1e-9);
    return share >= (context.parentProposer == "tuner" ? 1 : LlmProposer::worthFactor);
}

TokenCounts countsOf(const llm::Usage& usage)
{
    return {usage.input, usage.output, usage.cachedInput, usage.reasoning};
}

std::string titleOf(const ImplementContext& context)
{
    if (context.failed) {
        return fmt::format("{} (repair {})", context.title, context.failed->number);
    }
    return context.ordinal == 0 ? context.title : fmt::format("{} #{}", context.title, context.ordinal + 1);
}

void markCancelled(Exchange& exchange)
{
    exchange.state = Exchange::State::Failed;
    exchange.reason = "Cancelled before the answer was there.";
}

} // namespace

LlmProposer::LlmProposer(std::string name, std::vector<LlmModel> models, std::vector<PromptTemplate> prompts,
                         LlmSettings settings, QuestionPause pause)
    : m_name(std::move(name)), m_models(std::move(models)), m_settings(std::move(settings)),
      m_poll(::epoll_create1(EPOLL_CLOEXEC)), m_pause(pause)
{
    assert(!m_models.empty());
    for (PromptTemplate& prompt : prompts) {
        m_prompts.insert_or_assign(prompt.name, std::move(prompt));
    }
    for (const LlmModel& model : m_models) {
        if (const int fd = model.client->descriptor(); fd >= 0) {
            epoll_event event = {};
            event.events = EPOLLIN;
            (void)::epoll_ctl(m_poll.get(), EPOLL_CTL_ADD, fd, &event); // clients may share one
        }
    }
}

int LlmProposer::timeoutMilliseconds() const
{
    int least = m_answers.empty() ? -1 : 0;
    for (const LlmModel& model : m_models) {
        const int own = model.client->timeoutMilliseconds();
        least = own < 0 ? least : least < 0 ? own : std::min(own, least);
    }
    if (m_pause.on() && !m_asked.empty()) { // some are still read, for so long
        const int left = static_cast<int>(m_pause.left(QuestionPause::Clock::now()).count());
        least = least < 0 ? left : std::min(least, left);
    }
    return least;
}

// --- questions ---------------------------------------------------------------------------------------------------

void LlmProposer::ideas(RequestId id, const IdeaContext& context)
{
    if (!worthIdeas(context)) {
        m_answers.push_back(proposer::Ideas{.id = id, .ideas = {}, .dropped = {}});
        return;
    }
    Question question;
    question.id = id;
    question.ideas = context;
    submit(std::move(question));
}

void LlmProposer::implement(RequestId id, const ImplementContext& context)
{
    Question question;
    question.id = id;
    question.implement = context;
    submit(std::move(question));
}

std::optional<ProposedIdea> LlmProposer::crossing(const CrossingContext& context) const
{
    ProposedIdea idea;
    idea.key = fmt::format("cross {} {}", context.first.value, context.second.value);
    idea.title = fmt::format("Cross with \"{}\"", context.secondTitle);
    idea.text = fmt::format("Write one kernel that has the strengths of both: of this one, and of node {} (\"{}\").",
                            context.second.value, context.secondTitle);
    idea.payload = "{}";
    return idea;
}

const PromptTemplate& LlmProposer::templateFor(const Question& question) const
{
    if (question.ideas) {
        return m_prompts.at("idea");
    }
    return m_prompts.at(question.implement->failed    ? "repair"
                        : question.implement->refined ? "refine"
                        : question.implement->second  ? "crossover"
                                                      : "implement");
}

Result<AssembledPrompt> LlmProposer::promptFor(const Question& question, const PromptTemplate& prompt) const
{
    const LlmModel& model = m_models[question.model];
    const std::string& own = question.ideas ? question.ideas->prompt : question.implement->prompt;
    if (!own.empty()) { // the engineer's words are sent as they are
        AssembledPrompt assembled;
        assembled.system = filled(prompt.system, {});
        assembled.user = own;
        if (!question.mismatch.empty()) {
            assembled.user += mismatchWords(question.mismatch);
        }
        assembled.tokens = estimateTokens(assembled.system) + estimateTokens(assembled.user);
        assembled.parts.push_back({"engineer", assembled.tokens, "the engineer's own prompt", {}, true});
        return assembled;
    }
    const double all = static_cast<double>(std::max<std::int64_t>(model.contextTokens - question.output, 2048));
    auto assembled =
        assemble(prompt,
                 question.ideas ? channelsOf(*question.ideas, m_settings.ideas, question.mismatch)
                                : channelsOf(*question.implement, question.mismatch),
                 ChannelRule{model.profile.channels}, static_cast<std::int64_t>(all * 0.95 * question.room));
    const bool told = assembled && std::any_of(assembled->parts.begin(), assembled->parts.end(),
                                               [](const PromptPart& part) { return part.channel == "mismatch"; });
    if (assembled && !told && !question.mismatch.empty()) { // a prompt of the user's own may have no place for it
        assembled->user += mismatchWords(question.mismatch);
    }
    return assembled;
}

llm::ChatRequest LlmProposer::requestFor(const Question& question) const
{
    llm::ChatRequest request;
    if (!question.exchange.system.empty()) {
        request.messages.push_back({"system", question.exchange.system});
    }
    request.messages.push_back({"user", question.exchange.prompt});
    request.maxOutputTokens = question.output;
    request.reasoningEffort = m_settings.reasoningEffort;
    request.purpose = question.exchange.purpose;
    request.subject = question.exchange.subject;
    request.askedAt = question.exchange.url; // set where it was asked before
    if (question.ideas) {
        request.jsonSchema = ideasSchema;
    }
    return request;
}

void LlmProposer::submit(Question question)
{
    if (m_held || !m_log) {
        return postpone(question);
    }
    if (m_pause.on()) {
        m_resting.push_back(std::move(question));
        return;
    }
    const std::string key = question.ideas ? keyOf(*question.ideas, question.attempt, m_name)
                                           : keyOf(*question.implement, question.attempt);
    for (auto& [request, asked] : m_asked) {
        if (asked.exchange.key == key) { // whoever asked it first is gone: its answer is for this one
            asked.id = question.id;
            asked.ideas = std::move(question.ideas);
            asked.implement = std::move(question.implement);
            return;
        }
    }
    auto before = onRecord(&ExchangeLog::answered, question, key);
    if (!before) {
        hold(false, before.error().message);
        return postpone(question);
    }
    if (*before) {
        question.exchange = std::move(**before);
        return conclude(std::move(question), true);
    }
    auto asked = onRecord(&ExchangeLog::unanswered, question, key);
    if (!asked) {
        hold(false, asked.error().message);
        return postpone(question);
    }
    if (!(*asked && takeUp(question, std::move(**asked))) && !compose(question, key)) {
        return;
    }
    LlmModel& model = m_models[question.model];
    Exchange& exchange = question.exchange;
    exchange.estimatedUsd = model.price({exchange.estimatedInput, question.output, -1, -1});
    if (const auto refusal = m_log->refusal(exchange.estimatedTokens, exchange.estimatedUsd)) {
        hold(true, *refusal);
        return postpone(question);
    }
    const RequestId request{m_nextRequest++};
    const llm::WireRecord wire = model.client->start(request, requestFor(question));
    exchange.url = wire.url;
    exchange.request = wire.requestBody;
    const auto id = m_log->sent(exchange);
    if (!id) {
        model.client->cancel(request);
        hold(false, id.error().message);
        return postpone(question);
    }
    exchange.id = *id;
    m_asked.emplace(request, std::move(question));
    model.client->release(request); // on record: now it may leave
}

/// What the log has of a question. An older version did not write down which proposer it asked for ideas: then it was
/// this one if its model was one of this one's.
Result<std::optional<Exchange>> LlmProposer::onRecord(Lookup lookup, const Question& question,
                                                      const std::string& key) const
{
    ESPALIER_TRY(auto found, (m_log->*lookup)(key));
    if (found || !question.ideas) {
        return found;
    }
    ESPALIER_TRY(auto older, (m_log->*lookup)(keyOf(*question.ideas, question.attempt, "")));
    if (!older || modelOf(*older) == m_models.end()) {
        return std::nullopt;
    }
    older->key = key;
    return older;
}

std::vector<LlmModel>::const_iterator LlmProposer::modelOf(const Exchange& asked) const
{
    return std::find_if(m_models.begin(), m_models.end(), [&asked](const LlmModel& one) {
        return one.profile.name == asked.profile && one.client->provider() == asked.provider &&
               one.client->model() == asked.model;
    });
}

/// Asks as it was asked before, without an answer; false where that model takes no part any more. Where nobody bills,
/// it is one and the same exchange.
bool LlmProposer::takeUp(Question& question, Exchange asked) const
{
    const auto model = modelOf(asked);
    if (model == m_models.end()) {
        return false;
    }
    question.model = static_cast<std::size_t>(model - m_models.begin());
    question.output = std::max<std::int64_t>(1024, asked.estimatedTokens - asked.estimatedInput);
    const bool open = asked.state == Exchange::State::Sent && !isBilled(asked.provider);
    Exchange& exchange = question.exchange;
    exchange = {};
    exchange.id = open ? asked.id : 0;
    exchange.node = question.ideas ? question.ideas->parent : question.implement->node;
    exchange.key = std::move(asked.key);
    exchange.purpose = std::move(asked.purpose);
    exchange.subject = std::move(asked.subject);
    exchange.provider = std::move(asked.provider);
    exchange.model = std::move(asked.model);
    exchange.profile = std::move(asked.profile);
    exchange.url = std::move(asked.url);
    exchange.promptHash = std::move(asked.promptHash);
    exchange.system = std::move(asked.system);
    exchange.prompt = std::move(asked.prompt);
    exchange.parts = std::move(asked.parts);
    exchange.estimatedInput = asked.estimatedInput;
    exchange.estimatedTokens = asked.estimatedInput + question.output;
    exchange.sentAt = std::move(asked.sentAt);
    return true;
}

/// False: it cannot be asked at all, and that is its answer.
bool LlmProposer::compose(Question& question, const std::string& key)
{
    std::vector<ModelShare> shares;
    for (const LlmModel& model : m_models) {
        shares.push_back({model.profile.name, model.profile.weight});
    }
    const auto& background = question.ideas ? question.ideas->background : question.implement->background;
    const std::uint64_t seed = question.ideas ? question.ideas->seed : question.implement->seed;
    question.model = chooseModel(shares, background ? background->tried : std::vector<KnownTry>(), seed, key);
    const LlmModel& model = m_models[question.model];
    if (question.output == 0) {
        question.output = std::min(m_settings.maxOutputTokens, std::max<std::int64_t>(1024, model.contextTokens / 2));
    }
    const PromptTemplate& prompt = templateFor(question);
    auto assembled = promptFor(question, prompt);
    if (!assembled) {
        refuse(question, assembled.error().message);
        return false;
    }

    Exchange& exchange = question.exchange;
    exchange = {};
    exchange.node = question.ideas ? question.ideas->parent : question.implement->node;
    exchange.key = key;
    exchange.purpose = prompt.name;
    exchange.subject = question.ideas ? subjectOf(*question.ideas) : subjectOf(*question.implement);
    exchange.subject += question.attempt > 0 ? " again" : "";
    exchange.provider = model.client->provider();
    exchange.model = model.client->model();
    exchange.profile = model.profile.name;
    exchange.promptHash = prompt.hash;
    exchange.system = std::move(assembled->system);
    exchange.prompt = std::move(assembled->user);
    exchange.parts = std::move(assembled->parts);
    exchange.estimatedInput = assembled->tokens;
    exchange.estimatedTokens = assembled->tokens + question.output;
    return true;
}

void LlmProposer::cancel(RequestId id)
{
    std::erase_if(m_answers, [id](const proposer::Answer& answer) {
        return std::visit([id](const auto& a) { return a.id == id; }, answer);
    });
    std::erase_if(m_unwritten, [id](const Question& question) { return question.id == id; });
    std::erase_if(m_resting, [&](Question& question) {
        if (question.id == id && question.exchange.id != 0 && question.exchange.state == Exchange::State::Sent) {
            markCancelled(question.exchange);
            (void)m_log->ended(question.exchange);
        }
        return question.id == id;
    });
    for (auto at = m_asked.begin(); at != m_asked.end();) {
        if (at->second.id != id) {
            ++at;
            continue;
        }
        m_models[at->second.model].client->cancel(at->first);
        Exchange& exchange = at->second.exchange;
        if (!QuestionPause::takeBack(exchange, "", "The request was cancelled")) {
            markCancelled(exchange);
        }
        (void)m_log->ended(exchange); // at worst it is found as lost when the session is opened again
        at = m_asked.erase(at);
    }
}

void LlmProposer::hold(bool spent, std::string sentence)
{
    if (!m_held) {
        m_held = Held{spent, std::move(sentence)};
    }
}

void LlmProposer::goOn()
{
    m_held.reset();
    m_stumbled.clear(); // else one that it never takes would be met first by every run
    for (Question& question : std::exchange(m_unwritten, {})) {
        conclude(std::move(question), false);
    }
}

void LlmProposer::pause(bool readOn)
{
    m_pause.begin(readOn, QuestionPause::Clock::now());
    takeEvents(); // what is there already
    letGo();
}

void LlmProposer::resume()
{
    m_pause.end();
    for (Question& question : std::exchange(m_resting, {})) {
        submit(std::move(question));
    }
}

std::optional<double> LlmProposer::readsOn() const
{
    return m_pause.on() && !m_asked.empty()
               ? std::optional(std::chrono::duration<double>(m_pause.left(QuestionPause::Clock::now())).count())
               : std::nullopt;
}

/// While paused: takes back what is not waited for.
void LlmProposer::letGo()
{
    const auto now = QuestionPause::Clock::now();
    std::vector<RequestId> going;
    for (const auto& [request, question] : m_asked) {
        const llm::ChatClient& client = *m_models[question.model].client;
        if (!m_pause.waitsFor(question.exchange, client.answering(request), now)) {
            going.push_back(request);
        }
    }
    for (const RequestId request : going) {
        m_models[m_asked.at(request).model].client->cancel(request);
    }
    if (!going.empty()) { // what had come of them goes on record at once
        takeEvents();
    }
    for (const RequestId request : going) {
        if (auto left = m_asked.extract(request)) { // its client had nothing more to say of it
            rest(std::move(left.mapped()), "");
        }
    }
}

void LlmProposer::rest(Question question, std::string partialText)
{
    if (QuestionPause::takeBack(question.exchange, std::move(partialText), "The wait for it was ended")) {
        (void)m_log->ended(question.exchange); // at worst it is found as lost when the session is opened again
    } else {
        m_log->leftOpen(question.exchange);
    }
    m_resting.push_back(std::move(question));
}

// --- answers -----------------------------------------------------------------------------------------------------

std::vector<proposer::Answer> LlmProposer::receive()
{
    takeEvents();
    if (m_pause.on()) {
        letGo(); // whose time is over
    }
    return std::exchange(m_answers, {});
}

void LlmProposer::takeEvents()
{
    for (const LlmModel& model : m_models) {
        for (llm::chat::Event& event : model.client->receive()) {
            onEvent(event);
        }
    }
}

void LlmProposer::onEvent(llm::chat::Event& event)
{
    const RequestId id = std::visit([](const auto& one) { return one.id; }, event);
    if (m_lessons && m_lessons->request == id) {
        return onLessonsEvent(event);
    }
    const auto found = m_asked.find(id);
    if (found == m_asked.end()) {
        return; // cancelled
    }
    if (const auto* delta = std::get_if<llm::chat::Delta>(&event)) {
        return m_log->grew(found->second.exchange, delta->text);
    }
    if (const auto* sent = std::get_if<llm::chat::Sent>(&event)) {
        found->second.exchange.url = sent->wire.url.empty() ? found->second.exchange.url : sent->wire.url;
        return;
    }
    Question question = std::move(found->second);
    m_asked.erase(found);
    if (auto* answered = std::get_if<llm::chat::Answered>(&event)) {
        onAnswered(std::move(question), *answered);
    } else {
        onFailed(std::move(question), std::get<llm::chat::Failed>(event));
    }
}

void LlmProposer::noteAnswer(Exchange& exchange, const LlmModel& model, llm::chat::Answered& answered)
{
    exchange.state = Exchange::State::Answered;
    exchange.answer = std::move(answered.answer.text);
    exchange.reasoning = std::move(answered.answer.reasoning);
    exchange.finish = llm::nameOf(answered.answer.finish);
    exchange.tokens = countsOf(answered.answer.usage);
    exchange.usd = model.price(exchange.tokens);
    exchange.notes = std::move(answered.answer.adjustments);
    exchange.attempts = answered.answer.attempts;
    exchange.firstTokenSeconds = answered.answer.firstTokenSeconds;
    exchange.seconds = answered.answer.seconds;
    if (!answered.answer.model.empty() && answered.answer.model != exchange.model) {
        exchange.notes.push_back(fmt::format("the provider answered as {}", answered.answer.model));
    }
    if (!answered.wire.requestBody.empty()) { // what was adjusted on the way
        exchange.request = std::move(answered.wire.requestBody);
    }
}

void LlmProposer::onAnswered(Question question, llm::chat::Answered& answered)
{
    noteAnswer(question.exchange, m_models[question.model], answered);
    m_stumbled.erase(question.model);
    conclude(std::move(question), false);
}

/// Room that was reserved is free again: a cap may let the next question through.
void LlmProposer::easeHold()
{
    if (m_held && m_held->spent) {
        m_held.reset();
    }
}

/// Reads an answer, puts it on record with what was read (unless it is there already), and only then uses it.
void LlmProposer::conclude(Question question, bool onRecord)
{
    Exchange& exchange = question.exchange;
    ReadKernel kernel;
    FilteredIdeas ideas;
    std::vector<std::string> notes;
    if (question.ideas) {
        ideas = readIdeas(exchange, *question.ideas, m_settings.ideas, m_settings.implementations);
        for (const proposer::DroppedIdea& dropped : ideas.dropped) {
            notes.push_back(fmt::format("dropped idea \"{}\": {}", dropped.title, dropped.reason));
        }
        if (ideas.kept.empty() && ideas.dropped.empty() && !saysNoIdeas(exchange)) {
            kernel.mismatch =
                fmt::format("{}. Answer with one JSON object {{\"ideas\": [{{\"title\": …, \"text\": "
                            "…}}]}} and nothing else.",
                            trimmed(exchange.answer).empty() ? "It is empty" : "It holds no list of ideas");
        }
    } else {
        kernel = readKernel(exchange, *question.implement);
        notes = kernel.notes;
    }
    if (!kernel.mismatch.empty()) {
        notes.push_back("not used: " + kernel.mismatch);
    }
    if (!onRecord) {
        const std::vector<std::string> before = exchange.notes;
        exchange.notes.insert(exchange.notes.end(), notes.begin(), notes.end());
        if (const auto result = m_log->ended(exchange); !result) {
            hold(false, result.error().message);
            exchange.notes = before;
            m_unwritten.push_back(std::move(question)); // it was paid for: kept until it can be written
            return;
        }
    }
    if (!onRecord) {
        easeHold();
    }
    const bool again = !kernel.mismatch.empty() && exchange.finish != "refused" && question.attempt + 1 < mostAttempts;
    if (again) {
        question.mismatch = kernel.mismatch;
        ++question.attempt;
        question.output =
            kernel.cutOff ? std::min(mostOutput, std::max(question.output, m_settings.maxOutputTokens) * 2) : 0;
        return submit(std::move(question));
    }
    if (question.ideas) {
        m_answers.push_back(proposer::Ideas{question.id, std::move(ideas.kept), std::move(ideas.dropped)});
        return;
    }
    proposer::Implementation answer{.id = question.id};
    answer.source = std::move(kernel.source);
    answer.title = titleOf(*question.implement);
    answer.payload = modelPayload(exchange.profile, exchange.id);
    if (answer.source.empty()) {
        answer.reason = exchange.finish == "refused"
                            ? fmt::format("{} declined to answer.", exchange.model)
                            : fmt::format("The answer of {} is no candidate: {}", exchange.model, kernel.mismatch);
    }
    m_answers.push_back(std::move(answer));
}

void LlmProposer::noteFailure(Exchange& exchange, const LlmModel& model, llm::chat::Failed& failed)
{
    exchange.state = Exchange::State::Failed;
    exchange.reason = failed.failure.message;
    exchange.answer = std::move(failed.failure.partialText);
    exchange.tokens = countsOf(failed.failure.usage);
    if (exchange.tokens != TokenCounts{}) {
        exchange.usd = model.price(exchange.tokens);
    }
    if (!failed.wire.requestBody.empty()) {
        exchange.request = std::move(failed.wire.requestBody);
    }
}

void LlmProposer::onFailed(Question question, llm::chat::Failed& failed)
{
    using Kind = llm::ChatFailure::Kind;
    if (failed.failure.kind == Kind::Cancelled) { // by a pause: who cancels it for good has forgotten it
        return rest(std::move(question), std::move(failed.failure.partialText));
    }
    Exchange& exchange = question.exchange;
    noteFailure(exchange, m_models[question.model], failed);
    if (const auto result = m_log->ended(exchange); !result) {
        hold(false, result.error().message);
        return postpone(question);
    }
    easeHold();
    const bool ofProgram = (failed.failure.kind == Kind::Rejected || failed.failure.kind == Kind::Deadline) &&
                           !isBilled(exchange.provider);
    switch (ofProgram ? Kind::Server : failed.failure.kind) { // a program may stumble, as a server may
    case Kind::Cancelled:
        return; // not here
    case Kind::Overflow:
        question.room /= 2;
        if (question.room >= smallestRoom) {
            return submit(std::move(question));
        }
        return refuse(question, exchange.reason);
    case Kind::Deadline:
    case Kind::Server:
        if (++question.failures < mostFailures) {
            return submit(std::move(question));
        }
        if (ofProgram && m_log->hasAnswered(exchange.profile) && m_stumbled.insert(question.model).second) {
            // It is this question that it does not take.
            return refuse(question, exchange.reason);
        }
        [[fallthrough]];
    case Kind::Unreachable:
    case Kind::Rejected:
    case Kind::RateLimited:
    case Kind::Quota:
    case Kind::NotRecorded:
    case Kind::Unusable:
        hold(false, exchange.reason);
        return postpone(question);
    }
}

/// There is no answer now: the question comes again when the run goes on.
void LlmProposer::postpone(const Question& question)
{
    if (question.ideas) {
        m_answers.push_back(proposer::Ideas{.id = question.id, .ideas = {}, .dropped = {}, .postponed = true});
        return;
    }
    proposer::Implementation answer{.id = question.id};
    answer.postponed = true;
    answer.reason = m_held ? m_held->sentence : std::string();
    m_answers.push_back(std::move(answer));
}

/// The question cannot be asked at all.
void LlmProposer::refuse(const Question& question, const std::string& reason)
{
    if (question.ideas) {
        m_answers.push_back(proposer::Ideas{.id = question.id, .ideas = {}, .dropped = {{"", "", reason}}});
        return;
    }
    proposer::Implementation answer{.id = question.id};
    answer.reason = reason;
    m_answers.push_back(std::move(answer));
}

} // namespace espalier
