// SPDX-License-Identifier: Apache-2.0
// Every kernel of every built-in task on the simulated device: built as candidates are, run over the cases with the
// role `simulate`, compared with the task's own oracle by the two-part tolerance. What needs a tensor core or a cluster
// must be refused as unsupported, not fail. Prints what each call cost.
#include "core/model/task_loader.h"
#include "tests/simgpu/sim_fixture.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <random>
#include <unistd.h>

namespace espalier::sim::test {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t workspaceBytes = 8u << 20;
/// A call on the simulated device must stay cheap: the interpreter does 50 to 200 million of these a second.
constexpr std::uint64_t mostThreadInstructions = 8'000'000;
constexpr double u = 0x1p-24;

/// Addresses and numbers of one call, in the order of the task's arguments.
struct Call {
    std::vector<std::uint64_t> inputs;
    std::uint64_t output = 0, reference = 0, scale = 0, workspace = 0;
    std::vector<std::int64_t> sizes;
    std::int64_t elements = 0;
};

int callSoftmax(const Call& c, void* entry, std::size_t bytes, void* stream)
{
    using Entry = int (*)(std::uint64_t, std::uint64_t, std::int64_t, std::int64_t, std::uint64_t, std::size_t, void*);
    return reinterpret_cast<Entry>(entry)(c.inputs[0], c.output, c.sizes[0], c.sizes[1], c.workspace, bytes, stream);
}

int oracleSoftmax(const Call& c, void* entry, void* stream)
{
    using Entry = int (*)(std::uint64_t, std::int64_t, std::int64_t, std::uint64_t, std::uint64_t, std::int64_t,
                          std::int64_t, void*);
    return reinterpret_cast<Entry>(entry)(c.inputs[0], c.sizes[0], c.sizes[1], c.reference, c.scale, 0, c.elements,
                                          stream);
}

int callLayernorm(const Call& c, void* entry, std::size_t bytes, void* stream)
{
    using Entry = int (*)(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::int64_t, std::int64_t, float,
                          std::uint64_t, std::size_t, void*);
    return reinterpret_cast<Entry>(entry)(c.inputs[0], c.inputs[1], c.inputs[2], c.output, c.sizes[0], c.sizes[1],
                                          1e-5f, c.workspace, bytes, stream);
}

int oracleLayernorm(const Call& c, void* entry, void* stream)
{
    using Entry = int (*)(std::uint64_t, std::uint64_t, std::uint64_t, std::int64_t, std::int64_t, float, std::uint64_t,
                          std::uint64_t, std::int64_t, std::int64_t, void*);
    return reinterpret_cast<Entry>(entry)(c.inputs[0], c.inputs[1], c.inputs[2], c.sizes[0], c.sizes[1], 1e-5f,
                                          c.reference, c.scale, 0, c.elements, stream);
}

int callMatmul(const Call& c, void* entry, std::size_t bytes, void* stream)
{
    using Entry = int (*)(std::uint64_t, std::uint64_t, std::uint64_t, std::int64_t, std::int64_t, std::int64_t,
                          std::uint64_t, std::size_t, void*);
    return reinterpret_cast<Entry>(entry)(c.inputs[0], c.inputs[1], c.output, c.sizes[0], c.sizes[1], c.sizes[2],
                                          c.workspace, bytes, stream);
}

int oracleMatmul(const Call& c, void* entry, void* stream)
{
    using Entry = int (*)(std::uint64_t, std::uint64_t, std::int64_t, std::int64_t, std::int64_t, std::uint64_t,
                          std::uint64_t, std::int64_t, std::int64_t, void*);
    return reinterpret_cast<Entry>(entry)(c.inputs[0], c.inputs[1], c.sizes[0], c.sizes[1], c.sizes[2], c.reference,
                                          c.scale, 0, c.elements, stream);
}

struct TaskCalls {
    const char* id;
    int (*candidate)(const Call&, void*, std::size_t, void*);
    int (*oracle)(const Call&, void*, void*);
    std::size_t (*workspace)(const Call&, void*);
};

std::size_t workspaceOfTwo(const Call& c, void* entry)
{
    return reinterpret_cast<std::size_t (*)(std::int64_t, std::int64_t)>(entry)(c.sizes[0], c.sizes[1]);
}

std::size_t workspaceOfLayernorm(const Call& c, void* entry)
{
    return reinterpret_cast<std::size_t (*)(std::int64_t, std::int64_t, float)>(entry)(c.sizes[0], c.sizes[1], 1e-5f);
}

std::size_t workspaceOfThree(const Call& c, void* entry)
{
    using Entry = std::size_t (*)(std::int64_t, std::int64_t, std::int64_t);
    return reinterpret_cast<Entry>(entry)(c.sizes[0], c.sizes[1], c.sizes[2]);
}

constexpr TaskCalls softmaxCalls{"softmax_f32", callSoftmax, oracleSoftmax, workspaceOfTwo};
constexpr TaskCalls layernormCalls{"layernorm_f32", callLayernorm, oracleLayernorm, workspaceOfLayernorm};
constexpr TaskCalls matmulCalls{"matmul_f32", callMatmul, oracleMatmul, workspaceOfThree};

class SimulatedKernels : public SimFixture
{
protected:
    struct Granted {
        Array array;
        std::string name;
        Grant access = Grant::ReadOnly;
    };

