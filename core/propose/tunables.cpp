// SPDX-License-Identifier: Apache-2.0
#include "core/propose/tunables.h"

#include "core/base/text.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <optional>

namespace espalier {
namespace {

constexpr std::size_t mostValues = 64;
constexpr std::size_t mostTunables = 16;

struct Line {
    std::string_view text; ///< without the line end
    std::size_t begin = 0; ///< offset in the source
    std::size_t next = 0;  ///< offset of the following line
};

std::vector<Line> linesOf(std::string_view source)
{
    std::vector<Line> lines;
    std::size_t at = 0;
    while (at < source.size()) {
        const std::size_t end = std::min(source.find('\n', at), source.size());
        const std::size_t next = std::min(end + 1, source.size());
        std::string_view text = source.substr(at, end - at);
        if (!text.empty() && text.back() == '\r') {
            text.remove_suffix(1);
        }
        lines.push_back({text, at, next});
        at = next;
    }
    return lines;
}

bool isBlank(char c)
{
    return c == ' ' || c == '\t';
}

/// Takes a word (letters, digits, underscore) off the front, and blanks before it.
std::string_view takeWord(std::string_view& text)
{
    std::size_t at = 0;
    while (at < text.size() && isBlank(text[at])) {
        ++at;
    }
    const std::size_t begin = at;
    while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_')) {
        ++at;
    }
    const std::string_view word = text.substr(begin, at - begin);
    text.remove_prefix(at);
    return word;
}

bool isName(std::string_view word)
{
    return !word.empty() && !std::isdigit(static_cast<unsigned char>(word.front()));
}

std::optional<std::int64_t> wholeNumber(std::string_view word)
{
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (word.empty() || error != std::errc() || end != word.data() + word.size()) {
        return std::nullopt;
    }
    return value;
}

/// What stands after "// espalier:" on a line of its own, or nullopt.
std::optional<std::string_view> markOf(std::string_view line)
{
    std::string_view text = trimmed(line);
    if (!text.starts_with("//")) {
        return std::nullopt;
    }
    text = trimmed(text.substr(2));
    if (!text.starts_with("espalier:")) {
        return std::nullopt;
    }
    return trimmed(text.substr(9));
}

std::string missingDefine(const std::string& name)
{
    return fmt::format("Expected \"#define {0} VALUE\" or \"constexpr int {0} = VALUE;\" on the line below.", name);
}

struct Declared {
    std::string name;
    std::vector<std::int64_t> values;
};

/// "tune NAME = a b c" after its first word. Errors: the sentence.
std::expected<Declared, std::string> readDeclaration(std::string_view text)
{
    Declared declared;
    declared.name = takeWord(text);
    if (!isName(declared.name)) {
        return std::unexpected(std::string("Expected a name after \"tune\", as in \"tune BLOCK = 128 256\"."));
    }
    text = trimmed(text);
    if (!text.starts_with('=')) {
        return std::unexpected(fmt::format("Expected \"=\" and whole numbers after \"tune {}\".", declared.name));
    }
    for (std::string_view rest = trimmed(text.substr(1)); !rest.empty(); rest = trimmed(rest)) {
        std::size_t length = 0;
        while (length < rest.size() && !isBlank(rest[length])) {
            ++length;
        }
        const auto value = wholeNumber(rest.substr(0, length));
        if (!value) {
            return std::unexpected(fmt::format("Expected whole numbers for {}, found \"{}\".", declared.name,
                                               printable(rest.substr(0, length), 40)));
        }
        if (std::find(declared.values.begin(), declared.values.end(), *value) == declared.values.end()) {
            declared.values.push_back(*value);
        }
        rest.remove_prefix(length);
    }
    if (declared.values.empty() || declared.values.size() > mostValues) {
        return std::unexpected(fmt::format("Expected 1 to {} whole numbers for {}.", mostValues, declared.name));
    }
    return declared;
}

/// What stands for the value in `#define NAME v`; nullopt: the line is none of NAME.
std::optional<std::string_view> macroValue(std::string_view rest, std::string_view name)
{
    if (!rest.starts_with('#')) {
        return std::nullopt;
    }
    rest.remove_prefix(1);
    if (takeWord(rest) != "define" || takeWord(rest) != name || rest.empty() || !isBlank(rest.front())) {
        return std::nullopt;
    }
    rest = trimmed(rest);
    std::size_t length = 0;
    while (length < rest.size() && !isBlank(rest[length]) && rest.substr(length, 2) != "//" &&
           rest.substr(length, 2) != "/*") {
        ++length;
    }
    const std::string_view after = trimmed(rest.substr(length));
    return after.empty() || after.starts_with("//") || after.starts_with("/*") ? rest.substr(0, length) : rest;
}

/// Likewise in `constexpr int NAME = v;`.
std::optional<std::string_view> constantValue(std::string_view rest, std::string_view name)
{
    bool constant = false;
    for (std::string_view word = takeWord(rest); word != name; word = takeWord(rest)) {
        if (word.empty()) {
            return std::nullopt;
        }
        constant = constant || word == "constexpr" || word == "const";
        rest.remove_prefix(rest.starts_with("::") ? 2 : 0); // std::int64_t
    }
    rest = trimmed(rest);
    const std::size_t end = rest.find(';');
    if (!constant || !rest.starts_with('=') || end == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view after = trimmed(rest.substr(end + 1));
    return after.empty() || after.starts_with("//") || after.starts_with("/*") ? trimmed(rest.substr(1, end - 1))
                                                                               : trimmed(rest.substr(1));
}

/// The line under a declaration that gives the value. Errors: the sentence.
std::expected<Tunable, std::string> readDefine(const Line& line, int number, const Declared& declared)
{
    const std::string_view text = trimmed(line.text);
    auto value = macroValue(text, declared.name);
    value = value ? value : constantValue(text, declared.name);
    if (!value) {
        return std::unexpected(missingDefine(declared.name));
    }
    const auto current = wholeNumber(*value);
    if (!current) {
        return std::unexpected(fmt::format("The value of {} must be one whole number to be tuned, found \"{}\".",
                                           declared.name, printable(*value, 40)));
    }
    Tunable tunable{declared.name, declared.values, *current, number, 0, 0};
    tunable.begin = line.begin + static_cast<std::size_t>(value->data() - line.text.data());
    tunable.end = tunable.begin + value->size();
    if (tunable.values.size() == 1 && tunable.values.front() == *current) {
        return std::unexpected(fmt::format("{} has no value but the one it has.", declared.name));
    }
    return tunable;
}

class MarkReader
{
public:
    explicit MarkReader(std::string_view source) : m_source(source), m_lines(linesOf(source)) {}

    SourceMarks run()
    {
        for (std::size_t i = 0; i < m_lines.size(); ++i) {
            if (const auto mark = markOf(m_lines[i].text)) {
                readMark(*mark, i);
            }
        }
        if (m_lockedSince) {
            complain(*m_lockedSince, "\"lock\" is never unlocked: everything below it counts as locked.");
            closeLock(m_lines.size() - 1);
        }
        dropUnknownConditions();
        return std::move(m_marks);
    }

private:
    void complain(std::size_t index, std::string sentence)
    {
        m_marks.problems.push_back({static_cast<int>(index) + 1, std::move(sentence)});
    }

    void readMark(std::string_view text, std::size_t index)
    {
        const std::string_view word = takeWord(text);
        if (word == "lock" && trimmed(text).empty()) {
            if (m_lockedSince) {
                complain(index, "\"lock\" inside locked lines.");
            } else {
                m_lockedSince = index;
            }
        } else if (word == "unlock" && trimmed(text).empty()) {
            if (m_lockedSince) {
                closeLock(index);
            } else {
                complain(index, "\"unlock\" without a \"lock\" above it.");
            }
        } else if (word == "tune" && text.starts_with("-if") && (text.size() == 3 || isBlank(text[3]))) {
            readCondition(text.substr(3), index);
        } else if (word == "tune") {
            readTunable(text, index);
        } else if (word == "std") { // the compiler's (language_standard.h), which says what is wrong with it
        } else {
            complain(index, "Expected \"tune NAME = a b c\", \"tune-if CONDITION\", \"lock\", \"unlock\" or "
                            "\"std c++20\" after \"espalier:\".");
        }
    }

    void closeLock(std::size_t last)
    {
        const std::size_t first = *m_lockedSince;
        const std::size_t begin = m_lines[first].begin;
        m_marks.locked.push_back({static_cast<int>(first) + 1, static_cast<int>(last) + 1,
                                  std::string(m_source.substr(begin, m_lines[last].next - begin))});
        m_lockedSince.reset();
    }

    void readCondition(std::string_view text, std::size_t index)
    {
        auto condition = TuneCondition::read(text);
        if (!condition) {
            return complain(index, condition.error().message);
        }
        m_conditionLines.push_back(index);
        m_marks.conditions.push_back(std::move(*condition));
    }

    /// A condition may stand above the tunables that it names, so it is checked at the end.
    void dropUnknownConditions()
    {
        std::vector<TuneCondition> kept;
        for (std::size_t i = 0; i < m_marks.conditions.size(); ++i) {
            const auto& names = m_marks.conditions[i].names();
            const auto unknown = std::find_if(names.begin(), names.end(), [this](const std::string& name) {
                return std::none_of(m_marks.tunables.begin(), m_marks.tunables.end(),
                                    [&name](const Tunable& tunable) { return tunable.name == name; });
            });
            if (unknown == names.end()) {
                kept.push_back(std::move(m_marks.conditions[i]));
            } else {
                complain(m_conditionLines[i], fmt::format("The condition names {}, which is no tunable.", *unknown));
            }
        }
        m_marks.conditions = std::move(kept);
    }

    void readTunable(std::string_view text, std::size_t index)
    {
        const auto declared = readDeclaration(text);
        if (!declared) {
            return complain(index, declared.error());
        }
        if (m_lockedSince) {
            return complain(index, fmt::format("{} stands in locked lines and is not tuned.", declared->name));
        }
        for (const Tunable& other : m_marks.tunables) {
            if (other.name == declared->name) {
                return complain(index, fmt::format("{} is declared twice.", declared->name));
            }
        }
        if (m_marks.tunables.size() == mostTunables) {
            return complain(index, fmt::format("More than {} tunables in one source.", mostTunables));
        }
        std::size_t below = index + 1;
        while (below < m_lines.size() && trimmed(m_lines[below].text).empty()) {
            ++below;
        }
        if (below == m_lines.size()) {
            return complain(index, missingDefine(declared->name));
        }
        auto tunable = readDefine(m_lines[below], static_cast<int>(below) + 1, *declared);
        if (!tunable) {
            return complain(index, tunable.error());
        }
        m_marks.tunables.push_back(std::move(*tunable));
    }

    std::string_view m_source;
    std::vector<Line> m_lines;
    std::optional<std::size_t> m_lockedSince;
    std::vector<std::size_t> m_conditionLines;
    SourceMarks m_marks;
};

} // namespace

SourceMarks readMarks(std::string_view source)
{
    return MarkReader(source).run();
}

Result<std::string> withTunables(std::string_view source, const TunableValues& values)
{
    const SourceMarks marks = readMarks(source);
    for (const auto& [name, value] : values) {
        const auto found = std::find_if(marks.tunables.begin(), marks.tunables.end(),
                                        [&name](const Tunable& tunable) { return tunable.name == name; });
        if (found == marks.tunables.end()) {
            return fail(ErrorCode::InvalidInput, fmt::format("The kernel declares no tunable {}.", name));
        }
        if (value != found->current &&
            std::find(found->values.begin(), found->values.end(), value) == found->values.end()) {
            return fail(ErrorCode::InvalidInput, fmt::format("{} is not among the values that line {} allows for {}.",
                                                             value, found->line, name));
        }
    }
    std::string out;
    std::size_t copied = 0;
    for (const Tunable& tunable : marks.tunables) {
        if (const auto wanted = values.find(tunable.name);
            wanted != values.end() && wanted->second != tunable.current) {
            out += source.substr(copied, tunable.begin - copied);
            out += std::to_string(wanted->second);
            copied = tunable.end;
        }
    }
    out += source.substr(copied);
    return out;
}

Result<void> checkLocks(std::string_view original, std::string_view changed)
{
    std::size_t from = 0;
    for (const LockedLines& locked : readMarks(original).locked) {
        const std::string_view text = trimmed(locked.text);
        const std::size_t at = changed.find(text, from);
        if (at == std::string_view::npos) {
            return fail(ErrorCode::InvalidInput,
                        fmt::format("Lines {} to {} of the parent are locked and were changed: keep them as they are.",
                                    locked.first, locked.last));
        }
        from = at + text.size();
    }
    return {};
}

} // namespace espalier
