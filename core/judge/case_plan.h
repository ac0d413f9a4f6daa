// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/device/ops/ops.h"
#include "core/model/task.h"
#include "core/runner/runner_messages.h"

#include <string>
#include <vector>

namespace espalier::judge {

/// One argument of the entry in one case, worked out.
struct ArgumentPlan {
    std::string name;
    ArgumentKind kind = ArgumentKind::Input;
    ops::DType type = ops::DType::F32;
    std::vector<std::int64_t> shape;
    std::uint64_t elements = 0;
    std::uint64_t bytes = 0;
    std::uint32_t alignment = 256; ///< bytes, that the contract guarantees: the judge keeps to no more
    ops::FillArgs fill = {};       ///< Input, Const: what is drawn, without address and seed
    runner::CallValue scalar;      ///< Scalar
    bool isInput() const { return kind == ArgumentKind::Input || kind == ArgumentKind::Const; }
    bool isOutput() const { return kind == ArgumentKind::Output; }
};

/// Everything the judge needs to know of one case. A value.
struct CasePlan {
    std::string id;
    double weight = 1;
    Parameters parameters;               ///< of the case
    std::vector<ArgumentPlan> arguments; ///< in the entry's order
    std::vector<double> normBounds;      ///< by argument; 0: no norm criterion
    double reductionLength = 0;          ///< K of the contract; 0: not said
    std::uint64_t minimumBytes = 0;      ///< that must move
    double flops = 0;
    double unitRoundoff = 0;
    double elementFactor = 16;
    bool bitwise = false;      ///< the contract's determinism: same inputs, same bits
    double absoluteFactor = 1; ///< on the smallest normal number, below which only the absolute error counts
    bool exact = false;        ///< whole inputs: outputs must equal the reference
    bool churn = false;        ///< data start at another place of their buffer every time

    static constexpr std::uint32_t largestAlignment = 256; ///< of any buffer, and of the workspace

    std::uint64_t bytesPerSet() const; ///< inputs and outputs of one call
    const ArgumentPlan& argument(std::size_t index) const { return arguments[index]; }
};

/// Errors: NotSupported "not_supported: field: …" for what this judge does not serve, InvalidInput for a wrong
/// expression.
Result<CasePlan> planCase(const Task& task, const TaskCase& taskCase);

/// Draws whole inputs instead, small enough that sums of `terms` products of the contract's degree are exact in every
/// precision that it allows inside. False where that leaves too few numbers.
bool makeExact(const Task& task, double terms, CasePlan& plan);

/// "y[17][3]" for element `index` of an argument in row-major order; "y[5]" for one dimension, "y" for a scalar buffer.
std::string elementName(const ArgumentPlan& argument, std::uint64_t index);

} // namespace espalier::judge
