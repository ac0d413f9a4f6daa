// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace espalier {

/// The fixed part of every repro program: the judge's operations (core/device/ops), then buffers, draws and the
/// comparison, in the namespaces espalier::ops and repro. Pure.
std::string reproTools();

} // namespace espalier
