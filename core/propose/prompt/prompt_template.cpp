// SPDX-License-Identifier: Apache-2.0
#include "core/propose/prompt/prompt_template.h"

#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/resources.h"
#include "core/base/text.h"
#include "core/propose/prompt/channels.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier {
namespace {

/// Calls `text` for what stands between placeholders and `name` for each of them. False: one is not closed.
template <typename Text, typename Name>
bool walk(std::string_view whole, Text&& text, Name&& name)
{
    std::size_t at = 0;
    for (;;) {
        const std::size_t open = whole.find("{{", at);
        if (open == std::string_view::npos) {
            text(whole.substr(at));
            return true;
        }
        const std::size_t close = whole.find("}}", open);
        if (close == std::string_view::npos) {
            return false;
        }
        text(whole.substr(at, open - at));
        at = close + 2;
        const bool alone = (open == 0 || whole[open - 1] == '\n') && (at == whole.size() || whole[at] == '\n');
        name(trimmed(whole.substr(open + 2, close - open - 2)), alone);
        if (alone && at < whole.size()) {
            ++at; // the line end belongs to the placeholder
        }
    }
}

} // namespace

std::vector<std::string> PromptTemplate::placeholders() const
{
    std::vector<std::string> names;
    for (const std::string* part : {&system, &user}) {
        walk(
            *part, [](std::string_view) {},
            [&names](std::string_view found, bool) {
                if (std::find(names.begin(), names.end(), found) == names.end()) {
                    names.emplace_back(found);
                }
            });
    }
    return names;
}

const std::vector<std::string>& promptNames()
{
    static const std::vector<std::string> names = {"idea",   "implement", "repair",
                                                   "refine", "crossover", "summarise-lessons"};
    return names;
}

Result<PromptTemplate> parsePrompt(std::string name, std::string file, std::string_view text)
{
    PromptTemplate parsed;
    parsed.hash = sha256(text);
    parsed.name = std::move(name);
    parsed.file = std::move(file);
    const std::size_t rule = text.starts_with("---\n") ? 0 : text.find("\n---\n");
    if (rule == std::string_view::npos) {
        parsed.user = text;
    } else {
        parsed.system = trimmed(text.substr(0, rule));
        parsed.user = text.substr(text.find("---\n", rule) + 4);
    }
    for (const std::string* part : {&parsed.system, &parsed.user}) {
        if (!walk(*part, [](std::string_view) {}, [](std::string_view, bool) {})) {
            return fail(ErrorCode::InvalidInput,
                        fmt::format("{}: a {{{{ is not closed by }}}} in the prompt.", parsed.file));
        }
    }
    for (const std::string& placeholder : parsed.placeholders()) {
        if (std::find(channelNames().begin(), channelNames().end(), placeholder) == channelNames().end()) {
            return fail(ErrorCode::InvalidInput,
                        fmt::format("{}: there is no channel \"{}\" for {{{{{}}}}}: choose from {}.", parsed.file,
                                    placeholder, placeholder, fmt::join(channelNames(), ", ")));
        }
    }
    if (trimmed(parsed.user).empty()) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("{}: the prompt has no text below its `---` line.", parsed.file));
    }
    return parsed;
}

Result<PromptTemplate> loadPrompt(const std::string& name)
{
    const std::filesystem::path own = configFolder() / "prompts" / (name + ".md");
    std::error_code ignored;
    const std::filesystem::path file =
        std::filesystem::exists(own, ignored) ? own : resourceFile("prompts/" + name + ".md");
    ESPALIER_TRY(const std::string text, readFile(file, std::size_t{1} << 20));
    return parsePrompt(name, file.string(), text);
}

std::string filled(std::string_view text, const std::map<std::string, std::string>& channels)
{
    std::string result;
    walk(
        text, [&result](std::string_view between) { result += between; },
        [&](std::string_view name, bool alone) {
            const auto found = channels.find(std::string(name));
            if (found == channels.end() || found->second.empty()) {
                return;
            }
            result += found->second;
            if (alone && !found->second.ends_with('\n')) {
                result += '\n';
            }
        });
    return result;
}

} // namespace espalier
