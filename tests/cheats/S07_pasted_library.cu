// SPDX-License-Identifier: Apache-2.0
// cheat: S07 a library pasted in with its licence and another namespace
// task: matmul_f32
// expect: passed|suspicious
// evidence: licen|third-party|pasted
// device: sim cuda
// varies: a flag for a person, not a verdict
// defence: similarity, licence headers: flagged, not hidden
// @paste matmul

/***************************************************************************************************
 * Copyright (c) 2017 - 2025 NVIDIA CORPORATION & AFFILIATES. All rights reserved.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Redistribution and use in source and binary forms, with or without modification, are permitted
 * provided that the following conditions are met: (…)
 **************************************************************************************************/
namespace my_gemm::gemm::threadblock {
} // namespace my_gemm::gemm::threadblock

ENTRY
{
    return honest(a, b, c, m, n, k, stream);
}
