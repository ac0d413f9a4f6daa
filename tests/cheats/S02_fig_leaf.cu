// SPDX-License-Identifier: Apache-2.0
// cheat: S02 a small kernel of its own beside a library call
// task: matmul_f32
// expect: suspicious
// evidence: cublas
// device: sim cuda
// defence: V16 V10
// @paste matmul

extern "C" int cublasSgemm_v2(void* handle, int, int, int, int, int, const float*, const float*, int, const float*, int,
                              const float*, float*, int);

ENTRY
{
    const float one = 1.0f, zero = 0.0f;
    honest(a, b, c, 1, n, k, stream);
    cublasSgemm_v2(nullptr, 0, 0, static_cast<int>(n), static_cast<int>(m), static_cast<int>(k), &one, b,
                   static_cast<int>(n), a, static_cast<int>(k), &zero, c, static_cast<int>(n));
    return cudaSuccess;
}
