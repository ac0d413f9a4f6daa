// SPDX-License-Identifier: Apache-2.0
#include "core/export/kernel_export.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/subprocess.h"

#include <gtest/gtest.h>

using namespace espalier;
namespace fs = std::filesystem;

namespace {

constexpr const char* prototype =
    "#pragma once\n#include <cstddef>\n#include <cstdint>\n#include <cuda_runtime.h>\n"
    "extern \"C\" cudaError_t twice(const float* x, float* y, int64_t n, void* workspace,\n"
    "                             size_t workspace_bytes, cudaStream_t stream);\n";

constexpr const char* source =
    "__global__ void twiceKernel(const float* x, float* y, int64_t n)\n{\n"
    "    const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;\n"
    "    if (i < n) y[i] = 2 * x[i];\n}\n"
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
        m_task.id = m_task.entry = "twice";
        m_task.title = "Twice";
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

    Result<ExportedFiles> exported() const
    {
        return exportKernel({m_task, m_node, m_session, prototype, "cuda", folder()});
    }
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
    ASSERT_EQ(files->files.size(), 3u);
    const std::string text = *readFile(folder() / "twice.cu");
    EXPECT_TRUE(text.ends_with(source));
    EXPECT_TRUE(text.starts_with("// SPDX-License-Identifier: 0BSD\n"));
    EXPECT_NE(text.find("modelled, not measured: 12.5 us per call, 1.8x of the root kernel\n"), std::string::npos)
        << text;
    const auto evidence = parseJson(*readFile(folder() / "twice.evidence.json"), "evidence");
    ASSERT_TRUE(evidence);
    EXPECT_EQ((*evidence)["session"]["provenance"], "model");
    EXPECT_EQ((*evidence)["node"]["id"], 7);
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

/// The engineer's build: nothing of Espalier but the exported files.
TEST_F(ExportTest, CompilesInAForeignBuild)
{
    ASSERT_TRUE(exported());
    ASSERT_TRUE(writeFileAtomically(folder() / "main.cu",
                                    "#include \"twice.h\"\nint main() { return twice(0, 0, 0, 0, 0, 0); }\n"));
    ProcessSpec compile;
    compile.argv = {ESPALIER_NVCC, "-std=c++17", "-gencode", "arch=compute_90a,code=sm_90a",
                    "-shared",     "-Xcompiler", "-fPIC",    "-o",
                    "app.so",      "main.cu",    "twice.cu"};
    compile.workingDirectory = folder().string();
    const auto result = runToEnd(compile, "", std::chrono::seconds(100));
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_TRUE(result->status.success()) << result->err;
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
    EXPECT_EQ(
        exported()->replaced,
        "The files of node 7 in " + folder().string() +
            " are replaced by those of node 9; the old ones are kept there as twice.cu.bak, twice.evidence.json.bak.");
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
    const auto result = exportKernel({m_task, m_node, m_session, prototype, "cuda", "/proc/no/such"});
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().message.find("/proc/no/such"), std::string::npos);
}

TEST_F(ExportTest, OtherFormsSaySo)
{
    EXPECT_EQ(exportKernel({m_task, m_node, m_session, prototype, "torch", folder()}).error().code,
              ErrorCode::NotSupported);
}
