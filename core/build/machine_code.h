// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// What the machine code of one kernel (or of a function that is called and not inlined) needs and uses.
struct MachineFunction {
    std::string name;                        ///< mangled, as in the cubin
    int registers = 0;                       ///< per thread
    int localBytes = 0;                      ///< stack frame per thread, spills included
    int sharedBytes = 0;                     ///< static shared memory per block
    std::map<std::string, int> instructions; ///< by class, see below; classes that do not occur are left out
};

/// Reads every fat binary in a built library and counts instructions by class:
///
///     tensor_f64 tensor_tf32 tensor_f16 tensor_bf16 tensor_fp8 tensor_int tensor_b1   matrix units by operand type
///     tensor_tcgen05   the fifth generation's f16, bf16 or tf32 product: which one stands in a descriptor in memory
///     half bf16        additions and multiplications; moves, conversions, comparisons and MUFU do not count
///     fp64             additions and multiplications in double precision
///     atomic           read-modify-write on global or shared memory, with or without an answer
///     async_copy       cp.async, bulk and tensor copies, st.async; prefetches do not count
///     async_reduction  bulk and tensor copies that add to what is there
///
/// Instructions are 16 bytes (core/build/instruction_class.h). nvcc_test compiles one kernel for each class and
/// compares. Found by the container's magic number anywhere in the file, not by section headers, which a library may
/// forge. Errors: InvalidInput when a container or a cubin is compressed or malformed: nothing can be said then. A
/// library without a kernel has no functions. Reads nothing outside `library`; thread: any.
Result<std::vector<MachineFunction>> readMachineCode(std::string_view library);

} // namespace espalier
