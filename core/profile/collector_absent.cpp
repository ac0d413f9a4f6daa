// SPDX-License-Identifier: Apache-2.0
// Instead of collector.cpp where the toolkit that built this had no CUPTI headers.
#include "core/profile/collector.h"

namespace espalier::profile {

Result<std::unique_ptr<Collector>> openCollector(const CollectorOptions&)
{
    return fail(ErrorCode::NotSupported, "This Espalier was built without CUPTI: build it with a CUDA toolkit that has "
                                         "cupti_range_profiler.h.");
}

} // namespace espalier::profile
