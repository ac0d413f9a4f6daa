// SPDX-License-Identifier: Apache-2.0
#include "core/build/symbol_check.h"

#include "core/base/elf_facts.h"
#include "core/base/text.h"
#include "core/build/compile_messages.h"
#include "core/build/entry_header.h"
#include "core/build/import_list.h"

#include <algorithm>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier {

namespace {

/// Measured on a library with one kernel (nvcc 13.0, gcc 12): frame_dummy and nvcc's registration;
/// __do_global_dtors_aux.
constexpr std::uint64_t ownInitArrayBytes = 16;
constexpr std::uint64_t ownFiniArrayBytes = 8;

constexpr std::size_t mostEvidence = 20;

bool isIn(std::initializer_list<const char*> sonames, const std::string& name)
{
    for (const char* library : sonames) {
        void* handle = ::dlopen(library, RTLD_LAZY | RTLD_LOCAL);
        const bool found = handle && ::dlsym(handle, name.c_str());
        if (handle) {
            ::dlclose(handle);
        }
        if (found) {
            return true;
        }
    }
    return false;
}

/// Whether the C library has a function or variable of that name: defining it in a candidate would shadow it.
bool isOfTheCLibrary(const std::string& name)
{
    return isIn({"libc.so.6", "libm.so.6"}, name);
}

/// A C++ name that no library here has: the source declares it and forgot to define it.
bool isNowhere(const std::string& name)
{
    return name.starts_with("_Z") && !isIn({"libstdc++.so.6", "libgcc_s.so.1"}, name);
}

bool shadows(const std::string& name)
{
    if (name.starts_with("_Z")) {
        return name.starts_with("_Zn") || name.starts_with("_Zd"); // operator new and delete
    }
    const bool driver = name.size() > 2 && name.starts_with("cu") && name[2] >= 'A' && name[2] <= 'Z';
    return driver || name.starts_with("cuda") || name.starts_with("__cuda") || name.starts_with("__nv_cuda") ||
           isOfTheCLibrary(name);
}

class Checker
{
public:
    Checker(const ElfFacts& facts, const Task& task) : m_facts(facts), m_task(task) {}

    SymbolVerdict candidate(const SymbolRules& rules)
    {
        if (rules.imports) {
            imports();
        }
        if (rules.exports) {
            exports();
        }
        if (rules.sections) {
            sections();
        }
        const bool suspicious = !m_verdict.evidence.empty();
        m_verdict.evidence.insert(m_verdict.evidence.end(), m_slips.begin(), m_slips.end());
        if (suspicious) {
            m_verdict.outcome = Outcome::Suspicious;
            m_verdict.reason = m_verdict.evidence.front().sentence;
            return std::move(m_verdict);
        }
        entry(m_task.entry, entryPrototype(m_task), "kernel");
        if (m_verdict.outcome == Outcome::Passed && !m_slips.empty()) {
            m_verdict.outcome = Outcome::BuildFailed;
            m_verdict.reason = m_slips.front().sentence;
        }
        if (m_verdict.outcome == Outcome::Passed && hasExport(m_task.entry + "_prepare")) {
            m_verdict.outcome = Outcome::NotRun;
            m_verdict.reason = fmt::format(
                "the kernel defines {0}_prepare, which this version does not call; prepare within {0}", m_task.entry);
        }
        return std::move(m_verdict);
    }

    SymbolVerdict trusted(SourceRole role)
    {
        if (role == SourceRole::Baseline) {
            entry(m_task.entry, entryPrototype(m_task), "baseline");
            return std::move(m_verdict);
        }
        if (role == SourceRole::Incumbent) {
            entry(m_task.entry, entryPrototype(m_task), "incumbent");
            return std::move(m_verdict);
        }
        for (const Argument& argument : m_task.arguments) {
            if (m_verdict.outcome == Outcome::Passed &&
                (argument.kind == ArgumentKind::Output || argument.kind == ArgumentKind::InOut)) {
                entry(oracleName(m_task, argument.name), oraclePrototype(m_task, argument.name), "oracle");
            }
        }
        return std::move(m_verdict);
    }

private:
    void suspect(const char* check, std::string sentence)
    {
        if (m_verdict.evidence.size() < mostEvidence) {
            m_verdict.evidence.push_back({check, std::move(sentence)});
        }
    }

    void refuse(std::string sentence)
    {
        if (m_slips.size() < mostEvidence) {
            m_slips.push_back({"not_allowed", std::move(sentence)});
        }
    }

    static std::string shown(const std::string& symbol) { return printable(demangled(symbol), 300); }

