// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// What the dynamic loader would do with a shared library, read from the program headers that the loader itself follows
/// (never from section headers, which a library may forge). Values; the file's bytes are not kept.
struct ElfFacts {
    struct Symbol {
        std::string name;
        bool function = false;
        bool weak = false;
        bool indirect = false; ///< STT_GNU_IFUNC: its resolver runs while the library is loaded
    };
    std::vector<Symbol> imports; ///< undefined symbols, and every symbol that a relocation binds outside
    std::vector<Symbol> exports; ///< defined global and weak ones
    std::vector<std::string> needed;
    std::string runPath; ///< DT_RPATH or DT_RUNPATH
    std::uint64_t initArrayBytes = 0, finiArrayBytes = 0;
    bool hasPreinit = false;
    bool plainInit = true, plainFini = true; ///< _init and _fini are the C library's own, byte for byte
    bool textRelocations = false;
    bool executableStack = false;
    bool indirectRelocations = false; ///< R_X86_64_IRELATIVE
    bool filters = false;             ///< DT_AUXILIARY, DT_FILTER, DT_AUDIT, DT_DEPAUDIT: other libraries get a say
};

/// x86-64 ELF shared objects only. Reads nothing outside `bytes`, whatever they hold; work is bounded by their size.
/// Errors: InvalidInput naming what is malformed. Thread: any.
Result<ElfFacts> readElf(std::string_view bytes);

} // namespace espalier
