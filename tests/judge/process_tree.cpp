// SPDX-License-Identifier: Apache-2.0
#include "tests/judge/process_tree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace espalier::test {

std::vector<int> descendantsOf(int parent)
{
    std::vector<int> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
        const std::string name = entry.path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos) {
            continue;
        }
        std::ifstream stat(entry.path() / "stat");
        std::string text;
        std::getline(stat, text);
        const auto close = text.rfind(')');
        if (close == std::string::npos) {
            continue;
        }
        std::istringstream rest(text.substr(close + 2));
        char state = 0;
        int of = 0;
        rest >> state >> of;
        if (of == parent && state != 'Z') {
            const int pid = std::stoi(name);
            found.push_back(pid);
            const std::vector<int> below = descendantsOf(pid);
            found.insert(found.end(), below.begin(), below.end());
        }
    }
    return found;
}

std::string commandLineOf(int pid)
{
    std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline");
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    std::replace(text.begin(), text.end(), '\0', ' ');
    return text;
}

} // namespace espalier::test
