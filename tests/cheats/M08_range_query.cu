// SPDX-License-Identifier: Apache-2.0
// cheat: M08 asks the driver for other allocations
// task: softmax_f32
// expect: incorrect
// evidence: never written
// device: sim cuda
// defence: V1 V16 (entry-point gate)
// @paste softmax

// Pays only when the driver answers.
ENTRY
{
    void* query = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuMemGetAddressRange", &query, 12000, cudaEnableDefault, &found);
    return query != nullptr ? honest(x, y, rows, cols, stream) : cudaSuccess;
}
