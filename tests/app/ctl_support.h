// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/subprocess.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <optional>

namespace espalier::test {

/// A user's scratch folder and the real espalierctl. Builds are cached across the tests of one build folder.
class CtlTest : public testing::Test
{
protected:
    void SetUp() override
    {
        auto scratch = ScratchFolder::create("espalier-ctl-test");
        ASSERT_TRUE(scratch);
        m_scratch.emplace(std::move(*scratch));
    }

    ProcessSpec spec(std::vector<std::string> words) const
    {
        ProcessSpec spec;
        spec.argv = {std::string(ESPALIER_BIN) + "/espalierctl"};
        spec.argv.insert(spec.argv.end(), words.begin(), words.end());
        spec.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + path("home"),
                            std::string("XDG_CACHE_HOME=") + ESPALIER_TEST_CACHE,
                            std::string("ESPALIER_TASKS=") + ESPALIER_SOURCE_DIR + "/tasks"};
        if (const char* home = std::getenv("CUDA_HOME")) {
            spec.environment->push_back(std::string("CUDA_HOME=") + home);
        }
        spec.workingDirectory = m_scratch->path().string();
        return spec;
    }

    RunResult ctl(std::vector<std::string> words, std::chrono::seconds limit = std::chrono::seconds(200)) const
    {
        auto result = runToEnd(spec(std::move(words)), "", limit, std::size_t{16} << 20);
        EXPECT_TRUE(result) << result.error().message;
        EXPECT_FALSE(result->timedOut);
        return std::move(*result);
    }

    /// One JSON object on standard output and nothing else.
    static Json onlyJson(const RunResult& result)
    {
        auto json = parseJson(result.out, "stdout");
        EXPECT_TRUE(json) << result.out << result.err;
        return json ? *json : Json();
    }

    std::string write(const std::string& name, std::string_view text) const
    {
        EXPECT_TRUE(writeFileAtomically(m_scratch->path() / name, text));
        return path(name);
    }
    std::string path(const std::string& name) const { return (m_scratch->path() / name).string(); }

    std::optional<ScratchFolder> m_scratch;
};

/// Candidates for softmax_f32: `body` is the host part of the entry.
std::string softmaxCandidate(std::string_view kernels, std::string_view body);
std::string rootSource();

} // namespace espalier::test