    void SetUp() override
    {
        SimFixture::SetUp();
        m_folder = fs::temp_directory_path() / ("espalier_kernels_" + std::to_string(::getpid()));
        fs::create_directories(m_folder);
    }
    void TearDown() override { fs::remove_all(m_folder); }

    /// Builds a source as a candidate; empty when nvcc refuses.
    std::string build(const std::string& name, const std::string& text)
    {
        const fs::path source = m_folder / (name + ".cu"), library = m_folder / (name + ".so");
        std::ofstream(source) << text;
        const std::string command =
            std::string(NVCC_PATH) +
            " -shared -Xcompiler -fPIC -cudart none --no-compress -lineinfo -std=c++17 -gencode "
            "'arch=compute_90a,code=[sm_90a,compute_90a]' -o '" +
            library.string() + "' '" + source.string() + "'";
        return std::system(command.c_str()) == 0 ? library.string() : "";
    }

    /// All buffers of one case: inputs, output, reference, scale, workspace.
    void prepare(const Task& task, const TaskCase& c)
    {
        m_arrays.clear();
        m_call = {};
        std::mt19937 random(7);
        for (const Argument& argument : task.arguments) {
            if (argument.kind == ArgumentKind::Scalar) {
                if (argument.type == DataType::I64) {
                    m_call.sizes.push_back(c.parameters.at(argument.name));
                }
                continue;
            }
            const auto count = elementCount(task, argument, c);
            ASSERT_TRUE(count) << count.error().message;
            Array values = array(*count, std::numeric_limits<float>::quiet_NaN());
            if (argument.kind == ArgumentKind::Input) {
                std::normal_distribution<float> normal(static_cast<float>(argument.values.a), 1.0f);
                for (float& v : values.values()) {
                    v = normal(random);
                }
            } else {
                m_call.elements = static_cast<std::int64_t>(*count);
                m_output = m_arrays.size();
            }
            m_arrays.push_back({std::move(values), argument.name,
                                argument.kind == ArgumentKind::Input ? Grant::ReadOnly : Grant::ReadWrite});
        }
        const auto elements = static_cast<std::uint64_t>(m_call.elements);
        m_arrays.push_back({array(2 * elements, 0), "reference", Grant::ReadWrite});
        m_arrays.push_back({array(2 * elements, 0), "scale", Grant::ReadWrite});
        m_arrays.push_back(
            {array(workspaceBytes / 4, std::numeric_limits<float>::quiet_NaN()), "workspace", Grant::ReadWrite});
    }

    /// One call in a runner of its own.
    std::optional<CallReport> run(const std::string& library, const std::string& entry, const TaskCalls& calls,
                                  bool oracle)
    {
        auto client = m_gpu->createClient();
        EXPECT_TRUE(client) << client.error().message;
        std::vector<std::pair<BufferGrant, std::size_t>> grants;
        for (const Granted& g : m_arrays) {
            grantTo(client->id, g.array, g.access, g.name);
            grants.push_back(mapping(g.array, g.access));
        }
        const std::size_t output = m_output, inputs = m_arrays.size() - 4;
        ForkedRunner runner(
            std::move(client->runnerEnd), library, std::move(grants),
            [call = m_call, calls, oracle, output, inputs, entry](RunnerView& view, void* found) mutable {
                for (std::size_t i = 0; i <= inputs; ++i) {
                    i == output ? void(call.output = view.addresses[i]) : call.inputs.push_back(view.addresses[i]);
                }
                call.reference = view.addresses[inputs + 1];
                call.scale = view.addresses[inputs + 2];
                call.workspace = view.addresses[inputs + 3];
                if (oracle) {
                    return calls.oracle(call, found, view.device.stream());
                }
                void* asks = ::dlsym(view.library, (entry + "_workspace").c_str());
                const std::size_t bytes = asks ? calls.workspace(call, asks) : 0;
                return bytes > workspaceBytes ? 2 : calls.candidate(call, found, bytes, view.device.stream());
            });
        if (!runner.ready() || !m_gpu->beginBlock(client->id, {400'000'000})) {
            return std::nullopt;
        }
        runner.block(entry + (oracle ? "_oracle" : ""));
        const auto report = m_gpu->finishBlock(client->id, std::chrono::seconds(60));
        EXPECT_TRUE(report) << report.error().message;
        EXPECT_TRUE(m_gpu->dropClient(client->id));
        return report && report->calls.size() == 1 ? std::optional(report->calls[0]) : std::nullopt;
    }

