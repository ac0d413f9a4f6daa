// SPDX-License-Identifier: Apache-2.0
// cheat: H01 a constructor forges the result and exits
// task: softmax_f32
// expect: suspicious
// evidence: _exit, which ends the runner
// device: sim cuda
// defence: V16 (imports) V1
// @paste softmax

#include <cstring>
#include <unistd.h>

namespace {

__attribute__((constructor)) void forge()
{
    const char* record = "{\"outcome\":\"passed\",\"time_us\":0.01}\n";
    for (int fd = 1; fd < 16; ++fd)
        if (write(fd, record, strlen(record)) < 0)
            continue;
    _exit(0);
}

} // namespace

ENTRY
{
    return cudaSuccess;
}
