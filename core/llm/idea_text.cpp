// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/llm/answer_text.h"
#include "core/llm/tolerant_json.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

namespace espalier::llm {

namespace {

constexpr std::size_t mostIdeas = 64;
constexpr std::size_t titleBytes = 80;

/// One line without Markdown's emphasis.
std::string plainLine(std::string_view text)
{
    std::string line;
    for (const char byte : trimmed(text)) {
        if (byte != '*' && byte != '`' && byte != '#') {
            line += byte == '\n' || byte == '\r' ? ' ' : byte;
        }
    }
    return std::string(trimmed(line));
}

/// The first words of a text, cut between words and never inside a character.
std::string shortened(std::string_view text)
{
    std::string line = plainLine(text.substr(0, text.find('\n')));
    if (const auto stop = line.find(". "); stop != std::string::npos && stop <= titleBytes) {
        line.resize(stop);
    }
    if (line.size() > titleBytes) {
        const auto space = line.rfind(' ', titleBytes);
        std::size_t cut = space == std::string::npos || space < titleBytes / 2 ? titleBytes : space;
        while (cut > 0 && (static_cast<unsigned char>(line[cut]) & 0xc0) == 0x80) {
            --cut;
        }
        line.resize(cut);
    }
    return line;
}

IdeaText ideaOf(std::string_view title, std::string_view text)
{
    title = trimmed(title);
    text = trimmed(text);
    return {title.empty() ? shortened(text) : shortened(title), std::string(text.empty() ? title : text)};
}

std::string firstString(const Json& object, std::initializer_list<const char*> names)
{
    for (const char* name : names) {
        if (const auto found = object.find(name); found != object.end() && found->is_string()) {
            return found->get<std::string>();
        }
    }
    return {};
}

std::optional<IdeaText> ideaFromJson(const Json& value)
{
    if (value.is_string()) {
        return ideaOf({}, value.get<std::string>());
    }
    if (!value.is_object()) {
        return std::nullopt;
    }
    const std::string title = firstString(value, {"title", "name", "heading", "headline", "label"});
    std::string text = firstString(value, {"text", "description", "idea", "detail", "details", "body", "explanation",
                                           "rationale", "how", "content", "summary"});
    if (title.empty() && text.empty()) {
        return std::nullopt;
    }
    return ideaOf(title, text);
}

std::vector<IdeaText> ideasFromList(const Json& list)
{
    std::vector<IdeaText> ideas;
    for (const Json& entry : list) {
        if (auto idea = ideaFromJson(entry); idea && !idea->text.empty() && ideas.size() < mostIdeas) {
            ideas.push_back(std::move(*idea));
        }
    }
    return ideas;
}

std::vector<IdeaText> ideasFromJson(const Json& value)
{
    if (value.is_array()) {
        return ideasFromList(value);
    }
    if (!value.is_object()) {
        return {};
    }
    const auto named = value.find("ideas");
    if (named != value.end() && named->is_array()) {
        return ideasFromList(*named);
    }
    std::vector<IdeaText> each; ///< "idea_1": {…}, "idea_2": {…}
    for (const auto& [name, member] : value.items()) {
        if (member.is_array() || member.is_object()) {
            auto ideas = ideasFromJson(member);
            if (ideas.size() > 1) {
                return ideas;
            }
            std::move(ideas.begin(), ideas.end(), std::back_inserter(each));
        }
    }
    if (!each.empty()) {
        return each;
    }
    const auto single = ideaFromJson(value);
    return single ? std::vector{*single} : std::vector<IdeaText>{};
}

/// The first { or [ in the text that begins JSON with ideas in it, or objects of one idea each. Bounded: prose may hold
/// many brackets.
std::vector<IdeaText> ideasFromJsonIn(std::string_view text)
{
    std::size_t at = text.find_first_of("{[");
    std::vector<IdeaText> single;
    for (int tries = 0; at != std::string_view::npos && tries < 32; ++tries) {
        std::size_t used = 0;
        if (const auto value = parseTolerantly(text.substr(at), &used)) {
            auto ideas = ideasFromJson(*value);
            if (ideas.size() > 1 || (!ideas.empty() && !value->is_object())) {
                return ideas;
            }
            std::move(ideas.begin(), ideas.end(), std::back_inserter(single)); // there may be one on every line
        }
        at = text.find_first_of("{[", at + std::max<std::size_t>(used, 1));
    }
    return single;
}

enum class MarkerKind { Heading, Number, Bullet };

/// What begins an entry in Markdown: "- ", "* ", "+ ", "1. ", "2) ", "### "
struct Marker {
    MarkerKind kind = MarkerKind::Bullet;
    std::size_t level = 0; ///< indentation, or the number of # signs
    std::size_t text = 0;  ///< where the entry's own text begins
};

std::optional<Marker> markerOf(std::string_view line)
{
    const std::size_t indent = line.find_first_not_of(" \t");
    if (indent == std::string_view::npos) {
        return std::nullopt;
    }
    Marker marker{MarkerKind::Bullet, indent, indent + 1};
    if (line[indent] == '#') {
        marker.text = std::min(line.find_first_not_of('#', indent), line.size());
        marker = {MarkerKind::Heading, marker.text - indent, marker.text};
    } else if (line[indent] >= '0' && line[indent] <= '9') {
        marker.kind = MarkerKind::Number;
        const std::size_t end = std::min(line.find_first_not_of("0123456789", indent), line.size());
        if (end == line.size() || (line[end] != '.' && line[end] != ')')) {
            return std::nullopt;
        }
        marker.text = end + 1;
    } else if (line[indent] != '-' && line[indent] != '*' && line[indent] != '+') {
        return std::nullopt;
    }
    if (marker.text >= line.size() || (line[marker.text] != ' ' && line[marker.text] != '\t')) {
        return std::nullopt;
    }
    ++marker.text;
    return marker;
}

/// "**Title**: text" or "Title: text" apart.
IdeaText ideaOfEntry(std::string_view entry)
{
    entry = trimmed(entry);
    if (entry.starts_with("**")) {
        if (const auto end = entry.find("**", 2); end != std::string_view::npos) {
            std::string_view rest = entry.substr(end + 2);
            rest.remove_prefix(std::min(rest.find_first_not_of(" \t:.-\xe2\x80\x93\x94"), rest.size()));
            std::string_view title = entry.substr(2, end - 2);
            title.remove_suffix(title.ends_with(':') || title.ends_with('.') ? 1 : 0);
            return ideaOf(title, rest);
        }
    }
    const auto line = entry.find('\n');
    const auto colon = entry.find(": ");
    if (colon < line && colon <= 60 && colon > 0) {
        return ideaOf(entry.substr(0, colon), entry.substr(colon + 2));
    }
    return ideaOf({}, entry);
}

/// Which markers begin the ideas, as opposed to steps and details within one.
struct EntryRule {
    MarkerKind kind;
    std::size_t level;
};

/// The shallowest level of a kind that at least `atLeast` markers stand on.
std::optional<EntryRule> ruleFor(const std::vector<std::string_view>& lines, MarkerKind kind, std::size_t atLeast)
{
    std::map<std::size_t, std::size_t> counts;
    for (const std::string_view line : lines) {
        if (const auto marker = markerOf(line); marker && marker->kind == kind) {
            ++counts[marker->level];
        }
    }
    for (const auto& [level, count] : counts) {
        if (count >= atLeast) {
            return EntryRule{kind, level};
        }
    }
    return std::nullopt;
}

/// "### Idea 2" and "### 3. Vector loads" begin ideas; "### Analysis" does not.
bool headingsCount(const std::vector<std::string_view>& lines, const EntryRule& rule)
{
    return std::any_of(lines.begin(), lines.end(), [&rule](std::string_view line) {
        const auto marker = markerOf(line);
        if (!marker || marker->kind != MarkerKind::Heading || marker->level != rule.level) {
            return false;
        }
        const std::string title = plainLine(line.substr(marker->text));
        return !title.empty() && ((title[0] >= '0' && title[0] <= '9') || title.starts_with("Idea"));
    });
}

std::optional<EntryRule> entryRule(const std::vector<std::string_view>& lines)
{
    const auto headings = ruleFor(lines, MarkerKind::Heading, 2);
    if (headings && headingsCount(lines, *headings)) {
        return headings;
    }
    if (const auto numbers = ruleFor(lines, MarkerKind::Number, 2)) {
        return numbers;
    }
    if (const auto bullets = ruleFor(lines, MarkerKind::Bullet, 2)) {
        return bullets;
    }
    if (headings) {
        return headings;
    }
    const auto number = ruleFor(lines, MarkerKind::Number, 1);
    return number ? number : ruleFor(lines, MarkerKind::Bullet, 1);
}

/// The texts of the entries, continuation lines included. A paragraph that is not indented and stands behind an empty
/// line ends a list: it speaks about the list.
std::vector<std::string> entriesOf(const std::vector<std::string_view>& lines, const EntryRule& rule)
{
    std::vector<std::string> entries;
    bool inEntry = false, behindEmpty = false;
    for (const std::string_view line : lines) {
        const auto marker = markerOf(line);
        const bool heading = rule.kind == MarkerKind::Heading;
        if (marker && marker->kind == rule.kind && marker->level == rule.level) {
            const std::string_view own = line.substr(marker->text);
            entries.push_back(heading ? "**" + plainLine(own) + "**" : std::string(own));
            inEntry = true;
        } else if (marker && marker->kind == MarkerKind::Heading && (!heading || marker->level < rule.level)) {
            inEntry = false;
        } else if (inEntry && !heading && behindEmpty && !marker && !trimmed(line).empty() &&
                   line.find_first_not_of(" \t") <= rule.level) {
            inEntry = false;
        } else if (inEntry) {
            entries.back().append("\n").append(trimmed(line));
        }
        behindEmpty = trimmed(line).empty();
    }
    return entries;
}

std::vector<IdeaText> ideasFromMarkdown(std::string_view text)
{
    const std::vector<std::string_view> lines = splitLines(text);
    const auto rule = entryRule(lines);
    std::vector<IdeaText> ideas;
    if (!rule) {
        return ideas;
    }
    for (const std::string& entry : entriesOf(lines, *rule)) {
        if (IdeaText idea = ideaOfEntry(entry); !idea.text.empty() && ideas.size() < mostIdeas) {
            ideas.push_back(std::move(idea));
        }
    }
    return ideas;
}

} // namespace

std::vector<IdeaText> parseIdeas(std::string_view text)
{
    SplitAnswer split = splitReasoning(text);
    if (split.text.empty()) {
        split.text = std::move(split.reasoning); // a tag that was never closed
    }
    for (const CodeBlock& block : codeBlocks(split.text)) {
        if (block.language.empty() || block.language.starts_with("json")) {
            if (auto ideas = ideasFromJsonIn(block.text); !ideas.empty()) {
                return ideas;
            }
        }
    }
    if (auto ideas = ideasFromJsonIn(split.text); !ideas.empty()) {
        return ideas;
    }
    return ideasFromMarkdown(split.text);
}

} // namespace espalier::llm