    void imports()
    {
        for (const ElfFacts::Symbol& symbol : m_facts.imports) {
            if (isAllowedImport(symbol.name)) {
                continue;
            }
            const std::string_view why = whyForbidden(symbol.name);
            if (why.empty() && isNowhere(symbol.name)) {
                refuse(fmt::format("the kernel calls {}, which is declared but defined nowhere; put its body into the "
                                   "source",
                                   shown(symbol.name)));
                continue;
            }
            const bool slip = isInnocentImport(symbol.name);
            std::string sentence = fmt::format("the kernel calls {}, which {}", shown(symbol.name),
                                               !why.empty() ? why
                                               : slip       ? "prints by <iostream>; use printf"
                                                            : "is not on the list of allowed imports");
            if (slip) {
                refuse(std::move(sentence));
            } else {
                suspect("imports", std::move(sentence));
            }
        }
        for (const std::string& library : m_facts.needed) {
            if (!isAllowedLibrary(library)) {
                suspect("imports",
                        fmt::format("the kernel is linked with {}; a kernel may use the C and C++ libraries only",
                                    printable(library, 300)));
            }
        }
    }

    void exports()
    {
        for (const ElfFacts::Symbol& symbol : m_facts.exports) {
            if (symbol.indirect) {
                suspect("exports", fmt::format("the kernel exports {}, which is resolved by code that runs at load",
                                               shown(symbol.name)));
            }
            if (symbol.name != m_task.entry && shadows(symbol.name)) {
                suspect("exports",
                        fmt::format(
                            "the kernel defines {}, which would shadow the system's own; make it static or rename it",
                            shown(symbol.name)));
            }
        }
    }

    void sections()
    {
        if (m_facts.initArrayBytes > ownInitArrayBytes || m_facts.hasPreinit || !m_facts.plainInit) {
            suspect("sections", "the kernel runs code of its own when it is loaded (a constructor or a global object "
                                "that needs one); move it into the entry");
        }
        if (m_facts.finiArrayBytes > ownFiniArrayBytes || !m_facts.plainFini) {
            suspect("sections",
                    "the kernel runs code of its own when it is unloaded (a destructor function); leave it out");
        }
        if (m_facts.indirectRelocations) {
            suspect("sections", "the kernel has indirect relocations, whose code runs at load; leave ifunc out");
        }
        if (m_facts.textRelocations) {
            suspect("sections", "the kernel has relocations in its code, which makes code writable");
        }
        if (m_facts.executableStack) {
            suspect("sections", "the kernel asks for an executable stack");
        }
        if (!m_facts.runPath.empty() || m_facts.filters) {
            suspect("sections", "the kernel changes where other libraries are looked for");
        }
    }

    bool hasExport(const std::string& name) const
    {
        return std::any_of(m_facts.exports.begin(), m_facts.exports.end(),
                           [&](const ElfFacts::Symbol& symbol) { return symbol.name == name && symbol.function; });
    }

    void entry(const std::string& name, const std::string& prototype, std::string_view what)
    {
        if (hasExport(name)) {
            return;
        }
        m_verdict.outcome = Outcome::BuildFailed;
        m_verdict.reason = fmt::format("the {} must define {}", what, prototype);
        if (const auto near = nearNames(name); !near.empty()) {
            m_verdict.reason += fmt::format("; it defines {}", fmt::join(near, ", "));
        }
        m_verdict.evidence.insert(m_verdict.evidence.begin(), {"not_allowed", m_verdict.reason});
    }

    /// Own functions, those with the name in them first: an overload with other parameters is the usual slip.
    std::vector<std::string> nearNames(const std::string& name) const
    {
        std::vector<std::string> names;
        for (const ElfFacts::Symbol& symbol : m_facts.exports) {
            const std::string text = shown(symbol.name);
            if (symbol.function && !symbol.weak && text.find("::") == std::string::npos &&
                text.find("__device_stub") == std::string::npos) {
                names.push_back(text);
            }
        }
        std::stable_partition(names.begin(), names.end(),
                              [&](const std::string& text) { return text.find(name) != std::string::npos; });
        names.resize(std::min<std::size_t>(names.size(), 3));
        return names;
    }

    const ElfFacts& m_facts;
    const Task& m_task;
    SymbolVerdict m_verdict;
    std::vector<Evidence> m_slips;
};

} // namespace

SymbolVerdict checkSymbols(std::string_view library, const Task& task, SourceRole role, const SymbolRules& rules)
{
    const auto facts = readElf(library);
    if (!facts) {
        return {Outcome::Suspicious, facts.error().message, {{"imports", facts.error().message}}};
    }
    Checker checker(*facts, task);
    return role == SourceRole::Candidate ? checker.candidate(rules) : checker.trusted(role);
}

} // namespace espalier
