// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace espalier::sim {

/// A mangled function as its author wrote it: without parameters, template arguments of functions and the namespace
/// nvcc makes of a file's static functions. A name that is not mangled comes back as it is. Thread: any.
std::string readableName(const std::string& mangled);

} // namespace espalier::sim
