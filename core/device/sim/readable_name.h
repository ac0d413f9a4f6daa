// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace espalier::sim {

/// A mangled function as its author knows it: without parameters and result, without the namespaces that nvcc makes of
/// a file and the toolkit of its version. A name that is not mangled comes back as it is. Thread: any.
std::string readableName(const std::string& mangled);

} // namespace espalier::sim
