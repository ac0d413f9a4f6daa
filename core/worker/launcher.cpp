// SPDX-License-Identifier: Apache-2.0
#include "core/worker/launcher.h"

#include "core/base/file.h"
#include "core/base/text.h"

#include <cstdlib>
#include <filesystem>
#include <unistd.h>

extern char** environ;

namespace espalier {

std::vector<std::string> Launcher::command(std::string_view device) const
{
    std::vector<std::string> words = {worker, "judge", "--device", std::string(device)};
    words.insert(words.end(), judgeOptions.begin(), judgeOptions.end());
    const bool shell = !prefix.empty() && std::filesystem::path(prefix.front()).filename() == "ssh";
    std::vector<std::string> command = prefix;
    for (const std::string& word : words) {
        command.push_back(shell ? shellWord(word) : word);
    }
    return command;
}

std::vector<std::string> launcherEnvironment()
{
    std::vector<std::string> variables;
    std::string path = "PATH=/usr/local/bin:/usr/bin:/bin";
    for (char** variable = environ; *variable; ++variable) {
        const std::string_view text(*variable);
        if (text.starts_with("PATH=")) {
            path = text;
        } else {
            variables.emplace_back(text);
        }
    }
    variables.push_back(path + ":" + executableFolder().string());
    return variables;
}

std::string findWorker()
{
    if (const char* named = std::getenv("ESPALIER_WORKER"); named && *named) {
        return named;
    }
    const std::filesystem::path beside = executableFolder() / "espalier-worker";
    return ::access(beside.c_str(), X_OK) == 0 ? beside.string() : "espalier-worker";
}

} // namespace espalier
