// SPDX-License-Identifier: Apache-2.0
// Mutated answers against everything that reads them: llm_fuzz [--seconds S] [--seed K] FOLDER. The seeds are the files
// of FOLDER. An input on which a rule below is broken is kept as llm_fuzz-HASH and belongs into the corpus; in runs of
// more than a minute the last input lies in the temporary folder, for what a sanitizer ends. With clang,
// -DESPALIER_LIBFUZZER and -fsanitize=fuzzer the same readers serve libFuzzer.
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/llm/answer_reader.h"
#include "core/llm/answer_text.h"
#include "core/llm/exchange.h"
#include "core/llm/redact.h"
#include "core/llm/refusal.h"
#include "core/llm/tolerant_json.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

using namespace espalier;
using namespace espalier::llm;

namespace {

const char* broken = nullptr; ///< the rule that the present input broke

void require(bool holds, const char* rule)
{
    broken = holds ? broken : rule;
}

/// Whole and in two pieces, a stream must read the same.
void readStream(const Dialect& dialect, std::string_view bytes, std::size_t cut)
{
    AnswerReader whole(dialect), halves(dialect);
    whole.feed(bytes);
    whole.finish();
    halves.feed(bytes.substr(0, cut));
    halves.feed(bytes.substr(cut));
    halves.finish();
    require(whole.reading().text == halves.reading().text, "a stream reads the same in two pieces");
    require(whole.reading().ended == halves.reading().ended, "a stream ends the same in two pieces");
    require(whole.reading().usage == halves.reading().usage, "usage is the same in two pieces");
    require(whole.usable() == halves.usable(), "usable in both or neither");
    require(whole.raw().size() <= std::max<std::size_t>(bytes.size(), 300'000), "the record is bounded");
}

void readText(std::string_view text)
{
    const SplitAnswer split = splitReasoning(text);
    require(split.text.size() + split.reasoning.size() <= 2 * text.size() + 64, "splitting makes nothing up");
    const CodeChoice choice = chooseCode(text, "op_f32");
    require(!choice.taken || *choice.taken < choice.blocks.size(), "the choice is one of the blocks");
    require(!choice.taken || !choice.source().empty(), "what is taken is not empty");
    require(!choice.why.empty(), "a choice says why");
    std::size_t held = 0;
    for (const CodeBlock& block : choice.blocks) {
        held += block.depth == 0 ? block.text.size() : 0;
    }
    require(held <= 2 * text.size() + 64, "blocks make nothing up");
    const auto ideas = parseIdeas(text);
    require(ideas.size() <= 64, "ideas are bounded");
    for (const IdeaText& idea : ideas) {
        require(!idea.text.empty(), "an idea is not empty");
        require(idea.title.find('\n') == std::string::npos, "a title is one line");
    }
}

void readRest(std::string_view text)
{
    std::size_t used = 0;
    static_cast<void>(parseTolerantly(text, &used));
    require(used <= text.size(), "no more is used than there is");
    Redactor redactor;
    redactor.add("planted-key-123456");
    const std::string clean = redactor.clean(text);
    require(clean.find("planted-key-123456") == std::string::npos, "a known secret is gone");
    require(redactor.clean(clean).size() <= clean.size() + 64, "cleaning twice adds little");
    Refusal refusal{429, providerErrorOf(text), {}};
    for (const int status : {0, 400, 404, 422, 429, 503}) {
        refusal.status = status;
        refusal.retryAfterSeconds = retryAfterInWords(refusal.error.message);
        static_cast<void>(kindOf(refusal));
        ModelLimits limits;
        std::int64_t budget = 20'000;
        if (adjust(refusal, Sent{budget, false, true, true, true, true, true, true}, limits, budget)) {
            require(limits != ModelLimits() || budget != 20'000, "an adjustment changes something");
            require(budget > 0 && budget <= 20'000, "the budget stays in bounds");
            require(limits.mostOutput >= 0 && limits.mostOutput < 20'000, "a limit is below what was refused");
        }
    }
    static_cast<void>(retryAfterOf(text, 1'000'000));
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_discarded()) {
        static_cast<void>(exchangeFrom(json, "fuzz", "/nonexistent"));
        for (const Dialect* dialect : {&openaiChat(), &anthropicMessages(), &geminiContent()}) {
            static_cast<void>(dialect->models(json));
        }
    }
}

void readAll(std::string_view input)
{
    const std::size_t cut =
        input.empty() ? 0 : static_cast<unsigned char>(input[input.size() / 2]) * input.size() / 256;
    for (const Dialect* dialect : {&openaiChat(), &openaiResponses(), &anthropicMessages(), &geminiContent()}) {
        readStream(*dialect, input, cut);
    }
    readText(input);
    readRest(input);
}

/// Random edits that know a little of what they edit: words of the formats are put in beside random bytes.
class Mutator
{
public:
    Mutator(std::vector<std::string> corpus, unsigned seed) : m_corpus(std::move(corpus)), m_random(seed) {}

    std::string next()
    {
        std::string input = m_corpus[below(m_corpus.size())];
        for (std::size_t edits = 1 + below(8); edits > 0; --edits) {
            edit(input);
        }
        input.resize(std::min<std::size_t>(input.size(), 16'384));
        return input;
    }

private:
    std::size_t below(std::size_t bound) { return bound == 0 ? 0 : m_random() % bound; }

    void edit(std::string& input)
    {
        static const std::vector<std::string> words = {"```",
                                                       "```cuda\n",
                                                       "~~~",
                                                       "<think>",
                                                       "</think>",
                                                       "</thinking>",
                                                       "data: ",
                                                       "\n\n",
                                                       "\r\n",
                                                       "\r",
                                                       "[DONE]",
                                                       "{",
                                                       "}",
                                                       "[",
                                                       "]",
                                                       "\"",
                                                       "\\",
                                                       "\\u",
                                                       "\\ud83d",
                                                       ",",
                                                       ":",
                                                       "null",
                                                       "1e999",
                                                       "-1",
                                                       "18446744073709551615",
                                                       "\xef\xbb\xbf",
                                                       "\xff",
                                                       "event: ",
                                                       "\"choices\":",
                                                       "\"usage\":",
                                                       "\"content\":",
                                                       "\"finish_reason\":\"stop\"",
                                                       "\"error\":",
                                                       "op_f32(",
                                                       "op_f32(){",
                                                       "// ",
                                                       "/*",
                                                       "1. ",
                                                       "- ",
                                                       "# ",
                                                       "**",
                                                       "planted-key-123456",
                                                       "Authorization: Bearer ",
                                                       "sk-",
                                                       "max_tokens",
                                                       " > ",
                                                       " maximum context length is ",
                                                       "try again in ",
                                                       "16384",
                                                       "(exclusive)",
                                                       "<|channel|>final<|message|>",
                                                       "\xe2\x97\x81think\xe2\x96\xb7"};
        const std::size_t at = below(input.size() + 1);
        switch (below(8)) {
        case 0:
            input.insert(at, words[below(words.size())]);
            break;
        case 1:
            input.insert(at, 1, static_cast<char>(below(256)));
            break;
        case 2:
            if (at < input.size()) {
                input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
            }
            break;
        case 3:
            input.erase(at, 1 + below(32));
            break;
        case 4: { // a piece again, somewhere else
            const std::string piece = input.substr(at, 1 + below(200));
            input.insert(below(input.size() + 1), piece);
            break;
        }
        case 5: { // the end of another
            const std::string& other = m_corpus[below(m_corpus.size())];
            input.resize(at);
            input += other.substr(below(other.size() + 1));
            break;
        }
        case 6:
            input.resize(at);
            break;
        default: { // one word many times: depth and repetition
            const std::string& word = words[below(words.size())];
            std::string many;
            for (std::size_t i = 0; i < 1 + below(200); ++i) {
                many += word;
            }
            input.insert(at, many);
        }
        }
    }

    std::vector<std::string> m_corpus;
    std::minstd_rand m_random;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    broken = nullptr;
    readAll({reinterpret_cast<const char*>(data), size});
    if (broken) {
        std::fprintf(stderr, "llm_fuzz: broken: %s\n", broken);
        std::abort();
    }
    return 0;
}

#ifndef ESPALIER_LIBFUZZER
int main(int argc, char** argv)
{
    double seconds = 20;
    unsigned seed = std::random_device{}();
    std::filesystem::path folder;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--seconds" && i + 1 < argc) {
            seconds = std::atof(argv[++i]);
        } else if (word == "--seed" && i + 1 < argc) {
            seed = static_cast<unsigned>(std::atoll(argv[++i]));
        } else {
            folder = word;
        }
    }
    std::vector<std::string> corpus;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        if (auto text = readFile(entry.path())) {
            corpus.push_back(std::move(*text));
        }
    }
    if (corpus.size() < 10) {
        std::fprintf(stderr, "llm_fuzz: no corpus in %s\n", folder.c_str());
        return 2;
    }
    std::sort(corpus.begin(), corpus.end());
    Mutator mutator(corpus, seed);
    const auto begun = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    };
    std::size_t inputs = 0;
    double slowest = 0;
    const std::filesystem::path last =
        std::filesystem::temp_directory_path() / ("llm_fuzz-last-" + std::to_string(seed));
    for (; elapsed() < seconds; ++inputs) {
        const std::string input = inputs < corpus.size() ? corpus[inputs] : mutator.next();
        if (seconds > 60) { // a long run is for finding: what crashes it must be on disk
            if (std::FILE* file = std::fopen(last.c_str(), "wb")) {
                std::fwrite(input.data(), 1, input.size(), file);
                std::fclose(file);
            }
        }
        const double before = elapsed();
        broken = nullptr;
        readAll(input);
        slowest = std::max(slowest, elapsed() - before);
        if (broken) {
            const auto kept = std::filesystem::current_path() / ("llm_fuzz-" + sha256(input).substr(0, 12));
            static_cast<void>(writeFileAtomically(kept, input));
            std::fprintf(stderr, "llm_fuzz: broken: %s (seed %u, input %zu, kept as %s)\n", broken, seed, inputs,
                         kept.c_str());
            return 1;
        }
    }
    std::filesystem::remove(last, error);
    std::printf("llm_fuzz: %zu inputs in %.1f s, seed %u, slowest %.1f ms, no finding\n", inputs, elapsed(), seed,
                1e3 * slowest);
    return 0;
}
#endif
