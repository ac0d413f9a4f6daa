// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/listing.h"

#include <string_view>
#include <vector>

namespace espalier {

/// PTX as nvcc writes it with -lineinfo: the .loc directives, with the calls they were inlined at, become the places of
/// the lines that follow and are left out themselves, as are debug sections. Any text is accepted. Pure.
std::vector<ListingLine> readPtxText(std::string_view ptx);

/// What `nvdisasm -c -gi` prints: its "//## File" remarks become the places of the instructions that follow. Sections
/// that hold no code, and the padding behind a kernel's last jump, are left out. Any text is accepted. Pure.
std::vector<ListingLine> readSassText(std::string_view disassembly);

} // namespace espalier
