// SPDX-License-Identifier: Apache-2.0
#include "core/build/slip_advice.h"

#include "core/base/text.h"
#include "core/build/entry_header.h"
#include "core/model/language_standard.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace espalier {

namespace {

std::string shownPlace(const CompileMessage& message)
{
    return message.line > 0 ? fmt::format("{}, line {}", message.file, message.line) : message.file;
}

/// "torch/extension.h" of "torch/extension.h: No such file or directory".
std::string_view missingHeader(std::string_view text)
{
    const std::size_t at = text.find(": No such file or directory");
    return at == std::string_view::npos ? std::string_view() : text.substr(0, at);
}

bool isOfPyTorch(std::string_view header)
{
    constexpr std::array<std::string_view, 6> folders = {"torch/", "ATen/", "c10/", "pybind11/", "THC/", "Python.h"};
    return std::any_of(folders.begin(), folders.end(),
                       [&](std::string_view folder) { return header.starts_with(folder); });
}

std::string headerAdvice(std::string_view header, const Task& task)
{
    if (isOfPyTorch(header)) {
        return fmt::format("a kernel here is no extension of PyTorch: write {} with plain pointers",
                           entryPrototype(task));
    }
    return "a kernel may include the toolkit's and the C++ library's headers, and those in the folders that the task's "
           "build.include names";
}

/// EDG names a word that it does not know in quotes, and members of std that <version> hides.
bool isOfCpp20(std::string_view text)
{
    constexpr std::array<std::string_view, 12> words = {
        "\"concept\"", "\"requires\"", "\"consteval\"",      "\"constinit\"", "\"bit_cast\"",       "\"span\"",
        "\"ranges\"",  "\"numbers\"",  "\"floating_point\"", "\"integral\"",  "\"has_single_bit\"", "\"bit_ceil\""};
    const bool unknown =
        text.find("is undefined") != std::string_view::npos || text.find("has no member") != std::string_view::npos;
    return unknown && std::any_of(words.begin(), words.end(),
                                  [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

/// Words that EDG and gcc have for a second declaration that does not agree with the first, which entry.h holds; the
/// name stands in them or, for want of it, in the line.
bool isOtherSignature(const CompileMessage& message, std::string_view source, const std::string& name)
{
    constexpr std::array<std::string_view, 6> words = {"more than one instance of overloaded function",
                                                       "distinguished by return type alone",
                                                       "is incompatible with",
                                                       "linkage specification",
                                                       "has already been declared",
                                                       "was declared"};
    const std::string_view text = message.text;
    if (std::none_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; })) {
        return false;
    }
    const std::vector<std::string_view> lines = splitLines(source);
    const bool known = message.line > 0 && static_cast<std::size_t>(message.line) <= lines.size();
    const std::string_view line = known ? lines[static_cast<std::size_t>(message.line) - 1] : std::string_view();
    const std::string called = name + "(";
    return text.find(fmt::format("\"{}\"", name)) != std::string_view::npos ||
           text.find(called) != std::string_view::npos || line.find(called) != std::string_view::npos;
}

} // namespace

std::string slipAdvice(const std::vector<CompileMessage>& messages, std::string_view source, const Task& task)
{
    const auto first =
        std::find_if(messages.begin(), messages.end(), [](const CompileMessage& message) { return message.error; });
    if (first == messages.end()) {
        return {};
    }
    if (const std::string_view header = missingHeader(first->text); !header.empty()) {
        return fmt::format("{}: {}; {}", shownPlace(*first), first->text, headerAdvice(header, task));
    }
    if (const std::string standard = languageStandard(source, task); standard < "c++20" && isOfCpp20(first->text)) {
        return fmt::format("{}: {}; it was compiled as {}: a line \"// espalier: std c++20\" asks for C++20",
                           shownPlace(*first), first->text, standard);
    }
    for (const auto& [name, prototype] : {std::pair(task.entry, entryPrototype(task)),
                                          std::pair(task.entry + "_workspace", workspacePrototype(task))}) {
        if (isOtherSignature(*first, source, name)) {
            return fmt::format("{}: {} has another signature than the task's; it must be {}", shownPlace(*first), name,
                               prototype);
        }
    }
    return {};
}

} // namespace espalier
