// SPDX-License-Identifier: Apache-2.0
#include "core/export/kernel_export.h"

#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/base/subprocess.h"
#include "core/export/export_check.h"
#include "core/model/task_loader.h"

#include <gtest/gtest.h>

using namespace espalier;
namespace fs = std::filesystem;

namespace {

/// `n` is a multiple of 4 at sizes up to 4096, or 65: what the task promises and what it verifies.
constexpr const char* taskJson = R"({
  "schema": 1, "id": "twice", "title": "Twice", "description": "y = 2 x", "entry": "twice", "parameters": ["n"],
  "arguments": [
    {"name": "x", "kind": "input", "dtype": "f32", "shape": ["n"], "alignment": 16},
    {"name": "y", "kind": "output", "dtype": "f32", "shape": ["n"]},
    {"name": "n", "kind": "scalar", "dtype": "i64", "value": "n"}
  ],
  "root": "root.cu", "oracle": {"kind": "cuda", "file": "oracle.cu"},
  "cases": [{"name": "small", "parameters": {"n": 64}, "roles": ["verify", "time", "simulate"]},
            {"name": "odd", "parameters": {"n": 65}, "roles": ["verify"]}],
  "unseen": {"n": {"multiple_of": 4, "max": 4096}},
  "contract": {"precision": "f32"}, "flops": "n"
})";

constexpr const char* source =
    "#include <cuda_fp16.h>\n#define STEP 2\n"
    "__global__ void twiceKernel(const float* x, float* y, int64_t n)\n{\n"
    "    const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;\n"
    "    if (i < n) y[i] = STEP * x[i];\n}\n"
    "extern \"C\" cudaError_t twice(const float* x, float* y, int64_t n, void*, size_t, cudaStream_t stream)\n{\n"
    "    twiceKernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);\n    return cudaGetLastError();\n}\n";

class ExportTest : public testing::Test
{
protected:
    void SetUp() override
    {
        auto scratch = ScratchFolder::create("espalier-export-test");
        ASSERT_TRUE(scratch);
        m_scratch.emplace(std::move(*scratch));
        auto task = parseTask(taskJson, [](std::string_view path) -> Result<std::string> {
            if (path != "root.cu" && path != "oracle.cu") {
                return fail(ErrorCode::NotFound, "there is no such file");
            }
            return path == "root.cu" ? source : "// the oracle\n";
        });
        ASSERT_TRUE(task) << task.error().message;
        m_task = std::move(*task);
        m_node.summary.id = NodeId{7};
        m_node.summary.kind = NodeKind::Candidate;
        m_node.summary.state = NodeState::Done;
        m_node.summary.outcome = Outcome::Passed;
        m_node.summary.title = "plain";
        m_node.summary.proposer = "playbook";
        m_node.source = source;
        m_node.evaluation.outcome = Outcome::Passed;
        m_node.evaluation.build = BuildRecord{.architecture = "sm_90a", .toolkit = "13.0.88"};
        CaseTiming timing;
        timing.caseId = "small";
        timing.provenance = Provenance::Model;
        timing.timeUs = {12.5, 12.5, 12.5};
        timing.speedupRoot = Interval{1.8, 1.8, 1.8};
        m_node.evaluation.timing = TimingRecord{.cases = {timing}};
        m_session.deviceName = "Simulated H200";
    }

    Result<ExportedFiles> exported(const std::string& name = "") const
    {
        return exportKernel({m_task, m_node, m_session, "cuda", folder(), name, "580.1"});
    }
    /// nvcc's complaints about `files`, compiled in the export's folder into one program; empty: none.
    std::string built(const std::vector<std::string>& files, const std::string& architecture = "90a") const
    {
        ProcessSpec compile;
        compile.argv = {ESPALIER_NVCC,
                        "-std=c++17",
                        "-gencode",
                        "arch=compute_" + architecture + ",code=sm_" + architecture,
                        architecture == "90a" ? "-O1" : "-c",
                        "-o",
                        "app"};
        compile.argv.insert(compile.argv.end(), files.begin(), files.end());
        compile.workingDirectory = folder().string();
        const auto result = runToEnd(compile, "", std::chrono::seconds(100));
        return !result ? result.error().message : result->status.success() ? "" : result->err + result->out;
    }
    std::string text(const std::string& file) const { return readFile(folder() / file).value_or("(missing)"); }
    fs::path folder() const { return m_scratch->path() / "out"; }

