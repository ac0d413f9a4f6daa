// SPDX-License-Identifier: Apache-2.0
#include "core/profile/collector.h"

#include "core/profile/activity_collector.h"
#include "core/profile/cupti_api.h"
#include "core/profile/range_collector.h"
#include "core/profile/sampling_collector.h"
#include "core/profile/sass_collector.h"

namespace espalier::profile {

Result<std::unique_ptr<Collector>> openCollector(const CollectorOptions& options)
{
    static Result<CuptiApi> api = loadCupti(options.cupti); // for the life of the process
    if (!api) {
        return std::unexpected(api.error());
    }
    if (options.what == "ranges") {
        return makeRangeCollector(*api, options.ordinal, counterSetsNamed(options.sets), options.cold);
    }
    if (options.what == "activity") {
        return makeActivityCollector(*api, options.ordinal, options.cold);
    }
    if (options.what == "sampling") {
        return makeSamplingCollector(*api, options.ordinal);
    }
    if (options.what == "sass") {
        return makeSassCollector(*api, options.ordinal);
    }
    return fail(ErrorCode::InvalidInput, "There is no collector " + options.what + ".");
}

} // namespace espalier::profile
