// SPDX-License-Identifier: Apache-2.0
// espalier_spike [CSV]: runs every question on device 0 and prints the answers. spike runner: the other process.
#include "tests/gpu/spike/spike_judge.h"

#include <cstdio>
#include <cstring>
#include <string>

namespace spike {
int runnerMain();
}

int main(int argc, char** argv)
{
    if (argc > 1 && std::strcmp(argv[1], "runner") == 0) {
        return spike::runnerMain();
    }
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    spike::Bench bench;
    spike::borderTests(bench);
    spike::costTests(bench);
    spike::sandboxTests(bench);
    const std::string csv = argc > 1 ? argv[1] : "/dev/null";
    spike::clockTests(bench, csv, true);
    spike::clockTests(bench, csv == "/dev/null" ? csv : csv + ".sleep", false);
    return bench.broken() ? 1 : 0;
}
