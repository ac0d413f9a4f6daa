// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

// The text that candidates get pasted, compiled for the host: vocabulary and formulas of the adversary.
#include "tests/adversary/faults.inc"
#include "tests/adversary/problems.inc"
