// SPDX-License-Identifier: Apache-2.0
// Stands in for compute-sanitizer in tests of processes: takes its options, runs the program behind them to its end and
// prints a report in its form. What it does is the name it was copied to, because the sandbox passes no environment:
// "clean", "memory" (memcheck finds one error), "race", "truncated" (no summary), "crash", "hang".
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace {

int runProgram(char** arguments)
{
    const pid_t child = ::fork();
    if (child == 0) {
        ::execv(arguments[0], arguments);
        ::_exit(127);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace

int main(int argc, char** argv)
{
    const std::string path = argv[0];
    const std::string behaviour = path.substr(path.rfind('/') + 1);
    std::string tool;
    int at = 1, errorExit = 1;
    for (; at + 1 < argc && std::strncmp(argv[at], "--", 2) == 0; at += 2) {
        if (std::strcmp(argv[at], "--tool") == 0) {
            tool = argv[at + 1];
        } else if (std::strcmp(argv[at], "--error-exitcode") == 0) {
            errorExit = std::atoi(argv[at + 1]);
        }
    }
    std::puts("========= COMPUTE-SANITIZER");
    std::fflush(stdout);
    const int status = runProgram(argv + at);
    if (status != 0) {
        std::printf("========= Target application returned an error\n========= ERROR SUMMARY: 0 errors\n");
        return status;
    }
    const bool races = behaviour == "race" && tool == "racecheck";
    const bool memory = behaviour == "memory" && tool == "memcheck";
    if (behaviour == "crash") {
        ::raise(SIGSEGV);
    }
    if (behaviour == "hang") {
        ::pause();
    }
    if (memory) {
        std::puts("========= Invalid __global__ write of size 4 bytes\n"
                  "=========     at candidate(float const*, float*, long)+0x130 in candidate.cu:41\n"
                  "=========     by thread (0,0,0) in block (0,0,0)");
    }
    if (races) {
        std::puts("========= Error: Race reported between Write access at candidate()+0x90 in candidate.cu:17\n"
                  "=========     and Read access at candidate()+0xb0 in candidate.cu:19 [32 hazards]");
    }
    if (behaviour == "truncated") {
        return 0;
    }
    if (tool == "racecheck") {
        std::printf("========= RACECHECK SUMMARY: %d hazards displayed (%d errors, 0 warnings)\n", races, races);
    } else {
        std::printf("========= ERROR SUMMARY: %d error%s\n", memory, memory ? "" : "s");
    }
    return memory || races ? errorExit : 0;
}
