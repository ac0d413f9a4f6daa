// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/listing_text.h"

#include "core/base/text.h"

#include <charconv>
#include <map>
#include <utility>

namespace espalier {

namespace {

constexpr std::size_t deepestChain = 32;

std::string withoutFolder(std::string_view path)
{
    const auto slash = path.rfind('/');
    return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

/// Takes a number off the front, blanks before it skipped; 0 where there is none.
int takeNumber(std::string_view& rest)
{
    while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t')) {
        rest.remove_prefix(1);
    }
    int value = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    return error == std::errc() ? value : 0;
}

/// What stands between the first pair of quotes; `rest` goes on behind them.
std::string_view takeQuoted(std::string_view& rest)
{
    const auto open = rest.find('"');
    const auto close = open == std::string_view::npos ? open : rest.find('"', open + 1);
    if (close == std::string_view::npos) {
        rest = {};
        return {};
    }
    const std::string_view found = rest.substr(open + 1, close - open - 1);
    rest.remove_prefix(close + 1);
    return found;
}

struct PtxPlace {
    int file = 0, line = 0;
    bool operator<(const PtxPlace& other) const { return std::pair(file, line) < std::pair(other.file, other.line); }
};

class PtxReader
{
public:
    explicit PtxReader(std::string_view ptx) : m_lines(splitLines(ptx)) { readFiles(); }

    std::vector<ListingLine> read()
    {
        for (const std::string_view raw : m_lines) {
            const std::string_view line = trimmed(raw);
            if (line.starts_with(".section")) {
                m_debug = true; // debug sections stand behind all code
            }
            if (m_debug || line.starts_with(".file")) {
                continue;
            }
            if (line.starts_with(".loc")) {
                takePlace(line.substr(4));
                continue;
            }
            add(raw, line);
        }
        while (!m_out.empty() && trimmed(m_out.back().text).empty()) {
            m_out.pop_back();
        }
        return std::move(m_out);
    }

private:
    void readFiles()
    {
        for (const std::string_view raw : m_lines) {
            std::string_view line = trimmed(raw);
            if (line.starts_with(".file")) {
                line.remove_prefix(5);
                const int number = takeNumber(line);
                m_files[number] = withoutFolder(takeQuoted(line));
            }
        }
    }

    /// "1 5 9, function_name $L__info_string0, inlined_at 1 17 5": the caller's place names only itself; where that was
    /// inlined in turn is known from its own .loc, which came before.
    void takePlace(std::string_view rest)
    {
        const PtxPlace own{takeNumber(rest), takeNumber(rest)};
        m_chain = {own};
        constexpr std::string_view word = "inlined_at";
        if (const auto found = rest.find(word); found != std::string_view::npos) {
            rest.remove_prefix(found + word.size());
            const PtxPlace caller{takeNumber(rest), takeNumber(rest)};
            m_callerOf[own] = caller;
            for (PtxPlace at = caller; m_chain.size() < deepestChain;) {
                m_chain.push_back(at);
                const auto above = m_callerOf.find(at);
                if (above == m_callerOf.end()) {
                    break;
                }
                at = above->second;
            }
        } else {
            m_callerOf.erase(own);
        }
    }

    void add(std::string_view raw, std::string_view line)
    {
        if (const auto entry = line.find(".entry "), called = line.find(".func ");
            m_depth == 0 && (entry != std::string_view::npos || called != std::string_view::npos)) {
            std::string_view name = line.substr(entry != std::string_view::npos ? entry + 7 : called + 6);
            if (name.starts_with("(")) { // a function's result stands before its name
                const auto close = name.find(')');
                name = close == std::string_view::npos ? std::string_view() : trimmed(name.substr(close + 1));
            }
            m_function = std::string(name.substr(0, name.find_first_of("( \t")));
        }
        ListingLine out;
        out.text = std::string(raw);
        m_depth += line == "{" || line.ends_with("{") ? 1 : 0;
        if (m_depth > 0) {
            out.function = m_function;
        }
        out.instruction = m_depth > 0 && line.ends_with(";") && !line.starts_with(".") && !line.starts_with("//");
        if (out.instruction) {
            for (const PtxPlace& place : m_chain) {
                const auto file = m_files.find(place.file);
                if (place.line > 0) {
                    out.chain.push_back({file == m_files.end() ? std::string() : file->second, place.line});
                }
            }
        }
        if (line == "}" || line.ends_with("}")) {
            m_depth = std::max(0, m_depth - 1);
            if (m_depth == 0) {
                m_function.clear();
                m_chain.clear();
                m_callerOf.clear();
            }
        }
        m_out.push_back(std::move(out));
    }

