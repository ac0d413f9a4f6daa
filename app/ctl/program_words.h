// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <map>
#include <string>
#include <vector>

namespace espalier::ctl {

/// A program with options of its own inside a command line, as people type it:
///
///     --command python3 -u agent.py        all the words that follow are the program's
///     --command -- python3 -u agent.py     the same, said outright
///     --command "python3 -u agent.py"      one text, split as a shell does; options of ours may follow
///     --command=agent                      one word or text; options of ours may follow
struct ProgramWords {
    std::vector<std::string> words; ///< the program and its arguments; not empty
    bool outright = false;          ///< behind --: nobody can have meant a word for us
    bool open = false;              ///< took all the words that followed
};

/// A command line without its programs.
struct SplitCommandLine {
    std::vector<std::string> rest;
    std::map<std::string, ProgramWords> programs; ///< by option
};

/// `options`: those that take a program ("--command"); one of them ends the words of another, unless that one's stand
/// behind --. Errors: InvalidInput: no program, a quote that does not end, what only a shell can do.
Result<SplitCommandLine> takePrograms(const std::vector<std::string>& words, const std::vector<std::string>& options);

/// One text as words: blanks separate, quotes and backslashes as in a shell; nothing is expanded. Errors: as above.
Result<std::vector<std::string>> shellWords(const std::string& text);

} // namespace espalier::ctl
