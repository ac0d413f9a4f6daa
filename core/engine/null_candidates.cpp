// SPDX-License-Identifier: Apache-2.0
#include "core/engine/null_candidates.h"

#include "core/build/entry_header.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

namespace espalier {

namespace {

/// What every generated text may use: sizes as the task writes them, values of any element type as double.
constexpr const char* prelude = R"(
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace audit {

using Whole = long long;
inline Whole min(Whole a, Whole b) { return a < b ? a : b; }
inline Whole max(Whole a, Whole b) { return a < b ? b : a; }
inline Whole floordiv(Whole a, Whole b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
inline Whole ceildiv(Whole a, Whole b) { return -floordiv(-a, b); }
inline Whole log2(Whole a) { Whole bits = 0; while (a > 1) { a /= 2; ++bits; } return bits; }
inline Whole sqrt(Whole a) { Whole root = 0; while ((root + 1) * (root + 1) <= a) ++root; return root; }

template <typename T>
__device__ double valueOf(T v)
{
    if constexpr (std::is_same_v<T, double> || std::is_integral_v<T>)
        return static_cast<double>(v);
    else
        return static_cast<double>(static_cast<float>(v));
}

template <typename T>
__device__ T madeFrom(double v)
{
    if constexpr (std::is_same_v<T, double> || std::is_integral_v<T>)
        return static_cast<T>(v);
    else
        return static_cast<T>(static_cast<float>(v));
}

/// Rounds to `bits` explicit significand bits.
__device__ inline double rounded(double v, int bits)
{
    const int dropped = 52 - bits;
    long long word = __double_as_longlong(v);
    word += (1ll << (dropped - 1)) - 1 + ((word >> dropped) & 1);
    return __longlong_as_double(word >> dropped << dropped);
}

template <typename T>
__global__ void fillKernel(T* y, Whole n, double v)
{
    for (Whole i = blockIdx.x * Whole(blockDim.x) + threadIdx.x; i < n; i += Whole(gridDim.x) * blockDim.x)
        y[i] = madeFrom<T>(v);
}

template <typename T, typename S>
__global__ void copyKernel(T* y, Whole n, const S* x, Whole from)
{
    for (Whole i = blockIdx.x * Whole(blockDim.x) + threadIdx.x; i < n; i += Whole(gridDim.x) * blockDim.x)
        y[i] = madeFrom<T>(valueOf(x[i % from]));
}

template <typename T>
__global__ void rowMeansKernel(T* y, Whole rows, Whole length)
{
    for (Whole r = blockIdx.x * Whole(blockDim.x) + threadIdx.x; r < rows; r += Whole(gridDim.x) * blockDim.x) {
        double sum = 0;
        for (Whole i = 0; i < length; ++i)
            sum += valueOf(y[r * length + i]);
        for (Whole i = 0; i < length; ++i)
            y[r * length + i] = madeFrom<T>(sum / static_cast<double>(length));
    }
}

template <typename T>
__global__ void castDownKernel(T* y, Whole n, int bits)
{
    for (Whole i = blockIdx.x * Whole(blockDim.x) + threadIdx.x; i < n; i += Whole(gridDim.x) * blockDim.x)
        y[i] = madeFrom<T>(rounded(valueOf(y[i]), bits));
}

template <typename T>
__global__ void otherKernel(T* copied, const T* x, Whole n)
{
    for (Whole i = blockIdx.x * Whole(blockDim.x) + threadIdx.x; i < n; i += Whole(gridDim.x) * blockDim.x)
        copied[i] = std::is_integral_v<T> ? madeFrom<T>(valueOf(x[i]) + 1) : madeFrom<T>(0.75 * valueOf(x[i]) + 0.5);
}

inline unsigned blocksFor(Whole n) { return static_cast<unsigned>(min(max(1, (n + 255) / 256), 4096)); }

} // namespace audit
)";

bool isInput(const Argument& argument)
{
    return argument.kind == ArgumentKind::Input || argument.kind == ArgumentKind::Const;
}

std::string namesOf(const Task& task)
{
    std::vector<std::string> names;
    for (const Argument& argument : task.arguments) {
        names.push_back(argument.name);
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string scalarNames(const Task& task)
{
    std::vector<std::string> names;
    for (const Argument& argument : task.arguments) {
        if (argument.kind == ArgumentKind::Scalar) {
            names.push_back(argument.name);
        }
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

/// Writes the candidates of one task.
class NullWriter
{
public:
    explicit NullWriter(const Task& task) : m_task(task), m_parameters(parameters()) {}

    std::vector<NullCandidate> all()
    {
        withoutSizes();
        if (m_parameters) {
            constants();
            copies();
            fromRoot();
            ignored();
        }
        return std::move(m_all);
    }

private:
    /// Declarations that give every parameter its value from the scalars; nothing where one cannot be told.
    std::optional<std::string> parameters() const
    {
        std::string text;
        for (const std::string& name : m_task.parameters) {
            const auto carrier = std::find_if(m_task.arguments.begin(), m_task.arguments.end(), [&](const Argument& a) {
                return a.scalarValue && a.scalarValue->text() == name;
            });
            if (carrier != m_task.arguments.end()) {
                text += carrier->name == name
                            ? ""
                            : fmt::format("    [[maybe_unused]] const audit::Whole {} = {};\n", name, carrier->name);
                continue;
            }
            const auto first = m_task.cases.front().parameters.find(name);
            const bool same = first != m_task.cases.front().parameters.end() && !m_task.unseen.empty() &&
                              m_task.unseen.contains(name) && m_task.unseen.at(name).fixed &&
                              std::all_of(m_task.cases.begin(), m_task.cases.end(), [&](const TaskCase& one) {
                                  const auto own = one.parameters.find(name);
                                  return own != one.parameters.end() && own->second == first->second;
                              });
            if (!same) {
                return std::nullopt;
            }
            text += fmt::format("    [[maybe_unused]] const audit::Whole {} = {};\n", name, first->second);
        }
        return text;
    }

    static std::string elements(const Argument& argument, bool rowsOnly = false)
    {
        std::string text = "audit::Whole{1}";
        const std::size_t count = argument.shape.size() - (rowsOnly && !argument.shape.empty() ? 1 : 0);
        for (std::size_t d = 0; d < count; ++d) {
            text += fmt::format(" * ({})", argument.shape[d].text());
        }
        return text;
    }

    static std::string rowLength(const Argument& argument)
    {
        return argument.shape.empty() ? "audit::Whole{1}" : fmt::format("({})", argument.shape.back().text());
    }

    std::string entry(const std::string& body) const
    {
        return called(entryPrototype(m_task), "cudaError_t", namesOf(m_task) + ", workspace, workspace_bytes, stream",
                      body + "    return cudaGetLastError();\n");
    }

    /// A function of the entry's shape whose body stands in namespace audit, where the functions of expressions are.
    std::string called(const std::string& prototype, std::string_view result, const std::string& names,
                       const std::string& body) const
    {
        const std::string parameters = prototype.substr(prototype.find('('));
        return fmt::format("\nnamespace audit {{\n\nstatic {} run{}\n{{\n{}{}}}\n\n}} // namespace audit\n\n"
                           "{}\n{{\n    return audit::run({});\n}}\n",
                           result, parameters, m_parameters.value_or(""), body, prototype, names);
    }

    /// The root's text under another name, so that a null candidate can use its answer.
    std::string root() const
    {
        const std::string& name = m_task.entry;
        return fmt::format("#define {0} espalier_audit_root\n#define {0}_workspace espalier_audit_root_workspace\n"
                           "#line 1 \"root.cu\"\n{1}\n#undef {0}\n#undef {0}_workspace\n",
                           name, m_task.root.text);
    }

    bool rootHasWorkspace() const { return m_task.root.text.find(m_task.entry + "_workspace") != std::string::npos; }

    std::string workspace(const std::string& more) const
    {
        const std::string own =
            rootHasWorkspace() ? fmt::format("espalier_audit_root_workspace({})", scalarNames(m_task)) : "0";
        std::string text = called(workspacePrototype(m_task), "size_t", scalarNames(m_task),
                                  fmt::format("    return ({} + 255) / 256 * 256 + {};\n", own, more));
        for (const char* call : {"size_t run(", "audit::run("}) { // beside the entry's
            const std::string_view found = call;
            text.replace(text.find(found), found.size(), std::string(found.substr(0, found.size() - 1)) + "Workspace(");
        }
        return text;
    }

    std::string callRoot(const std::string& arguments) const
    {
        const std::string bytes = rootHasWorkspace()
                                      ? fmt::format("espalier_audit_root_workspace({})", scalarNames(m_task))
                                      : std::string("0");
        return fmt::format("    const cudaError_t status = espalier_audit_root({}, {}, {}, stream);\n"
                           "    if (status != cudaSuccess)\n        return status;\n",
                           arguments, rootHasWorkspace() ? "workspace" : "nullptr", bytes);
    }

    template <typename Write>
    std::string forOutputs(Write write) const
    {
        std::string body;
        for (const Argument& argument : m_task.arguments) {
            if (argument.kind == ArgumentKind::Output) {
                body += write(argument);
            }
        }
        return body;
    }

    void add(std::string id, std::string title, std::string source, std::string whenPassed)
    {
        m_all.push_back({std::move(id), std::move(title), std::move(source), std::move(whenPassed)});
    }

    void withoutSizes()
    {
        add("no_op", "does nothing", prelude + entry(""),
            "an output that was never written passes; compare every output and let cases have elements");
        const std::string first = std::find_if(m_task.arguments.begin(), m_task.arguments.end(), [](const Argument& a) {
                                      return a.kind == ArgumentKind::Output;
                                  })->name;
        const std::string body = fmt::format("    static const void* last = nullptr;\n"
                                             "    if (last == {0})\n        return cudaSuccess;\n"
                                             "    last = {0};\n{1}",
                                             first, callRoot(namesOf(m_task)));
        add("stale", "leaves the answer of the call before", prelude + root() + workspace("0") + entry(body),
            "the answer to other inputs passes: the inputs hardly change the outputs; widen the inputs' values");
    }

    void constants()
    {
        for (const auto& [id, value] : {std::pair("zeros", "0"), std::pair("constant", "0.5")}) {
            const std::string body = forOutputs([&](const Argument& y) {
                return fmt::format("    fillKernel<<<blocksFor({0}), 256, 0, stream>>>({1}, {0}, {2});\n", elements(y),
                                   y.name, value);
            });
            add(id, fmt::format("writes {} everywhere", value), prelude + entry(body),
                fmt::format("outputs of {} pass: the right answers are too close to it for their tolerance; choose "
                            "inputs whose answers differ",
                            value));
        }
    }

    void copies()
    {
        for (const Argument& x : m_task.arguments) {
            if (!isInput(x)) {
                continue;
            }
            const std::string body = forOutputs([&](const Argument& y) {
                return fmt::format("    copyKernel<<<blocksFor({0}), 256, 0, stream>>>({1}, {0}, {2}, {3});\n",
                                   elements(y), y.name, x.name, elements(x));
            });
            add("copy_" + x.name, fmt::format("copies the input {}", x.name), prelude + entry(body),
                fmt::format("a copy of {} passes: the operation does nothing that its tolerance sees", x.name));
        }
    }

    void fromRoot()
    {
        const auto afterRoot = [&](const std::string& body) {
            return prelude + root() + workspace("0") + entry(callRoot(namesOf(m_task)) + body);
        };
        add("mean", "writes the mean of each row of the right answer", afterRoot(forOutputs([&](const Argument& y) {
                return fmt::format("    rowMeansKernel<<<blocksFor({0}), 256, 0, stream>>>({1}, {0}, {2});\n",
                                   elements(y, true), y.name, rowLength(y));
            })),
            "a row's mean passes for each of its elements: answers within a row are too much alike; choose inputs "
            "whose answers differ");
        for (const auto& [id, name, bits] : lowerPrecisions()) {
            add(id, fmt::format("rounds the right answer to {}", name), afterRoot(forOutputs([&](const Argument& y) {
                    return fmt::format("    castDownKernel<<<blocksFor({0}), 256, 0, stream>>>({1}, {0}, {2});\n",
                                       elements(y), y.name, bits);
                })),
                fmt::format("answers rounded to {} pass under the contract's precision {}; state a smaller "
                            "unit_roundoff or let cases have 64 elements and more",
                            name, m_task.contract.precision));
        }
    }

    struct Lower {
        std::string id, name;
        int bits; ///< explicit significand bits
    };

    /// Types whose rounding the contract's own must tell from its own.
    std::vector<Lower> lowerPrecisions() const
    {
        const std::string& precision = m_task.contract.precision;
        if (precision == "f64") {
            return {{"cast_f32", "f32", 23}};
        }
        if (precision == "f32") {
            return {{"cast_tf32", "tf32", 10}, {"cast_bf16", "bf16", 7}};
        }
        if (precision == "tf32" || precision == "f16") {
            return {{"cast_fp8e4m3", "fp8e4m3's significand", 3}};
        }
        if (precision == "bf16") {
            return {{"cast_fp8e5m2", "fp8e5m2's significand", 2}};
        }
        return {}; // below 8 bits there is nothing to round to
    }

    /// The root on another x: passes only where the answer does not depend on x.
    void ignored()
    {
        for (const Argument& x : m_task.arguments) {
            if (!isInput(x)) {
                continue;
            }
            const std::string type = cTypeOf(x).substr(std::string_view("const ").size());
            std::vector<std::string> names;
            for (const Argument& argument : m_task.arguments) {
                names.push_back(argument.name == x.name ? "espalier_audit_copy" : argument.name);
            }
            const std::string bytes = fmt::format("({}) * {}", elements(x), bytesOf(x.type));
            std::string body =
                fmt::format("    {0} espalier_audit_copy = reinterpret_cast<{0}>(static_cast<char*>(workspace) + "
                            "workspace_bytes - ({1}));\n"
                            "    otherKernel<<<blocksFor({2}), 256, 0, stream>>>(espalier_audit_copy, {3}, {2});\n",
                            type, "((" + bytes + ") + 255) / 256 * 256", elements(x), x.name);
            body += callRoot(fmt::format("{}", fmt::join(names, ", ")));
            add("ignores_" + x.name, fmt::format("uses another {}", x.name),
                prelude + root() + workspace("((" + bytes + ") + 255) / 256 * 256") + entry(body),
                fmt::format("the answer does not move when {} does: the task is degenerate in it; change the values of "
                            "the other inputs or leave {} out",
                            x.name, x.name));
        }
    }

    const Task& m_task;
    std::optional<std::string> m_parameters;
    std::vector<NullCandidate> m_all;
};

} // namespace

std::vector<NullCandidate> nullCandidates(const Task& task)
{
    return NullWriter(task).all();
}

} // namespace espalier
