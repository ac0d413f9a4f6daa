// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/node.h"
#include "core/model/session.h"
#include "core/model/task.h"

#include <string>
#include <vector>

namespace espalier {

/// What the exported function is called. Made so that two exports share no name in one program.
struct ExportNames {
    std::string file;   ///< of the files, without suffix
    std::string symbol; ///< the C function that checks its preconditions and calls the kernel
    std::string kernel; ///< the candidate's own entry, renamed
    std::string space;  ///< namespace of everything else
    bool alias = false; ///< the header offers the symbol under the entry's own name, too
    /// `name`: the symbol that is wanted; empty: the task's entry, with a few digits of the source's hash behind it.
    static ExportNames of(const Task& task, const std::string& source, const std::string& name);
};

/// What is exported. Refers to what it is given.
struct ExportSubject {
    const Task& task;
    const NodeDetail& node;
    const SessionInfo& session;
    const ExportNames& names;
};

/// What nvcc is told of the language for a source of this task: -std first, then the task's own flags and include
/// folders.
std::vector<std::string> compilerFlags(const Task& task, const std::string& source);
/// Those as they are typed into a shell, for a comment.
std::string flagsText(const Task& task, const std::string& source);

/// NAME.h: the functions that NAME.cu defines, and under which conditions they were verified. Pure.
std::string exportedHeader(const ExportSubject& subject);

/// NAME.cu: the candidate's source, untouched, below a head that says what was measured. Beside NAME.h it is a part of
/// another program: in a namespace of its own, without macros left, behind a function that refuses what the contract
/// does not cover. Alone (as `espalierctl eval` compiles it) it is the candidate. Pure.
std::string exportedSource(const ExportSubject& subject);

} // namespace espalier
