// SPDX-License-Identifier: Apache-2.0
#include "core/build/compile_messages.h"

#include "core/base/text.h"
#include "core/build/ptx_lines.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cxxabi.h>
#include <fmt/format.h>
#include <memory>
#include <optional>

namespace espalier {

namespace {

constexpr std::size_t mostMessages = 200;
constexpr std::size_t longestText = 2000;

std::optional<int> numberIn(std::string_view text)
{
    int value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

/// The number that ends right before `end` in `line`, such as 31 in "Used 31 registers".
int numberBefore(std::string_view line, std::string_view what)
{
    const std::size_t at = line.find(what);
    if (at == std::string_view::npos) {
        return 0;
    }
    std::size_t begin = at;
    while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') {
        --begin;
    }
    return numberIn(line.substr(begin, at - begin)).value_or(0);
}

std::string fileName(std::string_view path)
{
    const std::size_t slash = path.rfind('/');
    return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

/// The kind of message that `rest` begins with ("error: …", "error #20-D: …", "warning: …", "fatal error: …"); its
/// text.
struct Kind {
    bool error = true;
    std::string_view text;
};

std::optional<Kind> kindOf(std::string_view rest)
{
    rest = trimmed(rest);
    for (const auto& [word, error] : {std::pair<std::string_view, bool>("catastrophic error", true),
                                      {"fatal error", true},
                                      {"internal error", true},
                                      {"error", true},
                                      {"Error", true},
                                      {"warning", false},
                                      {"Warning", false}}) {
        if (rest.starts_with(word)) {
            const std::size_t colon = rest.find(':');
            if (colon != std::string_view::npos && colon < word.size() + 12) {
                return Kind{error, trimmed(rest.substr(colon + 1))};
            }
        }
    }
    return std::nullopt;
}

class OutputParser
{
public:
    OutputParser(std::string_view output, std::string_view source, std::string_view ptx, std::string_view sourceName)
        : m_lines(splitLines(output)), m_source(splitLines(source)), m_ptx(ptx, sourceName), m_sourceName(sourceName)
    {
    }

    CompilerOutput parse()
    {
        for (m_at = 0; m_at < m_lines.size(); ++m_at) {
            const std::string_view line = m_lines[m_at];
            if (line.starts_with("ptxas ")) {
                ptxas(line);
            } else if (line.starts_with("nvcc ")) {
                driver(line);
            } else if (!edg(line) && !gcc(line)) {
                linkerOrAssembler(line);
            }
        }
        return std::move(m_result);
    }

private:
    void add(CompileMessage message)
    {
        message.text = printable(message.text, longestText);
        auto& all = m_result.messages;
        if (all.size() < mostMessages && std::find(all.begin(), all.end(), message) == all.end()) {
            all.push_back(std::move(message));
        }
    }

    /// `FILE(LINE): error: TEXT`, then the line and a caret.
    bool edg(std::string_view line)
    {
        const std::size_t close = line.find("): ");
        if (close == std::string_view::npos) {
            return false;
        }
        const std::size_t open = line.rfind('(', close);
        if (open == std::string_view::npos || open == 0) {
            return false;
        }
        const auto number = numberIn(line.substr(open + 1, close - open - 1));
        const auto kind = kindOf(line.substr(close + 3));
        if (!number || !kind) {
            return false;
        }
        CompileMessage message = {fileName(line.substr(0, open)), *number, 0, kind->error, std::string(kind->text)};
        if (message.file.ends_with(".cu")) {
            message.column = caretColumn(*number);
        }
        add(std::move(message));
        return true;
    }

    /// EDG shows the preprocessed line behind two blanks: a column only means something where no macro changed it.
    int caretColumn(int number) const
    {
        if (m_at + 2 >= m_lines.size() || number < 1 || static_cast<std::size_t>(number) > m_source.size()) {
            return 0;
        }
        const std::string_view shown = m_lines[m_at + 1], caret = m_lines[m_at + 2];
        const std::size_t at = caret.find('^');
        const bool same =
            shown.starts_with("  ") && trimmed(shown) == trimmed(m_source[static_cast<std::size_t>(number) - 1]);
        return same && at != std::string_view::npos && at >= 2 ? static_cast<int>(at - 1) : 0;
    }

    /// `FILE:LINE:COLUMN: error: TEXT` or `FILE:LINE: Error: TEXT` (the assembler).
    bool gcc(std::string_view line)
    {
        const std::size_t first = line.find(':');
        if (first == std::string_view::npos || first == 0) {
            return false;
        }
        const std::size_t second = line.find(':', first + 1);
        const auto number =
            second == std::string_view::npos ? std::nullopt : numberIn(line.substr(first + 1, second - first - 1));
        if (!number) {
            return false;
        }
        const std::size_t third = line.find(':', second + 1);
        const auto column =
            third == std::string_view::npos ? std::nullopt : numberIn(line.substr(second + 1, third - second - 1));
        const auto kind = kindOf(line.substr((column ? third : second) + 1));
        if (!kind) {
            return false;
        }
        std::string file = fileName(line.substr(0, first));
        const bool assembler = file.ends_with(".s"); // a generated file: its line says nothing
        add({assembler ? "assembler" : std::move(file), assembler ? 0 : *number, column.value_or(0), kind->error,
             std::string(kind->text)});
        return true;
    }

    void linkerOrAssembler(std::string_view line)
    {
        for (const std::string_view mark :
             {"undefined reference to", "multiple definition of", "cannot find -l", "relocation truncated to fit"}) {
            if (const std::size_t at = line.find(mark); at != std::string_view::npos) {
                add({"linker", 0, 0, true, std::string(line.substr(at))});
            }
        }
        for (const std::string_view mark :
             {"virtual memory exhausted", "out of memory allocating", ": internal compiler error", "Killed signal"}) {
            if (line.find(" | ") != std::string_view::npos) {
                break; // a line of the source, as gcc shows it: it may say anything
            }
            m_result.crashed = m_result.crashed || line.find(mark) != std::string_view::npos;
        }
    }

    /// `nvcc error   : 'cicc' died due to signal 11 (Invalid memory reference)`, `nvcc fatal   : Unknown option …`.
    void driver(std::string_view line)
    {
        const std::size_t colon = line.find(" : ");
        if (colon == std::string_view::npos) {
            return;
        }
        m_result.crashed = m_result.crashed || line.find("died due to signal") != std::string_view::npos;
        add({"nvcc", 0, 0, !line.starts_with("nvcc warning"), std::string(trimmed(line.substr(colon + 3)))});
    }

    void ptxas(std::string_view line)
    {
        if (line.starts_with("ptxas info")) {
            information(line);
            return;
        }
        const std::size_t at = line.find(" : ");
        if (at == std::string_view::npos) {
            return;
        }
        const bool warning = line.find("warning") < at;
        const std::string_view said = trimmed(line.substr(at + 3));
        if (said.find("aborted due to errors") != std::string_view::npos) {
            return;
        }
        std::optional<PtxLines::Place> place;
        std::string text = withNames(said, place);
        if (const std::size_t mark = line.find(", line "); mark < at) {
            const std::string_view rest = line.substr(mark + 7);
            const std::string_view number = rest.substr(0, rest.find(';'));
            const int inPtx = numberIn(number).value_or(0);
            place = m_ptx.placeOf(inPtx);
            const std::string_view shown = m_ptx.text(inPtx);
            text += shown.empty() ? fmt::format(" (PTX line {})", number) : fmt::format(" (PTX: {})", shown);
        }
        if (said.find("global constant data") != std::string_view::npos) {
            place = constantsPlace();
        }
        if (place) {
            add({std::move(place->file), place->line, 0, !warning, "ptxas: " + text});
        } else {
            add({"ptxas", 0, 0, !warning, std::move(text)});
        }
    }

    /// The declaration of the largest constant: PTX has no marks for data.
    std::optional<PtxLines::Place> constantsPlace() const
    {
        std::string name = demangled(std::string(m_ptx.largestConstant()));
        name.erase(0, name.rfind(':') + 1); // npos + 1 is 0
        for (std::size_t i = 0; !name.empty() && i < m_source.size(); ++i) {
            const std::size_t mark = m_source[i].find("__constant__");
            if (mark != std::string_view::npos && m_source[i].find(name, mark) != std::string_view::npos) {
                return PtxLines::Place{m_sourceName, static_cast<int>(i) + 1};
            }
        }
        return std::nullopt;
    }

    /// The functions in ptxas's quotes by the names that the source gives them; the first one's place, if it is known.
    std::string withNames(std::string_view said, std::optional<PtxLines::Place>& place) const
    {
        std::string text;
        while (!said.empty()) {
            const std::size_t open = said.find('\'');
            const std::size_t close = open == std::string_view::npos ? open : said.find('\'', open + 1);
            if (close == std::string_view::npos) {
                break;
            }
            const std::string symbol(said.substr(open + 1, close - open - 1));
            place = place ? place : m_ptx.placeOfFunction(symbol);
            text += fmt::format("{}'{}'", said.substr(0, open), demangled(symbol));
            said.remove_prefix(close + 1);
        }
        return text + std::string(said);
    }

    void information(std::string_view line)
    {
        const std::string_view begin = "Compiling entry function '";
        if (const std::size_t at = line.find(begin); at != std::string_view::npos) {
            const std::string_view rest = line.substr(at + begin.size());
            if (m_result.kernels.size() < 1000) {
                m_result.kernels.emplace_back().kernel =
                    printable(demangled(std::string(rest.substr(0, rest.find('\'')))), longestText);
            }
            m_inKernel = true;
        } else if (line.find("Used ") != std::string_view::npos && m_inKernel && !m_result.kernels.empty()) {
            m_result.kernels.back().registers = numberBefore(line, " registers");
            m_result.kernels.back().sharedBytes = numberBefore(line, " bytes smem");
            m_inKernel = false;
        } else if (line.find("Function properties for") != std::string_view::npos && m_inKernel &&
                   m_at + 1 < m_lines.size()) {
            const std::string_view next = m_lines[m_at + 1];
            KernelResources& kernel = m_result.kernels.back();
            kernel.stackBytes = std::max(kernel.stackBytes, numberBefore(next, " bytes stack frame"));
            kernel.spillStoreBytes = std::max(kernel.spillStoreBytes, numberBefore(next, " bytes spill stores"));
            kernel.spillLoadBytes = std::max(kernel.spillLoadBytes, numberBefore(next, " bytes spill loads"));
        }
    }

    std::vector<std::string_view> m_lines, m_source;
    PtxLines m_ptx;
    std::string m_sourceName;
    std::size_t m_at = 0;
    bool m_inKernel = false;
    CompilerOutput m_result;
};

} // namespace

CompilerOutput parseCompilerOutput(std::string_view output, std::string_view source, std::string_view ptx,
                                   std::string_view sourceName)
{
    return OutputParser(output, source, ptx, sourceName).parse();
}

std::string firstError(const std::vector<CompileMessage>& messages)
{
    const auto isError = [](const CompileMessage& message) { return message.error; };
    const auto first = std::find_if(messages.begin(), messages.end(), isError);
    if (first == messages.end()) {
        return {};
    }
    const auto more = std::count_if(messages.begin(), messages.end(), isError) - 1;
    const std::string place = first->line > 0 ? fmt::format("{}, line {}", first->file, first->line) : first->file;
    return fmt::format("{}: {}{}", place, first->text, more > 0 ? fmt::format(" (and {} more)", more) : std::string());
}

std::string demangled(const std::string& symbol)
{
    if (!symbol.starts_with("_Z") || symbol.size() > 4096) {
        return symbol;
    }
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
    return text && status == 0 ? std::string(text.get()) : symbol;
}

} // namespace espalier