    /// Worst element and norm error, each as a part of its bound.
    std::pair<double, double> compare(double bound) const
    {
        const auto out = m_arrays[m_output].array.values();
        const auto doubles = [&](std::size_t fromEnd) {
            return reinterpret_cast<const double*>(m_arrays[m_arrays.size() - fromEnd].array.values().data());
        };
        const double* reference = doubles(3);
        const double* scale = doubles(2);
        double worst = 0, error2 = 0, reference2 = 0;
        for (std::size_t i = 0; i < out.size(); ++i) {
            const double error = std::abs(out[i] - reference[i]);
            if (!(error <= std::numeric_limits<float>::min())) {
                worst = std::isfinite(out[i]) ? std::max(worst, error / (16 * u * scale[i])) : HUGE_VAL;
            }
            error2 += error * error;
            reference2 += reference[i] * reference[i];
        }
        return {worst, reference2 > 0 ? std::sqrt(error2 / reference2) / bound : 0};
    }

    void checkTask(const TaskCalls& calls)
    {
        const Result<Task> task = loadTask(calls.id);
        ASSERT_TRUE(task) << task.error().message;
        std::vector<std::pair<std::string, std::string>> kernels{{"root", task->root.text}};
        for (const PlaybookIdea& idea : task->playbook) {
            kernels.emplace_back(idea.id, idea.source.text);
        }
        std::map<std::string, std::string> libraries;
        for (const auto& [name, text] : kernels) {
            libraries[name] = build(name, text);
            ASSERT_FALSE(libraries[name].empty()) << name;
        }
        const std::string oracle = build("oracle", task->oracle.source.text);
        for (const TaskCase* c : task->casesWith(CaseRole::Simulate)) {
            ASSERT_NO_FATAL_FAILURE(prepare(*task, *c));
            const auto truth = run(oracle, task->entry, calls, true);
            ASSERT_TRUE(truth && !truth->fault && truth->unsupported.empty())
                << c->id << ": oracle: "
                << (!truth         ? "no report"
                    : truth->fault ? truth->fault->sentence
                                   : truth->unsupported[0]);
            for (const auto& [name, text] : kernels) {
                checkKernel(*task, *c, calls, name, libraries[name]);
            }
        }
    }

    void checkKernel(const Task& task, const TaskCase& c, const TaskCalls& calls, const std::string& name,
                     const std::string& library)
    {
        const std::string what = task.id + " " + c.id + " " + name;
        std::ranges::fill(m_arrays[m_output].array.values(), std::numeric_limits<float>::quiet_NaN());
        const auto report = run(library, task.entry, calls, false);
        ASSERT_TRUE(report) << what;
        if (!report->unsupported.empty()) {
            std::printf("%-40s unsupported: %s\n", what.c_str(), report->unsupported[0].c_str());
            EXPECT_NE(name, "root") << "the root must run on the simulated device";
            return;
        }
        ASSERT_FALSE(report->fault) << what << ": " << report->fault->sentence;
        EXPECT_EQ(report->hostStatus, 0) << what;
        EXPECT_TRUE(report->misuse.empty()) << what << ": " << report->misuse[0];
        EXPECT_EQ(report->unjoined, 0u) << what;
        const auto bound = normBound(task, m_arrays[m_output].name, c);
        ASSERT_TRUE(bound) << bound.error().message;
        const auto [element, norm] = compare(*bound);
        EXPECT_LE(element, 1) << what;
        EXPECT_LE(norm, 1) << what;
        EXPECT_LE(report->counters.threadInstructions, mostThreadInstructions) << what;
        std::printf("%-40s element %.3f norm %.3f of the bound, %.3f M thread instructions, %.2f us modelled\n",
                    what.c_str(), element, norm, static_cast<double>(report->counters.threadInstructions) / 1e6,
                    report->modelledSeconds * 1e6);
    }

private:
    fs::path m_folder;
    std::vector<Granted> m_arrays;
    std::size_t m_output = 0;
    Call m_call;
};

TEST_F(SimulatedKernels, Softmax)
{
    checkTask(softmaxCalls);
}

TEST_F(SimulatedKernels, Layernorm)
{
    checkTask(layernormCalls);
}

TEST_F(SimulatedKernels, Matmul)
{
    checkTask(matmulCalls);
}

} // namespace
} // namespace espalier::sim::test
