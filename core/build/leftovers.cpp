// SPDX-License-Identifier: Apache-2.0
#include "core/build/leftovers.h"

#include <fmt/format.h>

namespace espalier {

namespace {

constexpr const char* quietStreams = R"(#pragma once
#pragma GCC system_header
#include <istream>
#include <ostream>
namespace std
{
extern istream cin;
extern ostream cout, cerr, clog;
extern wistream wcin;
extern wostream wcout, wcerr, wclog;
}
)";

} // namespace

std::vector<InputFile> leftoverFiles(const Task& task)
{
    // C++ names become the library's own: what the entry does not lead to is then dropped. Visible stay C names, among
    // them those that would shadow the system's, operators new and delete, and an entry without extern "C", which the
    // check of the built library speaks of.
    const std::string visible =
        fmt::format("{{ global: {0}; _Zn*; _Zd*; _Z{1}{0}*; local: main; _Z*; }};\n", task.entry, task.entry.size());
    return {{"visible.map", visible}, {"quiet/iostream", quietStreams}};
}

std::vector<std::string> leftoverArguments()
{
    return {"-Iquiet",
            "-DNVTX_DISABLE", // cub's marks for profilers look up functions
            "-Xcompiler",     "-ffunction-sections,-fdata-sections",
            "-Xlinker",       "--gc-sections,--version-script=visible.map"};
}

} // namespace espalier
