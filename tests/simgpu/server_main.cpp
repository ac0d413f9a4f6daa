// SPDX-License-Identifier: Apache-2.0
// `espalier-worker simgpu` without the rest of the worker.
#include "core/simgpu/simgpu_server.h"

int main()
{
    return espalier::sim::runSimGpuServer(espalier::UniqueFd(3));
}
