// SPDX-License-Identifier: Apache-2.0
// A session of one's own task, used from another folder, after the task's folder is gone, as a copy, and with another
// edition of the task.
#include "tests/app/ctl_support.h"

#include <csignal>
#include <fmt/format.h>
#include <thread>

namespace espalier::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr const char* taskText = R"({
  "schema": 1, "id": "twice", "title": "Twice", "parameters": ["n"],
  "arguments": [{"name": "x", "kind": "input", "dtype": "f32", "shape": ["n"]},
                {"name": "y", "kind": "output", "dtype": "f32", "shape": ["n"]},
                {"name": "n", "kind": "scalar", "dtype": "i64", "value": "n"}],
  "oracle": {"kind": "cuda"}, "contract": {"precision": "f32"}, "flops": "n", "build": {"include": ["inc"]},
  "cases": [{"name": "a", "parameters": {"n": 1000}, "roles": ["verify", "simulate"]},
            {"name": "b", "parameters": {"n": 1048576}, "roles": ["time"]}]})";

constexpr const char* oracleText = R"(#include <cstdint>
__global__ void o(const float* x, double* ref, double* scale, int64_t first, int64_t count)
{
    const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < count) {
        ref[i] = 2.0 * x[first + i];
        scale[i] = fabs(ref[i]);
    }
}
extern "C" cudaError_t twice_oracle(const float* x, int64_t, double* ref, double* scale, int64_t first, int64_t count,
                                      cudaStream_t stream)
{
    o<<<(count + 127) / 128, 128, 0, stream>>>(x, ref, scale, first, count);
    return cudaGetLastError();
}
)";

std::string kernelText(int threads)
{
    return fmt::format(R"(#include <cstdint>
#include "factor.h"
__global__ void k(const float* x, float* y, int64_t n)
{{
    const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) {{
        y[i] = FACTOR * x[i];
    }}
}}
extern "C" cudaError_t twice(const float* x, float* y, int64_t n, void*, size_t, cudaStream_t stream)
{{
    k<<<(n + {0} - 1) / {0}, {0}, 0, stream>>>(x, y, n);
    return cudaGetLastError();
}}
)",
                       threads);
}

class Elsewhere : public CtlTest
{
protected:
    void SetUp() override
    {
        CtlTest::SetUp();
        fs::create_directories(m_scratch->path() / "my ops/twice/inc");
        fs::create_directories(m_scratch->path() / "else where");
        write("my ops/twice/task.json", taskText);
        write("my ops/twice/oracle.cu", oracleText);
        write("my ops/twice/root.cu", kernelText(32));
        write("my ops/twice/inc/factor.h", "#define FACTOR 2.0f\n");
        write("kernel.cu", kernelText(256));
    }

    /// A line as the program has printed it, pasted into a shell in another folder.
    RunResult pasted(const std::string& line) const
    {
        ProcessSpec shell = spec({});
        shell.argv = {"/bin/sh", "-c", line};
        shell.environment->at(0) = std::string("PATH=") + ESPALIER_BIN + ":/usr/local/bin:/usr/bin:/bin";
        shell.workingDirectory = path("else where");
        auto result = runToEnd(shell, "", 100s, std::size_t{1} << 20);
        EXPECT_TRUE(result) << result.error().message;
        return std::move(*result);
    }
    RunResult there(const std::string& words) const { return pasted("espalierctl " + words); }

    static std::string lineWith(const std::string& text, const std::string& mark)
    {
        const std::size_t at = text.find(mark);
        return at == std::string::npos ? std::string() : text.substr(at, text.find('\n', at) - at);
    }
};

TEST_F(Elsewhere, EveryVerbWorksFromAnotherFolderWithoutTheTasksFolder)
{
    const auto begun = ctl({"run", "my ops/twice", "--session", "my s.espalier", "--device", "sim", "--evals", "0"});
    ASSERT_EQ(begun.status.code, 0) << begun.err;
    fs::remove_all(m_scratch->path() / "my ops");

    const auto exporting = lineWith(begun.out, "espalierctl export ");
    ASSERT_FALSE(exporting.empty()) << begun.out;
    const auto exported = pasted(exporting);
    EXPECT_EQ(exported.status.code, 0) << exporting << exported.err;
    EXPECT_TRUE(fs::exists(path("else where/DIR/twice.cu")));

    const std::string session = "'../my s.espalier'";
    const auto repro = there("repro " + session + " 1 --to 'my repro.cu'");
    EXPECT_EQ(repro.status.code, 0) << repro.err;
    EXPECT_TRUE(fs::exists(path("else where/my repro.cu")));
    EXPECT_EQ(there("steer " + session + " inject ../kernel.cu").status.code, 0);
    EXPECT_EQ(there("steer " + session + " add-idea --node 1 --title t --text x").status.code, 0);
    const auto judged = there("run --session " + session + " --evals 1");
    EXPECT_EQ(judged.status.code, 0) << judged.err;
    EXPECT_NE(judged.out.find("1 evaluation"), std::string::npos) << judged.out;
    EXPECT_NE(judged.out.find("1 passed"), std::string::npos) << judged.out << judged.err;
    const auto report = there("report " + session + " --to report");
    EXPECT_EQ(report.status.code, 0) << report.err;
    for (const char* name : {"twice", "'../my ops/twice'"}) { // as the engineer may still call it
        EXPECT_EQ(there(fmt::format("run {} --session {}", name, session)).status.code, 0) << name;
    }
    const auto unknown = there("run softmaxx --session " + session);
    EXPECT_EQ(unknown.status.code, 2);
}

