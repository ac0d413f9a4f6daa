// SPDX-License-Identifier: Apache-2.0
#include "core/device/sim/readable_name.h"

#include <cstdlib>
#include <cxxabi.h>

namespace espalier::sim {

namespace {

/// "_INTERNAL_0858e2de_12_half_math_cu_4948c259::hexp" is hexp to everybody but nvcc.
void dropFileNamespace(std::string& name)
{
    if (!name.starts_with("_INTERNAL_") && !name.starts_with("(anonymous namespace)::"))
        return;
    if (const std::size_t end = name.find("::"); end != std::string::npos)
        name.erase(0, end + 2);
}

} // namespace

std::string readableName(const std::string& mangled)
{
    int status = 0;
    char* const plain = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
    std::string name = status == 0 && plain ? plain : mangled;
    std::free(plain);
    if (name.starts_with("void "))
        name.erase(0, 5);
    dropFileNamespace(name);
    if (const std::size_t arguments = name.find('('); arguments != std::string::npos && arguments > 0)
        name.resize(arguments);
    return name;
}

} // namespace espalier::sim
