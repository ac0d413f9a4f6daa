// SPDX-License-Identifier: Apache-2.0
#include "core/export/repro_program.h"

#include "core/build/entry_header.h"
#include "core/export/export_text.h"
#include "core/export/repro_tools.h"
#include "core/export/source_parts.h"
#include "core/model/task_loader.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier {
namespace {

const char* opsName(DataType type)
{
    switch (type) {
    case DataType::F64:
        return "DType::F64";
    case DataType::F32:
        return "DType::F32";
    case DataType::TF32:
        return "DType::TF32";
    case DataType::F16:
        return "DType::F16";
    case DataType::BF16:
        return "DType::BF16";
    case DataType::FP8E4M3:
        return "DType::FP8E4M3";
    case DataType::FP8E5M2:
        return "DType::FP8E5M2";
    case DataType::I8:
        return "DType::I8";
    case DataType::I32:
        return "DType::I32";
    case DataType::I64:
        return "DType::I64";
    case DataType::Bool:
        break;
    }
    return "DType::Bool";
}

/// "half_normal" of a task is Distribution::HalfNormal of the operations.
std::string opsName(DistributionKind kind)
{
    std::string name = "Distribution::";
    bool upper = true;
    for (const char c : nameOf(kind)) {
        if (c != '_') {
            name += static_cast<char>(upper ? std::toupper(static_cast<unsigned char>(c)) : c);
        }
        upper = c == '_';
    }
    return name;
}

/// Another text in the same file: its macros end with it, and a main() of its own is none.
std::string enclosed(const std::string& text, const std::string& file)
{
    const bool hasMain = definesFunction(text, "main");
    std::string part = hasMain ? "#define main main_of_the_source\n" : "";
    part += fmt::format("#line 1 \"{}\"\n{}{}", file, text, text.ends_with('\n') ? "" : "\n");
    part += hasMain ? "#undef main\n" : "";
    for (const std::string& macro : macrosIn(text)) {
        part += fmt::format("#undef {}\n", macro);
    }
    return part;
}

class Program
{
public:
    Program(const ReproRequest& request, const CallRecipe& recipe)
        : m_request(request), m_task(request.task), m_recipe(recipe)
    {
        m_case.parameters = recipe.parameters;
    }

    Result<std::string> text()
    {
        for (const Argument& argument : m_task.arguments) {
            ESPALIER_CHECK(argument.isPointer() ? addBuffer(argument) : addScalar(argument));
        }
        ESPALIER_TRY(const std::string comparison, compared());
        std::string program = head() + prelude();
        program += fmt::format("extern \"C\" __attribute__((weak)) {}; // it may be missing\n",
                               workspacePrototype(m_task).substr(std::string_view("extern \"C\" ").size()));
        program += enclosed(m_request.node.source, "candidate.cu");
        if (m_request.check) {
            const std::string& oracle = m_task.oracle.source.text;
            program += fmt::format("{}namespace oracle_of_the_task {{\n{}}} // namespace oracle_of_the_task\n",
                                   includesIn(oracle), enclosed(oracle, m_task.oracle.source.name));
        }
        program += "#line 1 \"repro_main.cu\"\n" + reproTools();
        return program + mainFunction(comparison);
    }

private:
    std::string head() const
    {
        const NodeSummary& node = m_request.node.summary;
        std::string title = node.title;
        std::replace_if(title.begin(), title.end(), [](unsigned char c) { return c < ' ' || c == '\\'; }, ' ');
        std::string text =
            fmt::format("// Node {} (\"{}\") of a search on {}, called as {} has it.\n"
                        "//   nvcc -O3 {} -lineinfo -arch=native -Xcompiler -ffp-contract=off repro.cu -o repro\n",
                        node.id.value, title, m_task.id, m_recipe.where, flagsText(m_task, m_request.node.source));
        if (m_request.check) {
            text += "//   ./repro           calls, times, and every output compared with the fp64 oracle; exit code 3: "
                    "wrong\n"
                    "//   ./repro --only    the calls alone, for compute-sanitizer ./repro --only, ncu --set full "
                    "./repro --only\n";
        } else {
            text += "//   ncu --set full ./repro, compute-sanitizer ./repro\n";
        }
        return text + "//   ./repro --inputs DIR   writes the inputs and ends; needs no GPU\n"
                      "// cuda-gdb: build it with -G\n";
    }

