// SPDX-License-Identifier: Apache-2.0
#include "core/build/machine_code.h"

#include "core/build/fat_binary.h"
#include "core/build/instruction_class.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <fmt/format.h>
#include <optional>

namespace espalier {

namespace {

constexpr std::size_t instructionBytes = 16;
constexpr int reservedBytes = 1024;

std::unexpected<Error> unreadable(std::string_view what)
{
    return fail(ErrorCode::InvalidInput, fmt::format("the library's machine code cannot be read: {}", what));
}

/// A copy of the structure at an offset; nullopt outside the bytes.
template <typename T>
std::optional<T> at(std::string_view bytes, std::uint64_t offset)
{
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) {
        return std::nullopt;
    }
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

std::optional<std::string_view> part(std::string_view bytes, std::uint64_t offset, std::uint64_t size)
{
    if (offset > bytes.size() || size > bytes.size() - offset) {
        return std::nullopt;
    }
    return bytes.substr(offset, size);
}

class Cubin
{
public:
    Cubin(std::string_view bytes, std::vector<MachineFunction>& functions) : m_bytes(bytes), m_functions(functions) {}

    Result<void> read()
    {
        const auto header = at<Elf64_Ehdr>(m_bytes, 0);
        if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
            header->e_machine != 190 || header->e_shentsize != sizeof(Elf64_Shdr)) { // EM_CUDA
            return unreadable("an entry for a GPU is no cubin");
        }
        m_sm = static_cast<int>(header->e_flags >> 8 & 0xff);
        for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
            const auto section = at<Elf64_Shdr>(m_bytes, header->e_shoff + i * sizeof(Elf64_Shdr));
            if (!section) {
                return unreadable("a section header lies outside its cubin");
            }
            m_sections.push_back(*section);
        }
        if (header->e_shstrndx >= m_sections.size()) {
            return unreadable("a cubin has no section names");
        }
        m_names = m_sections[header->e_shstrndx];
        const std::size_t first = m_functions.size();
        for (const Elf64_Shdr& section : m_sections) {
            ESPALIER_CHECK(readText(section));
            readShared(section);
            readInformation(section);
        }
        for (std::size_t i = first; i < m_functions.size(); ++i) {
            const std::string& name = m_functions[i].name;
            const int reserved = m_shared.contains("reserved.0") ? reservedBytes : 0;
            m_functions[i].sharedBytes = m_shared.contains(name) ? std::max(m_shared.at(name) - reserved, 0) : 0;
            m_functions[i].localBytes = m_frames.contains(name) ? m_frames.at(name) : 0;
            if (!m_registers.contains(name)) {
                return unreadable("a function does not state its registers");
            }
            m_functions[i].registers = m_registers.at(name);
        }
        return {};
    }

private:
    std::string nameOf(const Elf64_Shdr& section) const
    {
        const auto table = part(m_bytes, m_names.sh_offset, m_names.sh_size);
        if (!table || section.sh_name >= table->size()) {
            return {};
        }
        const std::string_view rest = table->substr(section.sh_name, 4096);
        return std::string(rest.substr(0, rest.find('\0')));
    }

    Result<void> readText(const Elf64_Shdr& section)
    {
        const std::string name = nameOf(section);
        if (section.sh_type != SHT_PROGBITS || (section.sh_flags & SHF_EXECINSTR) == 0) {
            return {};
        }
        const auto code = part(m_bytes, section.sh_offset, section.sh_size);
        if (!code || code->size() % instructionBytes != 0) {
            return unreadable("a function's code lies outside its cubin");
        }
        constexpr std::string_view prefix = ".text.";
        MachineFunction function;
        function.name = name.starts_with(prefix) ? name.substr(prefix.size()) : name;
        for (std::size_t offset = 0; offset < code->size(); offset += instructionBytes) {
            const char* kind =
                instructionClass(*at<std::uint64_t>(*code, offset), *at<std::uint64_t>(*code, offset + 8), m_sm);
            if (kind) {
                ++function.instructions[kind];
            }
        }
        m_functions.push_back(std::move(function));
        return {};
    }

    /// Static shared memory is the size of a section of its own. From sm_90 on, where one named "reserved" stands
    /// beside it, it begins with 1 KiB of the system's.
    void readShared(const Elf64_Shdr& section)
    {
        constexpr std::string_view prefix = ".nv.shared.";
        const std::string name = nameOf(section);
        if (name.starts_with(prefix)) {
            m_shared[name.substr(prefix.size())] = static_cast<int>(std::min<std::uint64_t>(section.sh_size, 1 << 30));
        }
    }

    /// Frames and registers stand in .nv.info: records of a format byte, an attribute byte, a size, and here two words,
    /// a symbol and its value.
    void readInformation(const Elf64_Shdr& section)
    {
        constexpr unsigned sized = 4, frameSize = 0x11, registerCount = 0x2f;
        const auto info = part(m_bytes, section.sh_offset, section.sh_size);
        if (nameOf(section) != ".nv.info" || !info || section.sh_link >= m_sections.size()) {
            return;
        }
        for (std::size_t offset = 0; offset + 4 <= info->size();) {
            const auto format = static_cast<unsigned char>((*info)[offset]);
            const auto attribute = static_cast<unsigned char>((*info)[offset + 1]);
            const std::uint16_t size = format == sized ? *at<std::uint16_t>(*info, offset + 2) : 0;
            const auto symbol = at<std::uint32_t>(*info, offset + 4);
            const auto value = at<std::uint32_t>(*info, offset + 8);
            const bool known = attribute == frameSize || attribute == registerCount;
            if (format == sized && known && size == 8 && symbol && value) {
                auto& kept = attribute == frameSize ? m_frames : m_registers;
                kept[symbolName(m_sections[section.sh_link], *symbol)] =
                    static_cast<int>(std::min<std::uint32_t>(*value, 1 << 30));
            }
            offset += 4 + std::size_t{size};
        }
    }

    std::string symbolName(const Elf64_Shdr& table, std::uint32_t index) const
    {
        const auto symbol = at<Elf64_Sym>(m_bytes, table.sh_offset + index * sizeof(Elf64_Sym));
        if (!symbol || table.sh_link >= m_sections.size()) {
            return {};
        }
        const Elf64_Shdr& strings = m_sections[table.sh_link];
        const auto all = part(m_bytes, strings.sh_offset, strings.sh_size);
        if (!all || symbol->st_name >= all->size()) {
            return {};
        }
        const std::string_view rest = all->substr(symbol->st_name, 4096);
        return std::string(rest.substr(0, rest.find('\0')));
    }

    std::string_view m_bytes;
    std::vector<MachineFunction>& m_functions;
    std::vector<Elf64_Shdr> m_sections;
    Elf64_Shdr m_names = {};
    int m_sm = 0;                                               ///< the architecture: 90
    std::map<std::string, int> m_shared, m_frames, m_registers; ///< by function; bytes, and registers per thread
};

} // namespace

Result<std::vector<MachineFunction>> readMachineCode(std::string_view library)
{
    ESPALIER_TRY(const std::vector<FatEntry> entries, readFatBinaries(library));
    std::vector<MachineFunction> functions;
    for (const FatEntry& entry : entries) {
        if (entry.kind != FatEntry::Kind::Cubin) {
            continue;
        }
        if (entry.compressed) {
            return unreadable("an entry of a fat binary is compressed");
        }
        ESPALIER_CHECK(Cubin(entry.payload, functions).read());
    }
    return functions;
}

} // namespace espalier
