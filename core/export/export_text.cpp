// SPDX-License-Identifier: Apache-2.0
#include "core/export/export_text.h"

#include "core/base/hash.h"
#include "core/base/text.h"
#include "core/build/entry_header.h"
#include "core/export/source_parts.h"
#include "core/model/language_standard.h"
#include "core/model/node_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <set>
#include <string_view>

namespace espalier {

namespace {

constexpr std::int64_t workspaceAlignment = 256; ///< bytes, as the contract says

std::string timeLine(const CaseTiming& timing)
{
    const char* sign = timing.provenance == Provenance::Model ? "modelled, not measured: " : "";
    const std::string_view mark = signOf(timing.provenance);
    std::string line = fmt::format("case {}: {}{}{:.4g} us per call", timing.caseId, sign, mark, timing.timeUs.value);
    if (timing.speedupRoot) {
        const Interval& speedup = *timing.speedupRoot;
        line += fmt::format(", {}{:.3g}x of the root kernel", mark, speedup.value);
        line += speedup.low == speedup.high // a modelled figure has no noise
                    ? ""
                    : fmt::format(" (95 % interval {:.3g} to {:.3g})", speedup.low, speedup.high);
    }
    return line;
}

/// Text of others in a // comment: no end of a line in it, and no backslash that would draw the next line in.
std::string inComment(std::string text)
{
    std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, ' ');
    while (text.ends_with('\\') || text.ends_with(' ')) {
        text.pop_back();
    }
    return text;
}

std::string commentLine(std::string text)
{
    return fmt::format("// {}\n", inComment(std::move(text)));
}

std::string originOf(const ExportSubject& subject)
{
    const NodeSummary& node = subject.node.summary;
    return commentLine(fmt::format("{}: exported by Espalier {} from node {} (\"{}\", by {}).", subject.task.title,
                                   ESPALIER_VERSION, node.id.value, node.title,
                                   node.proposer.empty() ? "the task's author" : node.proposer));
}

/// Who says that the kernel is right: what a person passed is never called verified.
std::string verdictHead(const ExportSubject& subject)
{
    const NodeSummary& node = subject.node.summary;
    if (!node.overturned) {
        return commentLine(fmt::format("Verified against the fp64 oracle of task {} on {}.", subject.task.id,
                                       subject.session.deviceName));
    }
    const Overturn& overturn = *node.overturned;
    return commentLine(fmt::format("Passed by hand, not by the judge ({}, {}): {}", overturn.author, overturn.at,
                                   overturn.reason)) +
           commentLine(fmt::format("The judge's verdict in task {} on {}: {}", subject.task.id,
                                   subject.session.deviceName, judgedText(node)));
}

/// "90a" of "sm_90a"; empty: not known.
std::string architectureOf(const ExportSubject& subject)
{
    const auto& build = subject.node.evaluation.build;
    const std::string name = build ? build->architecture : std::string();
    return name.starts_with("sm_") ? name.substr(3) : name;
}

/// The entry under another name, as entry_header writes it.
std::string prototypeAs(const Task& task, const std::string& name)
{
    Task renamed = task;
    renamed.entry = name;
    return entryPrototype(renamed);
}

std::string workspacePrototypeAs(const Task& task, const std::string& name)
{
    Task renamed = task;
    renamed.entry = name;
    return workspacePrototype(renamed);
}

std::string withoutLinkage(const std::string& prototype)
{
    constexpr std::string_view linkage = "extern \"C\" ";
    return prototype.substr(linkage.size());
}

/// `extern "C" T name(…)` as a C++ function of the namespace around it.
std::string inlined(const std::string& prototype)
{
    return "inline " + withoutLinkage(prototype);
}

std::vector<std::string> scalarNames(const Task& task)
{
    std::vector<std::string> names;
    for (const Argument& argument : task.arguments) {
        if (!argument.isPointer()) {
            names.push_back(argument.name);
        }
    }
    return names;
}

std::string callOf(const Task& task, const std::string& function)
{
    std::vector<std::string> names;
    for (const Argument& argument : task.arguments) {
        names.push_back(argument.name);
    }
    return fmt::format("{}({}, workspace, workspace_bytes, stream)", function, fmt::join(names, ", "));
}

/// One thing that a caller must keep, and how C++ says that it is kept (empty: it cannot tell).
struct Precondition {
    std::string what, sentence, check;
};

Precondition pointerPrecondition(const Argument& argument)
{
    std::string shape;
    for (const Expression& dimension : argument.shape) {
        shape += fmt::format("[{}]", dimension.text());
    }
    const char* use = argument.kind == ArgumentKind::Output  ? "written, not read"
                      : argument.kind == ArgumentKind::InOut ? "read and written"
                                                             : "read only";
    Precondition precondition{argument.name,
                              fmt::format("{}, {}, dense and row-major, {}, apart from all other arguments",
                                          cTypeOf(argument), shape.empty() ? "one element" : shape, use),
                              ""};
    if (argument.alignment > 1) {
        precondition.sentence += fmt::format("; aligned to {} bytes", argument.alignment);
        precondition.check =
            fmt::format("reinterpret_cast<uintptr_t>({}) % {} == 0", argument.name, argument.alignment);
    }
    return precondition;
}

bool allows(const UnseenRule& rule, std::int64_t value)
{
    return value >= rule.least && value <= rule.most && value % rule.multipleOf == 0;
}

/// What the task says of a parameter that is passed as it is.
Precondition parameterPrecondition(const Task& task, const Argument& argument)
{
    const std::string name = argument.scalarValue ? argument.scalarValue->text() : std::string();
    Precondition precondition{argument.name, fmt::format("{}, {}", cTypeOf(argument), name), ""};
    const bool plain = std::find(task.parameters.begin(), task.parameters.end(), name) != task.parameters.end();
    const bool whole = argument.type == DataType::I32 || argument.type == DataType::I64;
    if (!plain || !whole || !task.unseenCases) {
        return precondition; // verified as the cases say, nothing is promised between them
    }
    const auto stated = task.unseen.find(name);
    const UnseenRule rule = stated == task.unseen.end() ? UnseenRule() : stated->second;
    const std::string& is = argument.name;
    std::set<std::int64_t> values; // of the cases: also those that the rule leaves out are verified
    for (const TaskCase& one : task.cases) {
        const auto value = one.parameters.find(name);
        if (value != one.parameters.end() && (rule.fixed || !allows(rule, value->second))) {
            values.insert(value->second);
        }
    }
    std::vector<std::string> equal;
    for (const std::int64_t value : values) {
        equal.push_back(fmt::format("{} == {}", is, value));
    }
    if (rule.fixed) {
        precondition.sentence += fmt::format(", one of {}", fmt::join(values, ", "));
        precondition.check = fmt::format("({})", fmt::join(equal, " || "));
        return precondition;
    }
    precondition.sentence += fmt::format(", at least {}", rule.least);
    precondition.check = fmt::format("{} >= {}", is, rule.least);
    if (rule.most < UnseenRule().most) {
        precondition.sentence += fmt::format(", at most {}", rule.most);
        precondition.check += fmt::format(" && {} <= {}", is, rule.most);
    }
    if (rule.multipleOf > 1) {
        precondition.sentence += fmt::format(", a multiple of {}", rule.multipleOf);
        precondition.check += fmt::format(" && {} % {} == 0", is, rule.multipleOf);
    }
    if (!equal.empty()) {
        precondition.sentence += fmt::format("; or one of {}", fmt::join(values, ", "));
        precondition.check = fmt::format("(({}) || {})", precondition.check, fmt::join(equal, " || "));
    }
    return precondition;
}

std::vector<Precondition> preconditionsOf(const ExportSubject& subject)
{
    std::vector<Precondition> all;
    for (const Argument& argument : subject.task.arguments) {
        all.push_back(argument.isPointer() ? pointerPrecondition(argument)
                                           : parameterPrecondition(subject.task, argument));
    }
    const std::string scalars = fmt::format("{}", fmt::join(scalarNames(subject.task), ", "));
    all.push_back(
        {"workspace",
         fmt::format("at least {}_workspace({}) bytes, as workspace_bytes says; aligned to {} bytes; nullptr "
                     "where 0 are needed",
                     subject.names.symbol, scalars, workspaceAlignment),
         fmt::format("workspace_bytes >= {}_workspace({}) && reinterpret_cast<uintptr_t>(workspace) % {} == 0",
                     subject.names.symbol, scalars, workspaceAlignment)});
    return all;
}

/// The cases whose outputs were compared, by their sizes.
std::vector<std::string> verifiedShapes(const ExportSubject& subject)
{
    std::vector<std::string> shapes;
    const auto& verify = subject.node.evaluation.verify;
    for (const OutputError& error : verify ? verify->errors : std::vector<OutputError>()) {
        const TaskCase* known = subject.task.findCase(error.caseId);
        std::vector<std::string> sizes;
        for (const std::string& name : known ? subject.task.parameters : std::vector<std::string>()) {
            if (const auto value = known->parameters.find(name); value != known->parameters.end()) {
                sizes.push_back(fmt::format("{} {}", name, value->second));
            }
        }
        std::string shape = known ? fmt::format("{}", fmt::join(sizes, ", ")) : error.caseId;
        if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) {
            shapes.push_back(std::move(shape));
        }
    }
    return shapes;
}

