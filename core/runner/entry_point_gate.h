// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace espalier::runner {

/// The runtime hands out any driver function by name, which would lead around the import allow-list. The runner exports
/// the queries itself (a program's own symbols are found before any library's) and answers for cuTensorMapEncode* only;
/// every other name is "not found". Trusted libraries (oracle, baselines) get every answer of the runtime.
/// Call once, after the runtime was loaded and before the library is. Thread: the runner's.
void installEntryPointGate(bool trusted);

} // namespace espalier::runner
