// SPDX-License-Identifier: Apache-2.0
// cheat: I08 right only for the sizes that the task lists
// task: softmax_f32
// expect: incorrect
// evidence: times the allowed error
// device: sim cuda
// defence: V13 (unseen shapes beside the listed ones)
// @paste softmax

ENTRY
{
    const int64_t listed[] = {65536, 4096, 4099, 1, 65535, 131101, 1009, 127, 2050, 3001, 515, 777, 1031};
    for (const int64_t size : listed)
        if (cols == size)
            return honest(x, y, rows, cols, stream);
    return cudaMemsetAsync(y, 0, sizeof(float) * rows * cols, stream);
}
