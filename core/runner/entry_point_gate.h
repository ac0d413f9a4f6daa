// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace espalier::runner {

/// Runtime functions that the runner answers itself (a program's own symbols are found before any library's), because
/// the runtime's answer would lead around a defence:
///   cudaGetDriverEntryPoint*                      hands out any driver function by name, past the import allow-list:
///                                                 answered for cuTensorMapEncode* only, else "not found"
///   cudaStreamBeginCapture, cudaStreamEndCapture  on the given stream they tell whether the judge captures the call:
///                                                 refused there, whatever the stream does
///   cudaGraph… around executable graphs           see graph_gate.h
///   cudaLaunch…Kernel…, __cuda…                   handed on, and what is refused is noted: see launch_gate.h
/// Trusted libraries (oracle, baselines) get every answer of the runtime.
/// Call once, after the runtime was loaded and before the library is. `stream`: the one every call is given. Thread:
/// the runner's.
void installEntryPointGate(bool trusted, void* stream);

} // namespace espalier::runner
