// SPDX-License-Identifier: Apache-2.0
#include "core/base/user.h"

#include <array>
#include <cstdlib>
#include <pwd.h>
#include <unistd.h>

namespace espalier {

std::string userName()
{
    std::array<char, 16384> texts;
    passwd entry = {};
    passwd* found = nullptr;
    if (::getpwuid_r(::geteuid(), &entry, texts.data(), texts.size(), &found) == 0 && found && *found->pw_name) {
        return found->pw_name;
    }
    const char* named = std::getenv("USER"); // an account that no table knows: containers with a bare number
    return named ? named : "";
}

} // namespace espalier
