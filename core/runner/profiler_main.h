// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace espalier::runner {

/// `espalier-worker profiler --device cuda:N --runtime PATH --cupti PATH --collect ranges|activity|sampling
/// [--sets core,flops,…] [--warm]`: a runner that looks at its candidate with one of CUPTI's APIs, started by a judge for
/// one Collect and ended after it. Never the process that times: tracing alone makes launches slower. Where counters
/// cannot be read it says so when it starts, with cause and remedy. `--probe`: says only whether they can, on stderr;
/// exit code 0 or 1.
int profilerMain(int argc, char** argv);

} // namespace espalier::runner