TEST_F(Elsewhere, ThePrintedLineGoesOn)
{
    auto process = Subprocess::start(
        spec({"run", "softmax_f32", "--session", "my pause.espalier", "--device", "sim", "--evals", "200"}));
    ASSERT_TRUE(process);
    for (int i = 0; i < 400 && !fs::exists(path("my pause.espalier")); ++i) {
        std::this_thread::sleep_for(50ms);
    }
    std::this_thread::sleep_for(500ms);
    ::kill(process->pid(), SIGINT);
    ASSERT_TRUE(process->wait(60s));
    // What it printed; the pipe of a process that we do not read is too small for a run's lines to matter.
    const std::string printed = "espalierctl run --session '" + path("my pause.espalier") + "'";
    const auto went = pasted(printed + " --evals 0");
    EXPECT_EQ(went.status.code, 0) << went.err;
    EXPECT_FALSE(fs::exists(path("my pause.espalier-wal"))) << "a closed session is one file";
}

TEST_F(Elsewhere, ACopyIsWholeAndNothingIsOverwritten)
{
    ASSERT_EQ(ctl({"run", "my ops/twice", "--session", "s.espalier", "--device", "sim", "--evals", "0"}).status.code,
              0);
    const auto copied = there("copy ../s.espalier 'a copy.espalier'");
    EXPECT_EQ(copied.status.code, 0) << copied.err;
    EXPECT_EQ(copied.out, "a copy.espalier\n");
    const auto shown = [&](const std::string& file) {
        Json json = onlyJson(there("show " + file + " --json"));
        json["session"].erase("file");
        return json;
    };
    EXPECT_EQ(shown("'a copy.espalier'"), shown("../s.espalier"));
    const auto again = there("copy ../s.espalier 'a copy.espalier'");
    EXPECT_EQ(again.status.code, 2);
    EXPECT_NE(again.err.find("exists already, and nothing is overwritten: name another file"), std::string::npos)
        << again.err;
}

TEST_F(Elsewhere, AnotherEditionKeepsTheTree)
{
    ASSERT_EQ(ctl({"run", "my ops/twice", "--session", "s.espalier", "--device", "sim", "--evals", "0"}).status.code,
              0);
    ASSERT_EQ(ctl({"steer", "s.espalier", "inject", "kernel.cu"}).status.code, 0);
    ASSERT_EQ(ctl({"run", "--session", "s.espalier", "--evals", "1"}).status.code, 0);

    // Another gate: what passed the old one is shown, and exported once it has passed the new one.
    write("my ops/twice/oracle.cu", std::string(oracleText) + "// by another hand\n");
    ASSERT_EQ(ctl({"run", "--session", "s.espalier"}).status.code, 0);
    EXPECT_EQ(onlyJson(ctl({"show", "s.espalier", "--json"}))["session"]["task_edition"], 1)
        << "nobody has said that it counts";
    ASSERT_EQ(ctl({"run", "--task", "my ops/twice", "--session", "s.espalier", "--dry-run"}).status.code, 0);
    const auto taken = ctl({"steer", "s.espalier", "pin", "--node", "2"});
    ASSERT_EQ(taken.status.code, 0) << taken.err;
    const auto run = ctl({"run", "--task", "my ops/twice", "--session", "s.espalier"});
    ASSERT_EQ(run.status.code, 0) << run.err;
    EXPECT_NE(run.err.find("is taken over as edition 2 (changed: oracle)"), std::string::npos) << run.err;
    const Json shown = onlyJson(ctl({"show", "s.espalier", "--json"}));
    EXPECT_EQ(shown["session"]["task_edition"], 2);
    EXPECT_EQ(shown["nodes"].size(), 2u);
    EXPECT_EQ(ctl({"export", "s.espalier", "--node", "1", "--to", "out"}).status.code, 0);

    // Another operation: no.
    std::string other = taskText;
    other.replace(other.find("f32"), 3, "f16");
    write("my ops/twice/task.json", other);
    const auto refused = ctl({"run", "my ops/twice", "--session", "s.espalier"});
    EXPECT_EQ(refused.status.code, 2);
    EXPECT_NE(refused.err.find("is another operation than that of"), std::string::npos) << refused.err;
    EXPECT_EQ(ctl({"run", "--session", "s.espalier"}).status.code, 0) << "the session stays as it was";
}

} // namespace
} // namespace espalier::test
