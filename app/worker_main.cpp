// SPDX-License-Identifier: Apache-2.0
// espalier-worker: the three processes on the device's side of the border.
#include "core/base/fd.h"
#include "core/judge/judge_loop.h"
#include "core/runner/profiler_main.h"
#include "core/runner/runner_main.h"
#include "core/runner/sanitize_main.h"
#include "core/simgpu/simgpu_server.h"

#include <cstdio>
#include <string_view>

namespace {

constexpr const char* usage =
    "usage: espalier-worker judge [--device auto|sim|cuda:N] [--runtime libcudart.so.13] [--profile FILE.json]\n"
    "       espalier-worker runner|simgpu|sanitize|profiler   (started by a judge)\n"
    "       espalier-worker --version\n"
    "\n"
    "The judge speaks JSON lines on stdin and stdout; the protocol stands in core/worker/protocol.h.\n"
    "  $ echo '{\"type\":\"hello\",\"version\":1}' | espalier-worker judge --device sim\n";

} // namespace

int main(int argc, char** argv)
{
    const std::string_view verb = argc > 1 ? argv[1] : "";
    if (verb == "judge") {
        return espalier::judge::judgeMain(argc - 2, argv + 2);
    }
    if (verb == "runner") {
        return espalier::runner::runnerMain(argc - 2, argv + 2);
    }
    if (verb == "sanitize") {
        return espalier::runner::sanitizeMain(argc - 2, argv + 2);
    }
    if (verb == "profiler") {
        return espalier::runner::profilerMain(argc - 2, argv + 2);
    }
    if (verb == "simgpu") {
        return espalier::sim::runSimGpuServer(espalier::UniqueFd(3));
    }
    if (verb == "--version") {
        std::puts("espalier-worker " ESPALIER_VERSION);
        return 0;
    }
    const bool asked = verb == "--help" || verb == "-h";
    std::fputs(usage, asked ? stdout : stderr);
    return asked ? 0 : 2;
}
