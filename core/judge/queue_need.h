// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/elf_facts.h"
#include "core/judge/device_session.h"

namespace espalier::judge {

/// How many hardware queues a library's calls can make use of, by what it imports and is linked with: one where nothing
/// in it could put work beside the given stream. A pure function. Thread: any.
Queues queuesFor(const ElfFacts& library);

} // namespace espalier::judge
