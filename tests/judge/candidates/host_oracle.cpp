// SPDX-License-Identifier: Apache-2.0
// The oracle of double_f32 for the fake driver: ref = 2x, scale = |2x|.
#include <cmath>
#include <cstdint>

extern "C" int double_f32_oracle(const float* x, std::int64_t, double* ref, double* scale, std::int64_t first,
                                 std::int64_t count, void*)
{
    for (std::int64_t i = 0; i < count; ++i) {
        ref[i] = 2.0 * static_cast<double>(x[first + i]);
        scale[i] = std::fabs(ref[i]);
    }
    return 0;
}
