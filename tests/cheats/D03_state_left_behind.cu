// SPDX-License-Identifier: Apache-2.0
// cheat: D03 changes limits of the device
// task: softmax_f32
// expect: suspicious
// evidence: cudaDeviceSetLimit
// device: sim cuda
// defence: V16 V18
// @paste softmax

ENTRY
{
    cudaDeviceSetLimit(cudaLimitStackSize, 64 << 10);
    cudaDeviceSetCacheConfig(cudaFuncCachePreferShared);
    return honest(x, y, rows, cols, stream);
}