    std::string prelude() const
    {
        std::string text = entryHeader(m_task);
        if (const auto once = text.find("#pragma once\n"); once != std::string::npos) {
            text.erase(once, 13); // no header any more
        }
        return text;
    }

    const CallRecipe::Buffer* bufferOf(const Argument& argument) const
    {
        const auto found = std::find_if(m_recipe.buffers.begin(), m_recipe.buffers.end(),
                                        [&](const CallRecipe::Buffer& one) { return one.argument == argument.name; });
        return found == m_recipe.buffers.end() ? nullptr : &*found;
    }

    Result<void> addBuffer(const Argument& argument)
    {
        const CallRecipe::Buffer* buffer = bufferOf(argument);
        if (!buffer) {
            return fail(ErrorCode::InvalidInput,
                        fmt::format("The call that failed had no argument {}: the task is another one now; name a case "
                                    "with --case.",
                                    argument.name));
        }
        ESPALIER_TRY(const std::int64_t count, elementCount(m_task, argument, m_case));
        m_prepare += fmt::format("    Buffer {0}_buffer(\"{0}\", {1}ull, {2}, {3});\n", argument.name, count,
                                 opsName(argument.type), buffer->place);
        for (const CallRecipe::Range& range : buffer->ranges) {
            m_prepare += fmt::format("    {}_buffer.draw({}, {:.17g}, {:.17g}, {}ull, {}ull, {}ull, {}ull, {}ull);\n",
                                     argument.name, opsName(buffer->kind), buffer->a, buffer->b, buffer->row,
                                     range.first, range.count, range.index, range.seed);
        }
        (argument.kind == ArgumentKind::Output ? m_outputs : m_inputs).push_back(&argument);
        const std::string pointer =
            fmt::format("static_cast<{}>({}_buffer.device())", cTypeOf(argument), argument.name);
        m_call += pointer + ", ";
        if (argument.kind != ArgumentKind::Output) {
            m_oracleCall += pointer + ", ";
        }
        return {};
    }

    Result<void> addScalar(const Argument& argument)
    {
        const Expression value = argument.scalarValue.value_or(Expression());
        std::string text;
        if (argument.type == DataType::F32 || argument.type == DataType::F64) {
            ESPALIER_TRY(const double number, value.evaluate(m_recipe.parameters));
            text = fmt::format("static_cast<{}>({:.17g})", cTypeOf(argument), number);
        } else {
            ESPALIER_TRY(const std::int64_t number, value.evaluateInteger(m_recipe.parameters));
            text = fmt::format("static_cast<{}>({}ll)", cTypeOf(argument), number);
        }
        m_call += text + ", ";
        m_oracleCall += text + ", ";
        m_scalars += (m_scalars.empty() ? "" : ", ") + text;
        return {};
    }

    Result<std::string> compared()
    {
        std::string text;
        ESPALIER_TRY(const double length, reductionLengthOf(m_task, m_case));
        for (const Argument* output : m_request.check ? m_outputs : std::vector<const Argument*>()) {
            text +=
                fmt::format("    {{\n        Answer reference({0}_buffer.elements()), scale({0}_buffer.elements());\n"
                            "        check({1}({2}reference.device(), scale.device(), 0, "
                            "static_cast<int64_t>({0}_buffer.elements()), "
                            "stream), \"the oracle\");\n        check(cudaStreamSynchronize(stream), \"the oracle\");\n"
                            "        {0}_buffer.get();\n"
                            "        right = agrees({0}_buffer, reference, scale, {3:.17g}, {4:.17g}, {5:.17g}, "
                            "{6:.17g}, {7:.17g}) && right;\n"
                            "    }}\n",
                            output->name, oracleName(m_task, output->name), m_oracleCall, m_task.contract.unitRoundoff,
                            m_recipe.elementFactor, m_recipe.absoluteFactor, bufferOf(*output)->normBound, length);
        }
        return text;
    }

    std::string each(const std::vector<const Argument*>& arguments, const char* act, const char* indent) const
    {
        std::string text;
        for (const Argument* argument : arguments) {
            text += fmt::format("{}{}_buffer.{};\n", indent, argument->name, act);
        }
        return text;
    }

