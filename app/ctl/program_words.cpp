// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/program_words.h"

#include "core/base/subprocess.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>

namespace espalier::ctl {

namespace {

constexpr std::string_view blanks = " \t\n";
constexpr std::array<std::string_view, 9> shellOperators = {"|", "||", "&", "&&", ";", "<", ">", ">>", "2>&1"};

bool contains(const std::vector<std::string>& options, const std::string& word)
{
    return std::find(options.begin(), options.end(), word) != options.end();
}

/// One word as the user's shell handed it over: a text of several words, unless a file is named so.
Result<std::vector<std::string>> wordsOf(const std::string& option, const std::string& text)
{
    std::vector<std::string> words = {text};
    if (text.find_first_of(blanks) != std::string::npos && findProgram(text).empty()) {
        ESPALIER_TRY(words, shellWords(text));
    }
    if (words.empty() || words.front().empty()) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("{0} needs a program, with its own options behind it: {0} my-agent --fast", option));
    }
    return words;
}

} // namespace

Result<std::vector<std::string>> shellWords(const std::string& text)
{
    std::vector<std::string> words;
    std::string word;
    bool begun = false, quoted = false;
    const auto end = [&]() -> Result<void> {
        if (begun && !quoted && std::find(shellOperators.begin(), shellOperators.end(), word) != shellOperators.end()) {
            return fail(
                ErrorCode::InvalidInput,
                fmt::format("The program is started without a shell, so that \"{}\" in \"{}\" would do nothing: "
                            "write sh -c '…' around what needs one.",
                            word, text));
        }
        if (begun) {
            words.push_back(std::exchange(word, {}));
        }
        begun = quoted = false;
        return {};
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char byte = text[i];
        if (blanks.find(byte) != std::string_view::npos) {
            ESPALIER_CHECK(end());
            continue;
        }
        begun = true;
        if (byte == '\\' && i + 1 < text.size()) {
            quoted = true;
            word += text[++i];
        } else if (byte == '\'' || byte == '"') {
            quoted = true;
            for (++i; i < text.size() && text[i] != byte; ++i) {
                const bool escape = byte == '"' && text[i] == '\\' && i + 1 < text.size() &&
                                    (text[i + 1] == '"' || text[i + 1] == '\\');
                i += escape ? 1 : 0;
                word += text[i];
            }
            if (i >= text.size()) {
                return fail(ErrorCode::InvalidInput,
                            fmt::format("A quote ({}) in \"{}\" does not end: add the missing one.", byte, text));
            }
        } else {
            word += byte;
        }
    }
    ESPALIER_CHECK(end());
    return words;
}

Result<SplitCommandLine> takePrograms(const std::vector<std::string>& words, const std::vector<std::string>& options)
{
    SplitCommandLine line;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::size_t equals = words[i].find('=');
        const std::string option = words[i].substr(0, equals);
        if (!contains(options, option)) {
            line.rest.push_back(words[i]);
            continue;
        }
        ProgramWords program;
        if (equals != std::string::npos) {
            ESPALIER_TRY(program.words, wordsOf(option, words[i].substr(equals + 1)));
        } else {
            program.outright = i + 1 < words.size() && words[i + 1] == "--";
            i += program.outright ? 1 : 0;
            const std::string first = i + 1 < words.size() ? words[++i] : std::string();
            ESPALIER_TRY(program.words, wordsOf(option, contains(options, first) ? std::string() : first));
            program.open = program.words.size() == 1;
            while (program.open && i + 1 < words.size() && (program.outright || !contains(options, words[i + 1]))) {
                program.words.push_back(words[++i]);
            }
        }
        line.programs.insert_or_assign(option, std::move(program));
    }
    return line;
}

} // namespace espalier::ctl
