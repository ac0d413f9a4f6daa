// SPDX-License-Identifier: Apache-2.0
// spike FOLDER [CSV]: runs every question on device 0 and prints the answers. spike runner: the other process.
#include "tests/gpu/spike/spike_judge.h"

#include <cstdio>
#include <cstring>

namespace spike {
int runnerMain();
}

int main(int argc, char** argv)
{
    if (argc > 1 && std::strcmp(argv[1], "runner") == 0) {
        return spike::runnerMain();
    }
    if (argc < 2) {
        std::fprintf(stderr, "usage: spike FOLDER [CSV]: FOLDER holds spike_ops.ptx and libspike_candidate.so\n");
        return 2;
    }
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    spike::Bench bench(argv[1]);
    spike::borderTests(bench);
    spike::costTests(bench);
    spike::sandboxTests(bench);
    spike::clockTests(bench, argc > 2 ? argv[2] : "/dev/null");
    return 0;
}
