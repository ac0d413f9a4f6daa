// SPDX-License-Identifier: Apache-2.0
// What every built-in task must keep to: it loads, a judge serves all of it, its sources carry their licence, its
// playbook is a tree whose tunables can be read, and the simulated device has cases of a size that it can run.
#include "core/model/task_loader.h"
#include "core/propose/tunables.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <string>

namespace espalier {
namespace {

/// Generations of ideas below the root.
int deepest(const Task& task)
{
    std::map<std::string, int> depths{{"", 0}};
    int most = 0;
    for (const PlaybookIdea& idea : task.playbook) {
        most = std::max(most, depths[idea.id] = depths.at(idea.parent) + 1);
    }
    return most;
}

class BuiltInTask : public testing::TestWithParam<const char*>
{
protected:
    void SetUp() override
    {
        Result<Task> loaded = loadTask(GetParam());
        ASSERT_TRUE(loaded) << loaded.error().message;
        task = std::move(*loaded);
    }

    std::vector<SourceFile> sources() const
    {
        std::vector<SourceFile> all{task.root, task.oracle.source};
        for (const Baseline& baseline : task.baselines) {
            all.push_back(baseline.source);
        }
        for (const PlaybookIdea& idea : task.playbook) {
            all.push_back(idea.source);
        }
        return all;
    }

    Task task;
};

TEST_P(BuiltInTask, IsServedWhole)
{
    const Result<void> supported = checkSupported(task);
    EXPECT_TRUE(supported) << supported.error().message;
    EXPECT_FALSE(task.description.empty());
    EXPECT_TRUE(task.flops.has_value());
}

TEST_P(BuiltInTask, HasCasesForEveryRole)
{
    for (const CaseRole role : {CaseRole::Verify, CaseRole::Time, CaseRole::Simulate}) {
        EXPECT_FALSE(task.casesWith(role).empty());
    }
    const auto simulated = task.casesWith(CaseRole::Simulate);
    EXPECT_TRUE(std::ranges::any_of(simulated, [](const TaskCase* c) { return c->weight > 0; }));
    // A row length or an extent that is odd, and an extent of 1, are where vectorised kernels break.
    const auto verified = task.casesWith(CaseRole::Verify);
    const auto anyExtent = [&](auto holds) {
        return std::ranges::any_of(verified, [&](const TaskCase* c) {
            return std::ranges::any_of(c->parameters, [&](const auto& p) { return holds(p.second); });
        });
    };
    EXPECT_TRUE(anyExtent([](auto v) { return v == 1; }));
    EXPECT_TRUE(anyExtent([](auto v) { return v > 100 && v % 2 == 1; }));
}

TEST_P(BuiltInTask, StatesItsLicenceInEverySource)
{
    for (const SourceFile& source : sources()) {
        EXPECT_TRUE(source.text.starts_with("// SPDX-License-Identifier: 0BSD\n")) << source.name;
    }
}

TEST_P(BuiltInTask, HasATreeOfIdeasWithTunables)
{
    EXPECT_GE(task.playbook.size(), 3u);
    EXPECT_GE(deepest(task), 2);
    int tunable = 0;
    for (const PlaybookIdea& idea : task.playbook) {
        EXPECT_FALSE(idea.title.empty()) << idea.id;
        EXPECT_TRUE(idea.text.ends_with('.')) << idea.id;
        const SourceMarks marks = readMarks(idea.source.text);
        for (const MarkProblem& problem : marks.problems) {
            ADD_FAILURE() << idea.id << ", line " << problem.line << ": " << problem.sentence;
        }
        for (const Tunable& t : marks.tunables) {
            EXPECT_TRUE(std::ranges::find(t.values, t.current) != t.values.end())
                << idea.id << ": " << t.name << " starts off its own list";
        }
        tunable += !marks.tunables.empty();
    }
    EXPECT_GE(tunable, 2);
}

TEST_P(BuiltInTask, KeepsMostIdeasWithinReachOfTheSimulatedDevice)
{
    const auto needsHopper = [](const PlaybookIdea& idea) { return idea.needs.capabilityMajor >= 9; };
    EXPECT_GE(task.playbook.size() - std::ranges::count_if(task.playbook, needsHopper), 2u);
}

INSTANTIATE_TEST_SUITE_P(, BuiltInTask,
                         testing::Values("softmax_f32", "layernorm_f32", "matmul_f32", "conv2d_f32",
                                         "conv2d_relu_maxpool_f32"),
                         [](const auto& named) { return std::string(named.param); });

TEST(BuiltInTasks, AreExactlyTheTestedOnes)
{
    EXPECT_EQ(listTasks(), (std::vector<std::string>{"conv2d_f32", "conv2d_relu_maxpool_f32", "layernorm_f32",
                                                     "matmul_f32", "softmax_f32"}));
}

TEST(BuiltInTasks, SoftmaxHasTheTreeThatItsSearchNeeds)
{
    const Result<Task> task = loadTask("softmax_f32");
    ASSERT_TRUE(task) << task.error().message;
    EXPECT_GE(task->playbook.size(), 6u);
    EXPECT_GE(deepest(*task), 3);
}

} // namespace
} // namespace espalier