    std::optional<ScratchFolder> m_scratch;
    Task m_task;
    NodeDetail m_node;
    SessionInfo m_session;
};

} // namespace

TEST_F(ExportTest, SourceIsUntouchedBelowAnHonestHead)
{
    const auto files = exported();
    ASSERT_TRUE(files) << files.error().message;
    ASSERT_EQ(files->files.size(), 7u); // and task.json, oracle, root, hashes
    const std::string text = *readFile(folder() / "twice.cu");
    EXPECT_NE(text.find(source), std::string::npos);
    EXPECT_TRUE(text.starts_with("// SPDX-License-Identifier: 0BSD\n"));
    EXPECT_NE(text.find("modelled, not measured: ≈12.5 us per call, ≈1.8x of the root kernel\n"), std::string::npos)
        << text;
    const auto evidence = parseJson(*readFile(folder() / "twice.evidence.json"), "evidence");
    ASSERT_TRUE(evidence);
    EXPECT_EQ((*evidence)["session"]["provenance"], "model");
    EXPECT_EQ((*evidence)["node"]["id"], 7);
    EXPECT_EQ((*evidence)["source_sha256"], sha256(text)) << "of the file that lies there";
    EXPECT_EQ((*evidence)["contract"]["unit_roundoff"], 0x1p-24);
    EXPECT_EQ((*evidence)["contract"]["element_factor"], 16);
    EXPECT_EQ((*evidence)["device"]["driver"], "580.1");
    EXPECT_FALSE((*evidence)["espalier"].get<std::string>().empty());
    EXPECT_EQ((*evidence)["task"]["sha256"]["oracle.cu"], sha256("// the oracle\n"));
}

TEST_F(ExportTest, TheTaskBesideItIsATaskAgain)
{
    ASSERT_TRUE(exported());
    const auto task = loadTask((folder() / "twice.task").string());
    ASSERT_TRUE(task) << task.error().message;
    EXPECT_EQ(task->hash, m_task.hash);
    EXPECT_EQ(task->oracle.source.text, "// the oracle\n");
}

/// Headers come along, wherever the session has put them; what lies outside of the task's folder is named by its place.
TEST_F(ExportTest, IncludeFoldersComeAlong)
{
    const fs::path own = m_scratch->path() / "task", outside = m_scratch->path() / "shared";
    std::string json = taskJson;
    json.insert(json.rfind('}'), ", \"build\": {\"include\": [\"inc\", \"../shared\"]}");
    for (const auto& [path, content] : {std::pair(own / "task.json", json),
                                        {own / "root.cu", source},
                                        {own / "oracle.cu", "// the oracle\n"},
                                        {own / "inc/deep/step.h", "#define STEP 2\n"},
                                        {outside / "other.h", "\n"}}) {
        ASSERT_TRUE(makeDirectories(path.parent_path()));
        ASSERT_TRUE(writeFileAtomically(path, content));
    }
    auto task = loadTask(own.string());
    ASSERT_TRUE(task) << task.error().message;
    m_task = std::move(*task);
    const fs::path moved = m_scratch->path() / "cached";
    fs::rename(own / "inc", moved);
    m_task.build.includeRoots.front() = moved.string(); // as a session has it that carries its task
    ASSERT_TRUE(exported());
    EXPECT_EQ(changedSince(folder(), "twice"), "");
    EXPECT_NE(text("twice.cu").find(" -Itwice.task/inc -I" + outside.string() + " "), std::string::npos)
        << text("twice.cu");
    fs::remove_all(moved);
    fs::remove_all(own);
    const auto again = loadTask((folder() / "twice.task").string());
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->build.includeRoots,
              (std::vector<std::string>{(folder() / "twice.task/inc").string(), outside.string()}));
    EXPECT_EQ(text("twice.task/inc/deep/step.h"), "#define STEP 2\n");
}

