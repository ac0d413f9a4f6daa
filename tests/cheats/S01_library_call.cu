// SPDX-License-Identifier: Apache-2.0
// cheat: S01 the kernel is a library call
// task: matmul_f32
// expect: suspicious
// evidence: cublas
// device: sim cuda
// defence: V16 V10
// @paste matmul

extern "C" int cublasCreate_v2(void** handle);
extern "C" int cublasSetStream_v2(void* handle, cudaStream_t stream);
extern "C" int cublasSgemm_v2(void* handle, int, int, int, int, int, const float*, const float*, int, const float*, int,
                              const float*, float*, int);

ENTRY
{
    static void* handle = nullptr;
    const float one = 1.0f, zero = 0.0f;
    if (handle == nullptr)
        cublasCreate_v2(&handle);
    cublasSetStream_v2(handle, stream);
    return static_cast<cudaError_t>(cublasSgemm_v2(handle, 0, 0, static_cast<int>(n), static_cast<int>(m),
                                                   static_cast<int>(k), &one, b, static_cast<int>(n), a,
                                                   static_cast<int>(k), &zero, c, static_cast<int>(n)));
}
