// SPDX-License-Identifier: Apache-2.0
// Says what the process that it is can see and do: run by sandbox_test within the sandbox and without. One fact a line.
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <string>
#include <unistd.h>

extern char** environ;

int main(int argc, char** argv)
{
    if (argc > 2 && std::strcmp(argv[2], "--probe") == 0) {
        return 0; // Sandbox::probe asks a runner so
    }
    std::printf("pid %d\n", static_cast<int>(::getpid()));
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("CapEff:")) {
            std::printf("capabilities %s\n", line.substr(8).c_str());
        }
    }
    if (DIR* processes = ::opendir("/proc")) {
        int count = 0;
        while (const dirent* entry = ::readdir(processes)) {
            count += entry->d_name[0] >= '0' && entry->d_name[0] <= '9' ? 1 : 0;
        }
        ::closedir(processes);
        std::printf("processes %d\n", count);
    }
    std::ifstream network("/proc/net/dev");
    for (std::string line; std::getline(network, line);) {
        const auto colon = line.find(':');
        if (colon != std::string::npos) {
            const auto first = line.find_first_not_of(' ');
            std::printf("interface %s\n", line.substr(first, colon - first).c_str());
        }
    }
    for (char** variable = environ; *variable; ++variable) {
        std::printf("variable %s\n", *variable);
    }
    for (const char* file : {"/etc/hostname", "/etc/passwd", "/usr/bin/env", "/root/.bashrc"}) {
        std::printf("%s %s\n", ::access(file, R_OK) == 0 ? "sees" : "misses", file);
    }
    for (const char* folder : {"/tmp", "/usr/lib", "/"}) {
        const std::string file = std::string(folder) + "/espalier_sandbox_probe";
        const int written = ::open(file.c_str(), O_CREAT | O_WRONLY, 0600);
        std::printf("%s %s\n", written >= 0 ? "writes" : "cannot write", folder);
    }
    return 0;
}
