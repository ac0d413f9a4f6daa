// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/judge/embedded_candidates.h"

#include <map>

// The assembler puts the files into this object: a symbol before and one after each.
#define EMBED(name, file)                                                                                              \
    asm(".section .rodata\n"                                                                                           \
        ".balign 16\n"                                                                                                 \
        ".global embedded_" #name "\nembedded_" #name ":\n"                                                            \
        ".incbin \"" file "\"\n"                                                                                       \
        ".global embedded_" #name "_end\nembedded_" #name "_end:\n"                                                    \
        ".previous\n");                                                                                                \
    extern "C" const char embedded_##name[];                                                                           \
    extern "C" const char embedded_##name##_end[];

EMBED(honest, CANDIDATE_FOLDER "/sim_honest.so")
EMBED(zero, CANDIDATE_FOLDER "/sim_zero.so")
EMBED(partial, CANDIDATE_FOLDER "/sim_partial.so")
EMBED(write_past_end, CANDIDATE_FOLDER "/sim_write_past_end.so")
EMBED(endless_device, CANDIDATE_FOLDER "/sim_endless_device.so")
EMBED(write_input, CANDIDATE_FOLDER "/sim_write_input.so")
EMBED(task, TASK_FILE)

namespace espalier::test {

std::string embedded(const std::string& name)
{
#define ENTRY(name) {#name, std::string(embedded_##name, embedded_##name##_end)}
    static const std::map<std::string, std::string> files = {
        ENTRY(honest),         ENTRY(zero),        ENTRY(partial), ENTRY(write_past_end),
        ENTRY(endless_device), ENTRY(write_input), ENTRY(task)};
    return files.at(name);
}

} // namespace espalier::test
