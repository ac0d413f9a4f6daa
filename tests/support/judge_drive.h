// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/build/nvcc_build_pool.h"
#include "core/worker/evaluator.h"

#include <memory>
#include <string>

namespace espalier::test {

/// What programs of the tests that drive a judge by hand have in common. Both block. Thread: any one.

/// A source as a library for the judge's device. Errors: it does not build, in the compiler's words.
Result<Library> builtFor(const JudgeHello& hello, const std::shared_ptr<const Task>& task, SourceRole role,
                         const std::string& source, const BuildPoolOptions& options = {});
/// Submits and waits for the verdict. Errors: the judge is lost.
Result<Evaluation> awaitVerdict(Evaluator& judge, EvaluationJob job);

} // namespace espalier::test
