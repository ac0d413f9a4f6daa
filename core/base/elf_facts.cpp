// SPDX-License-Identifier: Apache-2.0
#include "core/base/elf_facts.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <elf.h>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <span>

namespace espalier {

namespace {

/// glibc's _init: calls __gmon_start__ if there is one. -1: any byte (the address).
constexpr std::array<int, 23> initCode = {0x48, 0x83, 0xEC, 0x08, 0x48, 0x8B, 0x05, -1,   -1,   -1,   -1,  0x48,
                                          0x85, 0xC0, 0x74, 0x02, 0xFF, 0xD0, 0x48, 0x83, 0xC4, 0x08, 0xC3};
constexpr std::array<int, 9> finiCode = {0x48, 0x83, 0xEC, 0x08, 0x48, 0x83, 0xC4, 0x08, 0xC3};

std::unexpected<Error> malformed(std::string_view what)
{
    return fail(ErrorCode::InvalidInput, fmt::format("the built library is malformed: {}", what));
}

class ElfReader
{
public:
    explicit ElfReader(std::string_view bytes) : m_bytes(bytes) {}

    Result<ElfFacts> read()
    {
        ESPALIER_CHECK(readHeaders());
        ESPALIER_CHECK(readDynamic());
        ESPALIER_CHECK(readRelocations());
        ESPALIER_CHECK(readSymbols());
        return std::move(m_facts);
    }

private:
    /// A copy of the structure at a file offset; nullopt outside the file. Copies, because nothing is aligned.
    template <typename T>
    std::optional<T> at(std::uint64_t offset) const
    {
        if (offset > m_bytes.size() || m_bytes.size() - offset < sizeof(T)) {
            return std::nullopt;
        }
        T value;
        std::memcpy(&value, m_bytes.data() + offset, sizeof value);
        return value;
    }

    /// File offset of an address of a loaded segment.
    std::optional<std::uint64_t> offsetOf(std::uint64_t address) const
    {
        for (const Elf64_Phdr& segment : m_loads) {
            if (address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz) {
                return segment.p_offset + (address - segment.p_vaddr);
            }
        }
        return std::nullopt;
    }

    std::optional<std::string> text(std::uint64_t index) const
    {
        if (index >= m_stringsSize || m_strings > m_bytes.size() || m_stringsSize > m_bytes.size() - m_strings) {
            return std::nullopt;
        }
        // no name is longer than this; without the bound, hostile tables cost quadratic time
        const std::string_view rest =
            m_bytes.substr(m_strings + index, std::min<std::uint64_t>(m_stringsSize - index, 65536));
        const std::size_t end = rest.find('\0');
        return end == std::string_view::npos ? std::nullopt : std::optional(std::string(rest.substr(0, end)));
    }