std::string architectureGuard(const ExportSubject& subject)
{
    std::string number = architectureOf(subject);
    while (!number.empty() && (number.back() < '0' || number.back() > '9')) {
        number.pop_back(); // 90a
    }
    if (number.empty()) {
        return "";
    }
    return fmt::format("#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != {}0 && !defined(ESPALIER_OTHER_ARCHITECTURES)\n"
                       "#error \"{} was built and verified for sm_{} only; define ESPALIER_OTHER_ARCHITECTURES to "
                       "build it for others\"\n"
                       "#endif\n",
                       number, subject.names.symbol, architectureOf(subject));
}

/// The function that others call: refuses what the contract does not cover.
std::string guardedEntry(const ExportSubject& subject)
{
    const ExportNames& names = subject.names;
    std::vector<std::string> checks;
    for (const Precondition& one : preconditionsOf(subject)) {
        if (!one.check.empty()) {
            checks.push_back(one.check);
        }
    }
    std::string text = fmt::format("{0}\n{{\n    return &{1}_workspace ? {1}_workspace({2}) : 0;\n}}\n\n",
                                   workspacePrototypeAs(subject.task, names.symbol), names.kernel,
                                   fmt::join(scalarNames(subject.task), ", "));
    text += prototypeAs(subject.task, names.symbol) + "\n{\n";
    if (!checks.empty()) {
        text += fmt::format("    if (!({})) {{\n        return cudaErrorInvalidValue;\n    }}\n",
                            fmt::join(checks, " &&\n          "));
    }
    return text + fmt::format("    return {};\n}}\n", callOf(subject.task, names.kernel));
}

