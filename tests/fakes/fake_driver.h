// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <string_view>

/// What the parts of the stand-in driver share.

/// What ESPALIER_FAKE_FAULT has in store for this call of the function; CUDA_SUCCESS: nothing.
CUresult injectedFault(std::string_view function);

/// The driver's handles are pointers to whatever stands for the thing here.
template <typename T>
T asHandle(const void* object)
{
    return reinterpret_cast<T>(const_cast<void*>(object));
}
