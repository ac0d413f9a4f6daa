// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/judge/case_plan.h"
#include "core/worker/evaluator.h"

#include <random>
#include <vector>

namespace espalier::judge {

/// Verify cases that the judge makes itself, drawn anew for every candidate, so that no list of sizes and no look at a
/// few values tells what will be checked: parameters beside the timed ones, primes, 1 and free sizes; inputs with a
/// property (mixed regimes, ties, zeros, outliers, …) where an argument's own values are of unit scale; whole inputs
/// where the contract promises exact answers. A case that the task's expressions do not allow is drawn again, then left
/// out. `bases`: the cases that the device times; `own`: the plans of the task's own verify cases, whose cost (elements
/// moved plus operations) all of these together do not exceed. Thread: any.
std::vector<CasePlan> unseenCases(const Task& task, const std::vector<const TaskCase*>& bases,
                                  const std::vector<CasePlan>& own, Tier tier, std::mt19937_64& random);

/// Two cases to be called one after the other, with two parameters of a verify case exchanged in between, so that an
/// input and all outputs keep their size and therefore lie in the same places: what was kept for their addresses alone
/// is wrong then. `verify`: the cheapest that allows it is taken. Empty where none does. Thread: any.
std::vector<CasePlan> turnedCases(const Task& task, const std::vector<const TaskCase*>& verify);

/// Elements moved plus floating-point operations: what a case costs, roughly, on any device.
double costOf(const CasePlan& plan);

} // namespace espalier::judge
