// SPDX-License-Identifier: Apache-2.0
#include "core/propose/llm/idea_filter.h"

#include "core/base/hash.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <set>

namespace espalier {
namespace {

using Words = std::set<std::string, std::less<>>;

bool saysNothing(std::string_view word)
{
    static constexpr std::array<std::string_view, 46> stop = {
        "a",    "an",   "and",  "are",  "as",   "at",    "be",    "by",     "can",   "each", "for",     "from",
        "has",  "in",   "into", "is",   "it",   "its",   "of",    "on",     "one",   "only", "or",      "so",
        "that", "the",  "then", "this", "to",   "use",   "using", "with",   "which", "will", "instead", "we",
        "our",  "more", "than", "them", "they", "every", "per",   "kernel", "also",  "make"};
    return std::find(stop.begin(), stop.end(), word) != stop.end();
}

Words wordsOf(std::string_view text)
{
    Words words;
    std::string word;
    const auto end = [&] {
        if (word.size() > 3 && word.ends_with('s') && !word.ends_with("ss")) {
            word.pop_back();
        }
        if (!word.empty() && !saysNothing(word)) {
            words.insert(word);
        }
        word.clear();
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const bool dash =
            byte == 0xe2 && i + 2 < text.size() && (static_cast<unsigned char>(text[i + 1]) & 0xfe) == 0x80;
        if (dash) { // dashes, quotation marks and the ellipsis: U+2000 to U+207F
            end();
            i += 2;
        } else if (std::isalnum(byte) || byte >= 0x80) { // letters of other scripts are kept as they are
            word += static_cast<char>(byte < 0x80 ? std::tolower(byte) : byte);
        } else {
            end();
        }
    }
    end();
    return words;
}

double likenessOf(const Words& a, const Words& b)
{
    if (a.empty() || b.empty()) {
        return a.empty() && b.empty() ? 1 : 0;
    }
    const auto shared = std::count_if(a.begin(), a.end(), [&b](const std::string& word) { return b.contains(word); });
    return static_cast<double>(shared) / static_cast<double>(a.size() + b.size() - static_cast<std::size_t>(shared));
}

struct Known {
    std::string name;
    Words title, all;
};

Known knownOf(std::string name, const std::string& title, const std::string& text)
{
    return {std::move(name), wordsOf(title), wordsOf(title + " " + text)};
}

} // namespace

double likeness(std::string_view a, std::string_view b)
{
    return likenessOf(wordsOf(a), wordsOf(b));
}

std::string ideaKey(std::string_view title, std::string_view text)
{
    std::string joined;
    for (const std::string& word : wordsOf(fmt::format("{} {}", title, text))) {
        joined += word + " ";
    }
    return sha256(joined).substr(0, 12);
}

FilteredIdeas filterIdeas(std::vector<ProposedIdea> offered, const IdeaContext& context, int most)
{
    std::vector<Known> known;
    if (context.background) {
        for (const KnownIdea& idea : context.background->ideas) {
            // An answer of an earlier run is read again: what was taken from it then is no repetition.
            const std::string key = ideaKey(idea.title, idea.text);
            const bool itself = context.round == 0 && std::any_of(offered.begin(), offered.end(),
                                                                  [&key](const auto& one) { return one.key == key; });
            if (idea.parent == context.parent && !itself) {
                known.push_back(
                    knownOf(fmt::format("idea {} (\"{}\")", idea.node.value, idea.title), idea.title, idea.text));
            }
        }
    }
    FilteredIdeas result;
    for (ProposedIdea& idea : offered) {
        const Known own = knownOf(fmt::format("\"{}\" of the same answer", idea.title), idea.title, idea.text);
        if (own.all.empty()) {
            result.dropped.push_back({idea.title, idea.text, "it says nothing"});
            continue;
        }
        std::string reason;
        for (const Known& other : known) {
            const double alike = likenessOf(own.all, other.all);
            const bool sameTitle = own.title.size() > 1 && own.title == other.title;
            if (alike >= nearDuplicate || sameTitle) {
                reason = fmt::format("it repeats {}: {:.0f} % of their words are the same{}", other.name, alike * 100,
                                     sameTitle ? ", and the title is" : "");
                break;
            }
        }
        if (reason.empty() && static_cast<int>(result.kept.size()) >= most) {
            reason = fmt::format("{} ideas were asked for, and as many stand before it", most);
        }
        if (!reason.empty()) {
            result.dropped.push_back({idea.title, idea.text, std::move(reason)});
            continue;
        }
        known.push_back(own);
        result.kept.push_back(std::move(idea));
    }
    return result;
}

} // namespace espalier
