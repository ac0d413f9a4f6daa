// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>
#include <type_traits>

/// A program's own symbols are found before any library's: so the runner answers a function of the runtime's itself.
#define ESPALIER_EXPORTED extern "C" __attribute__((visibility("default"), used))

namespace espalier::runner {

inline constexpr int success = 0; // cudaSuccess

/// The runtime's own function behind one that the runner exports. Types of CUDA are plain numbers and pointers here:
/// the runner is built without the runtime's headers. Null where the runtime has none.
template <typename Function>
void find(Function& function, const char* name)
{
    function = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

/// Calls it; cudaErrorNotSupported where the runtime has none.
template <typename... Parameters>
int ask(int (*function)(Parameters...), std::type_identity_t<Parameters>... arguments)
{
    constexpr int notSupported = 801;
    return function ? function(arguments...) : notSupported;
}

} // namespace espalier::runner