TEST_F(ExportTest, FilesOfAnEarlierEditionAreSetAside)
{
    ASSERT_TRUE(exported());
    m_task.oracle.source.name = "reference.cu";
    m_task.json.replace(m_task.json.find("oracle.cu"), 9, "reference.cu");
    ASSERT_TRUE(exported());
    EXPECT_EQ(changedSince(folder(), "twice"), "");
    EXPECT_EQ(text("twice.task/oracle.cu.bak"), "// the oracle\n");
    EXPECT_TRUE(loadTask((folder() / "twice.task").string()));
}

TEST_F(ExportTest, TheHeaderDeclaresWhatThereIsAndStatesUnderWhichConditions)
{
    ASSERT_TRUE(exported());
    for (const char* line :
         {"//  * x            const float*, [n], dense and row-major, read only, apart from all other "
          "arguments; aligned to 16 bytes\n",
          "//  * n            int64_t, n, at least 4, at most 4096, a multiple of 4; or one of 65\n",
          "_workspace(n) bytes, as workspace_bytes says; aligned to 256 bytes; nullptr where 0 are needed\n",
          "extern \"C\" size_t twice_", "architecture sm_90a"}) {
        EXPECT_NE(text("twice.h").find(line), std::string::npos) << line << "in\n" << text("twice.h");
    }
}

TEST_F(ExportTest, WhatAPersonPassedIsNeverCalledVerified)
{
    m_node.summary.reason = m_node.evaluation.reason = "output y[3] is wrong, 306 times the allowed error";
    m_node.evaluation.outcome = Outcome::Incorrect;
    m_node.summary.overturned = Overturn{Outcome::Passed, "the oracle\n#error rounds twice \\", "ada",
                                         "2026-11-30T08:00:00Z", Outcome::Incorrect};
    ASSERT_TRUE(exported());
    const std::string text = *readFile(folder() / "twice.cu");
    EXPECT_EQ(text.find("Verified"), std::string::npos) << text;
    EXPECT_NE(
        text.find("\n// Passed by hand, not by the judge (ada, 2026-11-30T08:00:00Z): the oracle #error rounds twice\n"
                  "// The judge's verdict in task twice on Simulated H200: incorrect: output y[3] is wrong, 306 times"),
        std::string::npos)
        << text;
    const Json evidence = *parseJson(*readFile(folder() / "twice.evidence.json"), "evidence");
    EXPECT_EQ(evidence["overturned"]["author"], "ada");
    EXPECT_EQ(evidence["overturned"]["judged"], "incorrect");
    EXPECT_EQ(evidence["evaluation"]["outcome"], "incorrect");
}

/// The engineer's build: nothing of Espalier but the exported files. Three exports of one task lie in one program, two
/// of them in one translation unit, and what comes before the kernel is called runs without a GPU.
TEST_F(ExportTest, ExportsShareAForeignBuildAndRefuseWhatWasNotVerified)
{
    ASSERT_TRUE(exported());
    // entry.h gives the linkage, so a source need not; and what defines a function may be a macro.
    m_node.source.replace(m_node.source.find("extern \"C\" "), 11, "");
    m_node.source += "#define QUERY(name) size_t name##_workspace(int64_t n)\nQUERY(twice) { return 4 * n; }\n";
    ASSERT_TRUE(exported("faster"));
    m_node.source = std::string(source) + "// another kernel\n";
    ASSERT_TRUE(exportKernel({m_task, m_node, m_session, "cuda", folder() / "b"}));
    const std::string symbol = "twice_" + sha256(m_node.source).substr(0, 8);
    ASSERT_TRUE(writeFileAtomically(
        folder() / "main.cu",
        "#include \"twice.h\"\n#include \"faster.h\"\n#include <cstdio>\n"
        "int plain() { return twice(reinterpret_cast<float*>(4), nullptr, 4, nullptr, 0, 0); }\n"
        "#include \"b/twice.h\"\n#include \"twice.cu\"\n#include \"b/twice.cu\"\n"
        "#ifdef STEP\n#error a macro is left\n#endif\n"
        "int main()\n{\n    std::printf(\"%d %d %d\\n\", plain(), int(faster(nullptr, nullptr, 5, nullptr, 0, 0)),\n"
        "        int(" +
            symbol +
            "(nullptr, nullptr, 8192, nullptr, 0, 0)));\n"
            "    std::printf(\"%d %d %d %d\\n\", int(faster_workspace(8)), int(faster(nullptr, nullptr, 8, nullptr, "
            "31, "
            "0)),\n"
            "        int(" +
            symbol + "_workspace(8)), " + symbol +
            "(nullptr, nullptr, 65, nullptr, 0, 0) == cudaErrorInvalidValue);\n}\n"));
    ASSERT_EQ(built({"main.cu", "faster.cu"}), "") << text("twice.h") << text("twice.cu");
    ProcessSpec app;
    app.argv = {(folder() / "app").string()};
    const auto ran = runToEnd(app, "", std::chrono::seconds(20));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->out, "1 1 1\n32 1 0 0\n") << "cudaErrorInvalidValue, without a device; what was verified is not";
}