    std::string mainFunction(const std::string& comparison) const
    {
        std::string text = "\nint main(int argc, char** argv)\n{\n    using namespace repro;\n"
                           "    const std::string option = argc > 1 ? argv[1] : \"\";\n" +
                           m_prepare;
        text += "    if (option == \"--inputs\" && argc > 2) {\n" + each(m_inputs, "write(argv[2])", "        ") +
                "        return 0;\n    }\n";
        text += each(m_inputs, "put()", "    ");
        text += fmt::format("    const size_t workspaceBytes = &{0}_workspace ? {0}_workspace({1}) : 0;\n",
                            m_task.entry, m_scalars);
        text += "    void* workspace = nullptr;\n    if (workspaceBytes > 0) {\n"
                "        check(cudaMalloc(&workspace, workspaceBytes), \"the workspace\");\n    }\n"
                "    cudaStream_t stream;\n    check(cudaStreamCreate(&stream), \"cudaStreamCreate\");\n"
                "    cudaEvent_t begin, end;\n    check(cudaEventCreate(&begin), \"event\");\n"
                "    check(cudaEventCreate(&end), \"event\");\n"
                "    for (int call = 0; call < 3; ++call) {\n        float milliseconds = 0;\n";
        text += each(m_outputs, "poison()", "        ") + each(m_outputs, "put()", "        ");
        text += fmt::format("        check(cudaEventRecord(begin, stream), \"event\");\n"
                            "        check({}({}workspace, workspaceBytes, stream), \"the kernel's entry\");\n"
                            "        check(cudaEventRecord(end, stream), \"event\");\n"
                            "        check(cudaStreamSynchronize(stream), \"the kernel\");\n"
                            "        check(cudaEventElapsedTime(&milliseconds, begin, end), \"event\");\n"
                            "        std::printf(\"call %d: %.3f us\\n\", call, milliseconds * 1000);\n    }}\n",
                            m_task.entry, m_call);
        if (comparison.empty()) {
            return text + "    return 0;\n}\n";
        }
        return text + "    bool right = true;\n    if (option == \"--only\") {\n        return 0;\n    }\n" +
               comparison + "    return right ? 0 : 3;\n}\n";
    }

    const ReproRequest& m_request;
    const Task& m_task;
    const CallRecipe& m_recipe;
    TaskCase m_case;
    std::string m_prepare, m_call, m_oracleCall, m_scalars;
    std::vector<const Argument*> m_inputs, m_outputs;
};

Result<CallRecipe> recipeFor(const ReproRequest& request)
{
    const Task& task = request.task;
    auto failed = request.caseId.empty() ? failedCall(request.node.evaluation) : std::nullopt;
    if (!failed) {
        const auto verified = task.casesWith(CaseRole::Verify);
        const TaskCase* taskCase =
            request.caseId.empty() ? (verified.empty() ? nullptr : verified.front()) : task.findCase(request.caseId);
        if (!taskCase) {
            return fail(ErrorCode::NotFound, fmt::format("Task {} has no case \"{}\".", task.id, request.caseId));
        }
        return CallRecipe::of(task, *taskCase, request.seed.value_or(1));
    }
    if (request.seed) {
        std::uint64_t seed = *request.seed;
        for (CallRecipe::Buffer& buffer : failed->buffers) {
            for (CallRecipe::Range& range : buffer.ranges) {
                range.seed = seed++;
            }
        }
    }
    return *failed;
}

} // namespace

std::optional<CallRecipe> failedCall(const Evaluation& evaluation)
{
    for (const Evidence& evidence : evaluation.evidence) {
        if (evidence.check == CallRecipe::check) {
            return CallRecipe::parse(evidence.sentence);
        }
    }
    return std::nullopt;
}

Result<std::string> reproProgram(const ReproRequest& request)
{
    if (request.node.source.empty()) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("Node {} has no source: name a root or a candidate.", request.node.summary.id.value));
    }
    ESPALIER_CHECK(checkSupported(request.task));
    ESPALIER_TRY(const CallRecipe recipe, recipeFor(request));
    return Program(request, recipe).text();
}

} // namespace espalier
