// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace espalier {

/// What a candidate's library may call, and why. The only list of it. A name that ends in '*' stands for all that begin
/// so.
struct AllowedImport {
    std::string_view name;
    std::string_view why;
};

std::span<const AllowedImport> allowedImports();
bool isAllowedImport(std::string_view symbol);
/// Shared libraries that a candidate may be linked with.
bool isAllowedLibrary(std::string_view soname);
/// What a forbidden call would do and what to do instead, for well-known names: "synchronises; the caller does".
/// Empty for others.
std::string_view whyForbidden(std::string_view symbol);
/// Whether a forbidden call is what pasted programs and honest slips make: refused all the same, but no attempt at
/// anything. Those without a reason of their own are streams' output. What waits, takes times, looks up functions or
/// reaches outside is not among them.
bool isInnocentImport(std::string_view symbol);

} // namespace espalier
