// SPDX-License-Identifier: Apache-2.0
#include "core/judge/relation_check.h"

#include "core/model/task_loader.h"

#include <cstring>
#include <gtest/gtest.h>

namespace espalier::judge {
namespace {

std::string taskWith(const std::string& relation, const std::string& values = R"({"distribution": "normal"})")
{
    return R"({
  "schema": 1, "id": "plain", "title": "Plain", "parameters": ["rows", "cols"],
  "arguments": [
    {"name": "x", "kind": "input", "dtype": "f32", "shape": ["rows", "cols"], "values": )" +
           values + R"(},
    {"name": "w", "kind": "input", "dtype": "f32", "shape": ["cols"]},
    {"name": "y", "kind": "output", "dtype": "f32", "shape": ["rows", "cols"]}
  ],
  "oracle": {"kind": "cuda"},
  "cases": [{"name": "c", "parameters": {"rows": 4, "cols": 3}, "roles": ["verify", "time"]}],
  "contract": {"precision": "f32", "metamorphic": [)" +
           relation + R"(]}, "flops": "0"})";
}

Result<std::vector<RelationPlan>> plansFrom(const std::string& text)
{
    const auto task = parseTask(text);
    EXPECT_TRUE(task) << task.error().message;
    return planRelations(*task, task->cases[0]);
}

using Outputs = std::vector<std::vector<std::byte>>;

Outputs outputs(const std::vector<float>& y)
{
    Outputs all(3);
    all[2].resize(y.size() * sizeof(float));
    std::memcpy(all[2].data(), y.data(), all[2].size());
    return all;
}

TEST(RelationCheck, ScalesInputsByAPowerOfTwoAndOutputsByItsPower)
{
    const auto plans = plansFrom(taskWith(R"({"relation": "scale", "inputs": ["x"], "power": 2})"));
    ASSERT_TRUE(plans) << plans.error().message;
    std::mt19937_64 random(1);
    const auto changes = changesOf((*plans)[0], random);
    const auto scale = static_cast<float>(changes[0].scale);
    EXPECT_GE(std::abs(scale), 2);
    EXPECT_EQ(changes[1].scale, 1);
    std::vector<float> y = {1, -2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, squared = y, linear = y;
    for (std::size_t i = 0; i < y.size(); ++i) {
        squared[i] = y[i] * scale * scale;
        linear[i] = y[i] * scale;
    }
    EXPECT_FALSE(brokenRelation((*plans)[0], changes, outputs(y), outputs(squared)));
    const auto broken = brokenRelation((*plans)[0], changes, outputs(y), outputs(linear));
    ASSERT_TRUE(broken);
    EXPECT_NE(broken->find("output y[3][2]"), std::string::npos) << *broken;
    EXPECT_NE(broken->find("scale"), std::string::npos) << *broken;
}

TEST(RelationCheck, RotatesWholeRowsOfInputsAndOutputs)
{
    const auto plans = plansFrom(taskWith(R"({"relation": "rotate", "inputs": ["x"]})"));
    ASSERT_TRUE(plans) << plans.error().message;
    std::mt19937_64 random(1);
    const auto changes = changesOf((*plans)[0], random);
    EXPECT_EQ(changes[0].rotation % 3, 0U);
    EXPECT_GT(changes[0].rotation, 0U);
    EXPECT_EQ(changes[1].rotation, 0U);
    EXPECT_EQ(changes[2].rotation, changes[0].rotation);
    const std::vector<float> y = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    std::vector<float> rotated = y;
    std::rotate(rotated.begin(), rotated.begin() + static_cast<std::ptrdiff_t>(changes[0].rotation), rotated.end());
    EXPECT_FALSE(brokenRelation((*plans)[0], changes, outputs(y), outputs(rotated)));
    EXPECT_TRUE(brokenRelation((*plans)[0], changes, outputs(y), outputs(y)));
}

TEST(RelationCheck, AllowsTwiceTheTolerance)
{
    const auto plans = plansFrom(taskWith(R"({"relation": "shift", "inputs": ["x"]})"));
    ASSERT_TRUE(plans) << plans.error().message;
    std::mt19937_64 random(1);
    const auto changes = changesOf((*plans)[0], random);
    EXPECT_NE(changes[0].shift, 0);
    std::vector<float> y(12, 1.0F), near = y, far = y;
    near[5] += 1e-6F;
    far[5] += 1e-5F;
    EXPECT_FALSE(brokenRelation((*plans)[0], changes, outputs(y), outputs(near)));
    EXPECT_TRUE(brokenRelation((*plans)[0], changes, outputs(y), outputs(far)));
}

TEST(RelationCheck, SaysWhatItCannotTry)
{
    const auto says = [](const std::string& text) {
        const auto plans = plansFrom(text);
        return plans ? std::string("served") : plans.error().message.substr(0, plans.error().message.find(": ", 15));
    };
    EXPECT_EQ(says(taskWith(R"({"relation": "shift", "inputs": ["x"]})", R"({"distribution": "heavy_tail"})")),
              "not_supported: contract.metamorphic[0]");
    EXPECT_EQ(says(taskWith(R"({"relation": "scale", "inputs": ["x"]})", R"({"distribution": "integers"})")),
              "not_supported: contract.metamorphic[0]");
    EXPECT_EQ(says(taskWith(R"({"relation": "rotate", "inputs": ["x", "w"]})")),
              "not_supported: contract.metamorphic[0]");
    EXPECT_EQ(says(taskWith(R"({"relation": "scale", "inputs": ["x"]})", R"({"distribution": "mixed"})")), "served");
}

} // namespace
} // namespace espalier::judge
