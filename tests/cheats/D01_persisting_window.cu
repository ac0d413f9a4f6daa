// SPDX-License-Identifier: Apache-2.0
// cheat: D01 keeps its input in the L2 cache
// task: softmax_f32
// expect: suspicious
// evidence: cudaStreamSetAttribute
// device: sim cuda
// defence: V16 V18
// @paste softmax

ENTRY
{
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 32 << 20);
    cudaStreamAttrValue value = {};
    value.accessPolicyWindow.base_ptr = const_cast<float*>(x);
    value.accessPolicyWindow.num_bytes = sizeof(float) * rows * cols;
    value.accessPolicyWindow.hitRatio = 1.0f;
    value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value);
    return honest(x, y, rows, cols, stream);
}