    Result<void> readHeaders()
    {
        const auto header = at<Elf64_Ehdr>(0);
        if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) {
            return malformed("it is no ELF file");
        }
        if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
            header->e_machine != EM_X86_64 || header->e_type != ET_DYN || header->e_phentsize != sizeof(Elf64_Phdr)) {
            return malformed("it is no x86-64 shared object");
        }
        for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
            const auto segment = at<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr));
            if (!segment) {
                return malformed("a program header lies outside the file");
            }
            if (segment->p_type == PT_LOAD) {
                if (segment->p_offset > m_bytes.size() || segment->p_filesz > m_bytes.size() - segment->p_offset) {
                    return malformed("a segment lies outside the file");
                }
                m_loads.push_back(*segment);
            } else if (segment->p_type == PT_DYNAMIC) {
                m_dynamic = *segment;
            } else if (segment->p_type == PT_GNU_STACK) {
                m_facts.executableStack = (segment->p_flags & PF_X) != 0;
            }
        }
        return {};
    }

    Result<void> readDynamic()
    {
        if (!m_dynamic) {
            return malformed("it has no dynamic segment");
        }
        // the loader reads it at its address, so the address decides, not the header's file offset
        const auto begin = offsetOf(m_dynamic->p_vaddr);
        if (!begin) {
            return malformed("the dynamic segment is not loaded");
        }
        for (std::uint64_t offset = *begin;; offset += sizeof(Elf64_Dyn)) {
            const auto entry = at<Elf64_Dyn>(offset);
            if (!entry) {
                return malformed("the dynamic segment does not end");
            }
            if (entry->d_tag == DT_NULL) {
                break;
            }
            keep(*entry);
        }
        const auto strings = offsetOf(value(DT_STRTAB));
        if (!strings) {
            return malformed("the string table is not loaded");
        }
        m_strings = *strings;
        m_stringsSize = value(DT_STRSZ);
        for (const std::uint64_t index : m_needed) {
            const auto name = text(index);
            if (!name) {
                return malformed("the name of a needed library lies outside the string table");
            }
            m_facts.needed.push_back(*name);
        }
        if (m_runPath) {
            m_facts.runPath = text(*m_runPath).value_or("?");
        }
        m_facts.plainInit = value(DT_INIT) == 0 || matches(value(DT_INIT), initCode);
        m_facts.plainFini = value(DT_FINI) == 0 || matches(value(DT_FINI), finiCode);
        return {};
    }

    /// Code that other objects put into the sections .init and .fini lands between the C library's two halves of them.
    bool matches(std::uint64_t address, std::span<const int> code) const
    {
        const auto begin = offsetOf(address);
        if (!begin) {
            return false;
        }
        constexpr std::string_view endbr = "\xF3\x0F\x1E\xFA"; // where the distribution compiles with -fcf-protection
        const std::string_view all = m_bytes.substr(*begin);
        const std::string_view body = all.starts_with(endbr) ? all.substr(endbr.size()) : all;
        if (body.size() < code.size()) {
            return false;
        }
        for (std::size_t i = 0; i < code.size(); ++i) {
            if (code[i] >= 0 && static_cast<unsigned char>(body[i]) != code[i]) {
                return false;
            }
        }
        return true;
    }

    std::uint64_t value(std::int64_t tag) const
    {
        const auto found = m_values.find(tag);
        return found == m_values.end() ? 0 : found->second;
    }

    void keep(const Elf64_Dyn& entry)
    {
        const std::uint64_t v = entry.d_un.d_val;
        switch (entry.d_tag) {
        case DT_NEEDED:
            m_needed.push_back(v);
            break;
        case DT_RPATH:
        case DT_RUNPATH:
            m_runPath = v;
            break;
        case DT_INIT_ARRAYSZ:
            m_facts.initArrayBytes = std::max(m_facts.initArrayBytes, v);
            break;
        case DT_FINI_ARRAYSZ:
            m_facts.finiArrayBytes = std::max(m_facts.finiArrayBytes, v);
            break;
        case DT_PREINIT_ARRAY:
        case DT_PREINIT_ARRAYSZ:
            m_facts.hasPreinit = true;
            break;
        case DT_TEXTREL:
            m_facts.textRelocations = true;
            break;
        case DT_FLAGS:
            m_facts.textRelocations = m_facts.textRelocations || (v & DF_TEXTREL) != 0;
            break;
        case DT_AUXILIARY:
        case DT_FILTER:
        case DT_AUDIT:
        case DT_DEPAUDIT:
            m_facts.filters = true;
            break;
        default:
            break;
        }
        m_values[entry.d_tag] = v; // the last one counts, as in the loader
    }

    Result<void> readRelocations()
    {
        for (const auto& [table, size] : {std::pair(DT_RELA, DT_RELASZ), std::pair(DT_JMPREL, DT_PLTRELSZ)}) {
            if (value(size) == 0) {
                continue;
            }
            const auto begin = offsetOf(value(table));
            if (!begin) {
                return malformed("a relocation table is not loaded");
            }
            for (std::uint64_t i = 0; i < value(size) / sizeof(Elf64_Rela); ++i) {
                const auto relocation = at<Elf64_Rela>(*begin + i * sizeof(Elf64_Rela));
                if (!relocation) {
                    return malformed("a relocation lies outside the file");
                }
                m_lastSymbol = std::max<std::uint64_t>(m_lastSymbol, ELF64_R_SYM(relocation->r_info));
                if (ELF64_R_TYPE(relocation->r_info) == R_X86_64_IRELATIVE) {
                    m_facts.indirectRelocations = true;
                }
            }
        }
        if (value(DT_REL) != 0 || value(DT_RELR) != 0) {
            // neither is written by the linker that builds for us; RELR holds no symbols and is harmless
            if (value(DT_REL) != 0) {
                return malformed("it has relocations of a kind that x86-64 does not use");
            }
        }
        return {};
    }

    /// Number of symbols by the hash tables; nothing else states it. Undefined ones come first and are in no bucket.
    Result<std::uint64_t> symbolCount() const
    {
        std::uint64_t count = m_lastSymbol + 1;
        if (value(DT_HASH) != 0) {
            const auto offset = offsetOf(value(DT_HASH));
            const auto chains = offset ? at<std::uint32_t>(*offset + 4) : std::nullopt;
            if (!chains) {
                return malformed("the hash table is not loaded");
            }
            count = std::max<std::uint64_t>(count, *chains);
        }
        if (value(DT_GNU_HASH) != 0) {
            const auto offset = offsetOf(value(DT_GNU_HASH));
            const auto buckets = offset ? at<std::uint32_t>(*offset) : std::nullopt;
            const auto first = offset ? at<std::uint32_t>(*offset + 4) : std::nullopt;
            const auto bloom = offset ? at<std::uint32_t>(*offset + 8) : std::nullopt;
            if (!buckets || !first || !bloom) {
                return malformed("the hash table is not loaded");
            }
            count = std::max<std::uint64_t>(count, *first);
            const std::uint64_t table = *offset + 16 + std::uint64_t{*bloom} * 8;
            std::uint64_t last = 0;
            for (std::uint64_t i = 0; i < *buckets; ++i) {
                const auto bucket = at<std::uint32_t>(table + i * 4);
                if (!bucket) {
                    return malformed("the hash table lies outside the file");
                }
                last = std::max<std::uint64_t>(last, *bucket);
            }
            const std::uint64_t chains = table + std::uint64_t{*buckets} * 4;
            if (last >= *first && last > 0) {
                for (;; ++last) {
                    const auto chain = at<std::uint32_t>(chains + (last - *first) * 4);
                    if (!chain) {
                        return malformed("the hash table does not end");
                    }
                    if (*chain & 1) {
                        break;
                    }
                }
                count = std::max(count, last + 1);
            }
        }
        return count;
    }

    Result<void> readSymbols()
    {
        ESPALIER_TRY(const std::uint64_t count, symbolCount());
        if (count > m_bytes.size() / sizeof(Elf64_Sym) + 1) {
            return malformed("it states more symbols than fit");
        }
        const auto begin = offsetOf(value(DT_SYMTAB));
        if (!begin) {
            return malformed("the symbol table is not loaded");
        }
        for (std::uint64_t i = 1; i < count; ++i) {
            const auto symbol = at<Elf64_Sym>(*begin + i * sizeof(Elf64_Sym));
            const auto name = symbol ? text(symbol->st_name) : std::nullopt;
            if (!name) {
                return malformed("a symbol lies outside the file");
            }
            const auto type = ELF64_ST_TYPE(symbol->st_info);
            const auto binding = ELF64_ST_BIND(symbol->st_info);
            if (binding == STB_LOCAL || type == STT_SECTION || type == STT_FILE) {
                continue;
            }
            const ElfFacts::Symbol one = {*name, type == STT_FUNC || type == STT_GNU_IFUNC, binding == STB_WEAK,
                                          type == STT_GNU_IFUNC};
            (symbol->st_shndx == SHN_UNDEF ? m_facts.imports : m_facts.exports).push_back(one);
        }
        return {};
    }

    std::string_view m_bytes;
    ElfFacts m_facts;
    std::vector<Elf64_Phdr> m_loads;
    std::optional<Elf64_Phdr> m_dynamic;
    std::map<std::int64_t, std::uint64_t> m_values;
    std::vector<std::uint64_t> m_needed;
    std::optional<std::uint64_t> m_runPath;
    std::uint64_t m_strings = 0, m_stringsSize = 0;
    std::uint64_t m_lastSymbol = 0;
};

} // namespace

Result<ElfFacts> readElf(std::string_view bytes)
{
    return ElfReader(bytes).read();
}

} // namespace espalier
