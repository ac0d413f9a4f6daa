// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/worker/judge_process.h"
#include "tests/judge/process_tree.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace espalier::test {

/// A real judge with real runners in their sandbox, driven as the engine does it.
class JudgeFixture : public ::testing::Test
{
protected:
    /// On the fake driver (its candidates are host_*.so) or, with device "sim", on the simulated device (sim_*.so).
    void startJudge(const std::string& device, std::vector<std::string> options = {});
    void TearDown() override;

    EvaluationJob jobFor(const std::string& candidate, bool verifyOnly = true);
    /// Submits and waits for the end; a loss of the judge fails the test.
    Evaluation evaluate(EvaluationJob job);
    Evaluation evaluate(const std::string& candidate) { return evaluate(jobFor(candidate)); }
    /// The evidence sentences of all checks, joined.
    static std::string evidenceOf(const Evaluation& evaluation);
    void expectHealthy(); ///< an honest candidate passes: whatever came before did no harm
    std::vector<evaluator::Event> pump(int milliseconds);

    std::string m_device;
    std::unique_ptr<Evaluator> m_judge;
    std::int64_t m_nextId = 1;
};

} // namespace espalier::test
