// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace espalier::runner {

/// `espalier-worker profiler --device cuda:N --runtime PATH --cupti PATH --collect ranges|activity|sampling
/// [--sets core,flops,…] [--warm]`: a runner that looks at its candidate with one of CUPTI's APIs, started by a judge
/// for one Collect and ended after it. Never the process that times: tracing alone makes launches slower. Where
/// counters cannot be read it says so when it starts, with cause and remedy. `--probe` (with --device alone): looks for
/// CUPTI itself, prints its path, or on stderr what stands in the way of counters; exit code 0 or 1.
int profilerMain(int argc, char** argv);

} // namespace espalier::runner
