// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace espalier {

/// What of a CUDA source the host compiler can see: the text without the bodies of functions that exist on the device
/// alone (`__global__`, `__device__` without `__host__`) and without the values of integer macros that are read in such
/// bodies alone. Two sources with the same host part, compiled with the same command, have the same host object but for
/// the device code that it carries; so an edited kernel, or a tunable that no launch uses, needs its device part only.
/// nullopt where the text does not settle it: conditional compilation, macros with braces or with parts of names,
/// raw strings, braces that do not close, a source without such a function. Names are looked for as tokens: a name that
/// is merely shared with something of the host's counts as used by the host. Any bytes. Thread: any.
std::optional<std::string> hostPartOf(std::string_view source);

} // namespace espalier
