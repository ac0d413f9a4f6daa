// SPDX-License-Identifier: Apache-2.0
#include "core/device/sim/readable_name.h"

#include <cstdlib>
#include <cxxabi.h>
#include <string_view>

namespace espalier::sim {

namespace {

/// Where the first of `what` stands outside of template arguments; npos: nowhere.
std::size_t findOutside(std::string_view name, char what, std::size_t from = 0)
{
    int depth = 0;
    for (std::size_t i = from; i < name.size(); ++i) {
        if (depth == 0 && name[i] == what)
            return i;
        depth += name[i] == '<' ? 1 : name[i] == '>' ? -1 : 0;
    }
    return std::string_view::npos;
}

/// "_INTERNAL_0858e2de_12_half_math_cu_4948c259::hexp" is hexp to everybody but nvcc.
void dropFileNamespace(std::string& name)
{
    if (!name.starts_with("_INTERNAL_"))
        return;
    if (const std::size_t end = name.find("::"); end != std::string::npos)
        name.erase(0, end + 2);
}

/// cuda::std::__4::min is cuda::std::min.
void dropVersions(std::string& name)
{
    for (std::size_t at = name.find("::__"); at != std::string::npos; at = name.find("::__", at + 1)) {
        const std::size_t end = name.find_first_not_of("0123456789", at + 4);
        if (end != std::string::npos && end > at + 4 && name.compare(end, 2, "::") == 0)
            name.erase(at, end - at);
    }
}

} // namespace

std::string readableName(const std::string& mangled)
{
    int status = 0;
    char* const plain = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
    std::string name = status == 0 && plain ? plain : mangled;
    std::free(plain);
    constexpr std::string_view unnamed = "(anonymous namespace)::";
    for (std::size_t at = name.find(unnamed); at != std::string::npos; at = name.find(unnamed))
        name.erase(at, unnamed.size());
    if (const std::size_t arguments = findOutside(name, '('); arguments != std::string::npos && arguments > 0)
        name.resize(arguments);
    for (std::size_t space = findOutside(name, ' '); space != std::string::npos; space = findOutside(name, ' '))
        name.erase(0, space + 1); // a template's name begins with what it returns
    dropFileNamespace(name);
    dropVersions(name);
    return name;
}

} // namespace espalier::sim
