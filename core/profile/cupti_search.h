// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <string>
#include <vector>

namespace espalier::profile {

/// Where a usable CUPTI stands: a libcupti with a libnvperf_host beside it (a copy without one loads another's, of
/// whatever version). `notes` say which copies were passed over and why.
struct CuptiPlace {
    std::string library; ///< full path, links resolved
    std::string folder;
    std::vector<std::string> notes;
};

/// Looks, in this order, at $ESPALIER_CUPTI (a file or a folder), the toolkit of $CUDA_HOME, of nvcc on the PATH and
/// /usr/local/cuda (lib64, lib, extras/CUPTI/lib64, targets), Python's nvidia/cu13/lib, and the loader's path.
/// Errors: NotFound with what was looked at and the remedy. Thread: any.
Result<CuptiPlace> findCupti();

} // namespace espalier::profile
