// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/again.h"
#include "core/worker/evaluator.h"

namespace espalier {

/// Sets what the judge is asked for when a kernel that has its verdict is judged again. `configured`: the profiling of
/// every candidate of the run.
void askAgain(EvaluationJob& job, Again what, Profiling configured);

/// The node's record from now on. What was not looked at again stays as it was, unless the kernel was rejected: then
/// the new word is the only one. `now` has an outcome other than NotRun.
Evaluation recordAgain(Again what, const Evaluation& before, Evaluation now);

} // namespace espalier