TEST_F(ExportTest, AnotherArchitectureIsRefusedByTheCompiler)
{
    ASSERT_TRUE(exported());
    EXPECT_NE(built({"twice.cu"}, "80").find("was built and verified for sm_90a only"), std::string::npos);
}

TEST_F(ExportTest, NamesThatAreNoneAreRefused)
{
    EXPECT_EQ(exported("two words").error().message,
              "\"two words\" cannot name a C function: use letters, digits and _, and no keyword");
    EXPECT_FALSE(exported("int"));
    EXPECT_FALSE(fs::exists(folder()));
}

TEST_F(ExportTest, AFolderWithBlanksAndOtherLettersWorks)
{
    const fs::path strange = m_scratch->path() / "für Ada" / "k e r n e l";
    ASSERT_TRUE(exportKernel({m_task, m_node, m_session, "cuda", strange / ""}));
    EXPECT_TRUE(fs::exists(strange / "twice.sha256"));
    int others = 0;
    for (const auto& entry : fs::directory_iterator(strange.parent_path())) {
        others += entry.path() != strange;
    }
    EXPECT_EQ(others, 0) << "nothing is left beside it";
}

TEST_F(ExportTest, ExistingFilesAreKept)
{
    ASSERT_TRUE(exported());
    ASSERT_TRUE(writeFileAtomically(folder() / "twice.cu", "the engineer's own\n"));
    ASSERT_TRUE(exported());
    EXPECT_EQ(*readFile(folder() / "twice.cu.bak"), "the engineer's own\n");
    ASSERT_TRUE(exported()); // the same content again leaves no further backup
    EXPECT_FALSE(fs::exists(folder() / "twice.cu.bak2"));
    ASSERT_TRUE(writeFileAtomically(folder() / "twice.cu", "once more\n"));
    ASSERT_TRUE(exported());
    EXPECT_EQ(*readFile(folder() / "twice.cu.bak2"), "once more\n");
}

TEST_F(ExportTest, FilesOfAnotherNodeAreReplacedWithAWord)
{
    EXPECT_EQ(exported()->replaced, "");
    EXPECT_EQ(exported()->replaced, "");
    m_node.summary.id = NodeId{9};
    EXPECT_EQ(exported()->replaced, "The files of node 7 in " + folder().string() +
                                        " are replaced by those of node 9; the old ones are kept there as "
                                        "twice.cu.bak, twice.h.bak, twice.evidence.json.bak, twice.sha256.bak.");
    EXPECT_EQ(exported()->replaced, "");
    ASSERT_TRUE(writeFileAtomically(folder() / "twice.evidence.json", "[1]"));
    EXPECT_EQ(exported()->replaced, "") << "of nobody that is known";
}

TEST_F(ExportTest, OnlyVerifiedKernelsLeave)
{
    m_node.summary.outcome = Outcome::Incorrect;
    EXPECT_EQ(exported().error().message, "node 7 did not pass (incorrect); only kernels that passed are exported");
    m_node.summary.kind = NodeKind::Idea;
    EXPECT_FALSE(exported());
    EXPECT_FALSE(fs::exists(folder()));
}

TEST_F(ExportTest, UnwritableFolderIsOneSentence)
{
    const auto result = exportKernel({m_task, m_node, m_session, "cuda", "/proc/no/such"});
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().message.find("/proc/no/such"), std::string::npos);
}

TEST_F(ExportTest, OtherFormsSaySo)
{
    EXPECT_EQ(exportKernel({m_task, m_node, m_session, "torch", folder()}).error().code, ErrorCode::NotSupported);
}
