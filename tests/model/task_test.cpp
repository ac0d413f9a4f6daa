// SPDX-License-Identifier: Apache-2.0
#include "core/model/task.h"

#include "core/model/node.h"
#include "core/model/session.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

Argument buffer(std::string name, ArgumentKind kind, DataType type, std::initializer_list<const char*> shape)
{
    Argument argument;
    argument.name = std::move(name);
    argument.kind = kind;
    argument.type = type;
    for (const char* extent : shape) {
        argument.shape.push_back(*Expression::parse(extent));
    }
    return argument;
}

TEST(Task, CountsAndBytes)
{
    Task task;
    task.id = "t";
    task.arguments = {buffer("x", ArgumentKind::Input, DataType::F16, {"rows", "cols + 1"}),
                      buffer("y", ArgumentKind::InOut, DataType::F64, {"rows"}),
                      buffer("one", ArgumentKind::Output, DataType::I8, {})};
    const TaskCase one = {"c", {CaseRole::Verify}, {{"rows", 3}, {"cols", 4}}};
    EXPECT_EQ(elementCount(task, task.arguments[0], one), 15);
    EXPECT_EQ(elementCount(task, task.arguments[2], one), 1);
    EXPECT_EQ(minimumBytes(task, one), 30 + 48 + 1);
    const TaskCase huge = {"h", {}, {{"rows", INT64_MAX / 2}, {"cols", 9}}};
    EXPECT_EQ(elementCount(task, task.arguments[0], huge).error().message,
              "task t, argument x, case h: the shape has more elements than fit 63 bits");
    const TaskCase negative = {"n", {}, {{"rows", -1}, {"cols", 9}}};
    EXPECT_EQ(elementCount(task, task.arguments[0], negative).error().message,
              "task t, argument x, case n: the extent \"rows\" is -1; expected 0 or more");
}

TEST(Task, NormBoundGrowsWithTheReduction)
{
    Task task;
    task.contract.unitRoundoff = 0.5;
    const TaskCase one = {"c", {}, {{"k", 10000}}};
    EXPECT_DOUBLE_EQ(*normBound(task, "y", one), 4.0);
    task.contract.reductionLength = *Expression::parse("k");
    EXPECT_DOUBLE_EQ(*normBound(task, "y", one), 0.5 * 45);
}

TEST(Task, TypesOfThePrototype)
{
    EXPECT_EQ(cTypeOf(buffer("x", ArgumentKind::Input, DataType::BF16, {})), "const __nv_bfloat16*");
    EXPECT_EQ(cTypeOf(buffer("x", ArgumentKind::InOut, DataType::TF32, {})), "float*");
    EXPECT_EQ(cTypeOf(buffer("x", ArgumentKind::Scalar, DataType::I64, {})), "int64_t");
    EXPECT_EQ(dataTypeNamed("fp8e4m3"), DataType::FP8E4M3);
    EXPECT_FALSE(dataTypeNamed("fp32").has_value());
}

TEST(Names, OfNodesAndRuns)
{
    EXPECT_EQ(nodeKindNamed("idea"), NodeKind::Idea);
    EXPECT_EQ(nodeStateNamed(nameOf(NodeState::Queued)), NodeState::Queued);
    EXPECT_EQ(edgeRoleNamed("repair"), EdgeRole::Repair);
    EXPECT_EQ(nameOf(RunState::Pausing), "pausing");
}

} // namespace
} // namespace espalier