    std::vector<std::string_view> m_lines;
    std::map<int, std::string> m_files;
    std::map<PtxPlace, PtxPlace> m_callerOf;
    std::vector<PtxPlace> m_chain;
    std::vector<ListingLine> m_out;
    std::string m_function;
    int m_depth = 0;
    bool m_debug = false;
};

class SassReader
{
public:
    std::vector<ListingLine> read(std::string_view disassembly)
    {
        for (const std::string_view raw : splitLines(disassembly)) {
            const std::string_view line = trimmed(raw);
            if (line.starts_with("//----")) {
                dropPadding();
                enter(line);
            } else if (line.starts_with("//## File")) {
                takePlace(line);
            } else if (!m_function.empty()) {
                add(line);
            }
        }
        dropPadding();
        return std::move(m_out);
    }

private:
    /// "//--------------------- .text._Z4norm       --------------------------"
    void enter(std::string_view line)
    {
        constexpr std::string_view prefix = ".text.";
        const auto found = line.find(prefix);
        m_function.clear();
        m_chain.clear();
        m_fresh = true;
        if (found != std::string_view::npos) {
            const std::string_view name = line.substr(found + prefix.size());
            m_function = std::string(name.substr(0, name.find(' ')));
            m_out.push_back({m_function + ":", m_function, std::nullopt, false, {}});
        }
    }

    /// One remark per link of the chain, innermost first; the first one after an instruction starts a new chain.
    void takePlace(std::string_view line)
    {
        const std::string file = withoutFolder(takeQuoted(line));
        const auto word = line.find("line ");
        if (word == std::string_view::npos) {
            return;
        }
        line.remove_prefix(word + 5);
        const ListingPlace place{file, takeNumber(line)};
        if (std::exchange(m_fresh, false)) {
            m_chain.clear();
        }
        if (m_chain.size() < deepestChain) {
            m_chain.push_back(place);
        }
    }

    /// "/*0070*/    @P0 BRA …": the predicate in a column of its own, without the wide gap that nvdisasm leaves for it.
    static std::string instructionText(std::string_view line)
    {
        const auto close = line.find("*/");
        const std::string_view rest = trimmed(line.substr(close + 2));
        const bool guarded = rest.starts_with("@");
        constexpr std::size_t guardWidth = 6; // "@!UP0 "
        std::string text = "  " + std::string(line.substr(0, close + 2)) + " ";
        if (guarded) {
            const std::string_view guard = rest.substr(0, rest.find(' '));
            text += std::string(guard) + std::string(guardWidth - std::min(guardWidth - 1, guard.size()), ' ');
            return text + std::string(trimmed(rest.substr(guard.size())));
        }
        return text + std::string(guardWidth, ' ') + std::string(rest);
    }

    void add(std::string_view line)
    {
        ListingLine out;
        out.function = m_function;
        if (line.starts_with("/*")) {
            std::uint64_t offset = 0;
            const char* begin = line.data() + 2;
            const auto [end, error] = std::from_chars(begin, line.data() + line.size(), offset, 16);
            if (error != std::errc() || end == line.data() + line.size() || *end != '*') {
                return;
            }
            out.offset = offset;
            out.instruction = true;
            out.chain = m_chain;
            m_fresh = true;
            out.text = instructionText(line);
        } else if (line.starts_with(".L_") && line.ends_with(":")) {
            out.text = std::string(line);
        } else {
            return; // directives of the section
        }
        m_out.push_back(std::move(out));
    }

    /// A kernel ends in a jump to itself and NOPs up to a round address.
    void dropPadding()
    {
        const auto padding = [](const ListingLine& line) {
            return line.instruction && line.text.find(" NOP") != std::string::npos;
        };
        const auto label = [](const ListingLine& line) { return !line.instruction && line.text.starts_with(".L_"); };
        while (!m_out.empty() && (padding(m_out.back()) || label(m_out.back()))) {
            m_out.pop_back();
        }
    }

    std::vector<ListingPlace> m_chain;
    std::vector<ListingLine> m_out;
    std::string m_function;
    bool m_fresh = true;
};

} // namespace

std::vector<ListingLine> readPtxText(std::string_view ptx)
{
    return PtxReader(ptx).read();
}

std::vector<ListingLine> readSassText(std::string_view disassembly)
{
    return SassReader().read(disassembly);
}

} // namespace espalier