std::string sourceHead(const ExportSubject& subject)
{
    std::string head = "// SPDX-License-Identifier: 0BSD\n" + originOf(subject) + verdictHead(subject);
    if (subject.node.evaluation.timing) {
        for (const CaseTiming& timing : subject.node.evaluation.timing->cases) {
            head += commentLine("  " + timeLine(timing));
        }
    }
    const BuildRecord build = subject.node.evaluation.build.value_or(BuildRecord{});
    const std::string number = architectureOf(subject);
    head += fmt::format("// Built with nvcc {} for sm_{}: nvcc {} -gencode arch=compute_{},code=sm_{} -c {}.cu\n",
                        build.toolkit, number, flagsText(subject.task, subject.node.source), number, number,
                        subject.names.file);
    return head;
}

} // namespace

ExportNames ExportNames::of(const Task& task, const std::string& source, const std::string& name)
{
    const std::string digits = sha256(source).substr(0, 8);
    ExportNames names;
    names.file = name.empty() ? task.entry : name;
    names.symbol = name.empty() ? fmt::format("{}_{}", task.entry, digits) : name;
    names.kernel = names.symbol + "_unchecked";
    names.space = fmt::format("espalier_{}", names.symbol);
    names.alias = name.empty();
    return names;
}

std::vector<std::string> compilerFlags(const Task& task, const std::string& source)
{
    std::vector<std::string> flags = {"-std=" + languageStandard(source, task)};
    std::copy_if(task.build.flags.begin(), task.build.flags.end(), std::back_inserter(flags),
                 [](const std::string& flag) { return !flag.starts_with("-std") && !flag.starts_with("--std"); });
    for (const std::string& root : task.build.includeRoots) {
        flags.push_back("-I" + root);
    }
    return flags;
}

