// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/json.h"
#include "core/model/evaluation.h"
#include "core/profile/counter_table.h"

#include <string>
#include <vector>

namespace espalier::judge {

/// What a range collector told, as metric rows. A claim of the candidate's process: only numbers of counters that were
/// asked for are taken. Errors: InvalidInput.
struct CountersSeen {
    std::vector<MetricValue> metrics; ///< in the metric table's order
    std::string chip;
    int passes = 0;
    double milliseconds = 0;
    std::string note; ///< counters that the chip does not have
};
Result<CountersSeen> readCounters(const Json& seen, const std::vector<profile::CounterSet>& sets);

/// What a sampling collector told. Errors: InvalidInput; NotSupported where the samples could not be attributed.
struct SamplesSeen {
    std::uint64_t samples = 0;
    std::vector<InstructionSamples> instructions;
    std::string note;
};
Result<SamplesSeen> readSamples(const Json& seen);

/// What a SASS collector told: adds its counts to the instructions they are of, those without samples at the end.
/// Returns a note: which counts the chip does not have. Errors: InvalidInput.
Result<std::string> readCounts(const Json& seen, std::vector<InstructionSamples>& instructions);

} // namespace espalier::judge
