// SPDX-License-Identifier: Apache-2.0
// A candidate without device code: under the fake driver its "kernels" are loops over device memory. Same entries as
// tests/gpu/spike/spike_candidate.cu.
#include <cstdint>

extern "C" int cudaGetLastError();
extern "C" void fakeDeviceWorks(unsigned microseconds); // the fake device's clock goes on by work alone

extern "C" int spike_stream(const float* x, float* y, std::int64_t n, void*)
{
    for (std::int64_t i = 0; i < n; ++i) {
        y[i] = 2 * x[i] + 1;
    }
    fakeDeviceWorks(20);
    return cudaGetLastError();
}

extern "C" int spike_poke(float* p, void*)
{
    *const_cast<volatile float*>(p) = 42;
    return cudaGetLastError();
}