std::string flagsText(const Task& task, const std::string& source)
{
    std::vector<std::string> words = compilerFlags(task, source);
    std::transform(words.begin(), words.end(), words.begin(), shellWord);
    return inComment(fmt::format("{}", fmt::join(words, " ")));
}

std::string exportedHeader(const ExportSubject& subject)
{
    const Task& task = subject.task;
    const ExportNames& names = subject.names;
    std::string text = "// SPDX-License-Identifier: 0BSD\n" + originOf(subject) + verdictHead(subject);
    text += commentLine(fmt::format(
        "What stands behind it: {}.evidence.json; `espalierctl verify` looks whether it holds.", names.file));
    text += fmt::format("//\n// {} returns cudaErrorInvalidValue where a precondition marked * is not kept.\n",
                        names.symbol);
    for (const Precondition& one : preconditionsOf(subject)) {
        text += commentLine(fmt::format(" {} {:<12} {}", one.check.empty() ? ' ' : '*', one.what, one.sentence));
    }
    text +=
        commentLine(fmt::format("   {:<12} device and context are the caller's; all work is joined to it", "stream"));
    text += commentLine(fmt::format("   {:<12} sm_{}: others are refused by the compiler, see {}.cu", "architecture",
                                    architectureOf(subject), names.file));
    if (const auto shapes = verifiedShapes(subject); !shapes.empty()) {
        text += commentLine(fmt::format("   {:<12} verified with {}", "shapes", fmt::join(shapes, "; ")));
    }
    text += "#pragma once\n" + includesIn(entryHeader(task)) + "\n" + prototypeAs(task, names.symbol) + ";\n";
    text += workspacePrototypeAs(task, names.symbol) + ";\n";
    text += "\n// The kernel itself, without the checks.\n" + prototypeAs(task, names.kernel) + ";\n";
    if (!names.alias) {
        return text;
    }
    return text + fmt::format("\n// The name that the task gives it, as long as no other export in sight has it, too.\n"
                              "namespace {0} {{\n{1}\n{{\n    return {2};\n}}\n{3}\n{{\n    return {4}_workspace({5});"
                              "\n}}\n}} // namespace {0}\nusing {0}::{6};\nusing {0}::{6}_workspace;\n",
                              names.space, inlined(entryPrototype(task)), callOf(task, names.symbol),
                              inlined(workspacePrototype(task)), names.symbol, fmt::join(scalarNames(task), ", "),
                              task.entry);
}

std::string exportedSource(const ExportSubject& subject)
{
    const Task& task = subject.task;
    const ExportNames& names = subject.names;
    const std::string& source = subject.node.source;
    std::string text = sourceHead(subject);
    text +=
        fmt::format("#if __has_include(\"{0}.h\") // a part of another program: see {0}.h; without it the candidate as "
                    "it was judged\n#include \"{0}.h\"\n",
                    names.file);
    text += includesIn(source) + architectureGuard(subject);
    text += fmt::format("extern \"C\" __attribute__((weak)) {}; // it may be missing\n",
                        withoutLinkage(workspacePrototypeAs(task, names.kernel)));
    text += fmt::format("#define {0} {1}\n#define {0}_workspace {1}_workspace\nnamespace {2} {{\n", task.entry,
                        names.kernel, names.space);
    // The judge puts entry.h before it: a source may leave the linkage to that, and use its constants.
    text += entryDeclarations(task) + "#endif\n";
    text += "\n" + source + (source.ends_with('\n') ? "" : "\n");
    text += fmt::format("\n#if __has_include(\"{}.h\")\n}} // namespace {}\n#undef {}\n#undef {}_workspace\n",
                        names.file, names.space, task.entry, task.entry);
    for (const std::string& macro : macrosIn(source)) {
        text += fmt::format("#undef {}\n", macro);
    }
    return text + "\n" + guardedEntry(subject) + "#endif\n";
}

} // namespace espalier
