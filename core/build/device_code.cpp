// SPDX-License-Identifier: Apache-2.0
#include "core/build/device_code.h"

#include "core/base/hash.h"
#include "core/base/text.h"
#include "core/build/fat_binary.h"

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <fmt/format.h>
#include <optional>
#include <vector>

namespace espalier {
namespace {

std::unexpected<Error> noName(std::string_view what)
{
    return fail(ErrorCode::InvalidInput, fmt::format("the library's device code cannot be named: {}", what));
}

std::optional<std::string_view> rangeOf(std::string_view bytes, std::uint64_t offset, std::uint64_t size)
{
    if (offset > bytes.size() || size > bytes.size() - offset) {
        return std::nullopt;
    }
    return bytes.substr(offset, size);
}

template <typename T>
std::optional<T> bytesAs(std::string_view bytes, std::uint64_t offset)
{
    const auto found = rangeOf(bytes, offset, sizeof(T));
    if (!found) {
        return std::nullopt;
    }
    T value;
    std::memcpy(&value, found->data(), sizeof value);
    return value;
}

std::string cString(std::string_view table, std::uint64_t offset)
{
    if (offset >= table.size()) {
        return {};
    }
    const std::string_view rest = table.substr(offset);
    return std::string(rest.substr(0, rest.find('\0')));
}

/// Line tables and the like, and tables of names: what they name is written out with the symbols.
bool forDebuggers(const std::string& name, std::uint32_t type)
{
    return name.find("debug") != std::string::npos || name.starts_with(".note") || type == SHT_STRTAB ||
           type == SHT_NULL;
}

/// A number or a text, so that no two lists of them read the same.
void write(std::string& out, std::uint64_t number)
{
    out.append(reinterpret_cast<const char*>(&number), sizeof number);
}
void write(std::string& out, std::string_view text)
{
    write(out, text.size());
    out += text;
}

Result<void> describe(std::string_view cubin, std::string& out)
{
    const auto header = bytesAs<Elf64_Ehdr>(cubin, 0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_shentsize != sizeof(Elf64_Shdr)) {
        return noName("an entry for a GPU is no cubin");
    }
    std::vector<Elf64_Shdr> sections;
    for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
        const auto section = bytesAs<Elf64_Shdr>(cubin, header->e_shoff + i * sizeof(Elf64_Shdr));
        if (!section) {
            return noName("a section header lies outside its cubin");
        }
        sections.push_back(*section);
    }
    const auto stringsOf = [&](std::uint64_t index) -> std::string_view {
        return index < sections.size() ? rangeOf(cubin, sections[index].sh_offset, sections[index].sh_size).value_or("")
                                       : "";
    };
    std::vector<std::string> names;
    for (const Elf64_Shdr& section : sections) {
        names.push_back(cString(stringsOf(header->e_shstrndx), section.sh_name));
    }
    write(out, header->e_flags);
    for (std::size_t i = 0; i < sections.size(); ++i) {
        const Elf64_Shdr& section = sections[i];
        if (forDebuggers(names[i], section.sh_type)) {
            continue;
        }
        write(out, names[i]);
        write(out, section.sh_type);
        write(out, section.sh_flags);
        write(out, section.sh_size * (section.sh_type != SHT_SYMTAB)); // symbols of debug sections are left out below
        const auto bytes =
            section.sh_type == SHT_NOBITS ? std::string_view() : rangeOf(cubin, section.sh_offset, section.sh_size);
        if (!bytes) {
            return noName("a section lies outside its cubin");
        }
        if (section.sh_type != SHT_SYMTAB) {
            write(out, *bytes);
            continue;
        }
        for (std::uint64_t k = 0; k + sizeof(Elf64_Sym) <= bytes->size(); k += sizeof(Elf64_Sym)) {
            const auto symbol = *bytesAs<Elf64_Sym>(*bytes, k);
            const std::string home = symbol.st_shndx < names.size() ? names[symbol.st_shndx] : std::string();
            if (home.find("debug") == std::string::npos) {
                write(out, cString(stringsOf(section.sh_link), symbol.st_name));
                write(out, home);
                write(out, std::uint64_t{symbol.st_info} << 8 | symbol.st_other);
                write(out, symbol.st_value);
                write(out, symbol.st_size);
            }
        }
    }
    return {};
}

/// Lines that an executor skips do not count.
void describePtx(std::string_view text, std::string& out)
{
    bool debugging = false;
    for (const std::string_view line : splitLines(text.substr(0, text.find('\0')))) {
        const std::string_view code = trimmed(line.substr(0, line.find("//")));
        if (debugging) {
            debugging = code != "}";
        } else if (code.starts_with(".section")) {
            debugging = true;
        } else if (!code.empty() && !code.starts_with(".loc") && !code.starts_with(".file")) {
            write(out, code);
        }
    }
}

} // namespace

Result<std::string> deviceCodeHash(std::string_view library, DeviceCode what)
{
    ESPALIER_TRY(const std::vector<FatEntry> entries, readFatBinaries(library));
    const auto wanted = what == DeviceCode::Machine ? FatEntry::Kind::Cubin : FatEntry::Kind::Ptx;
    std::string description;
    bool any = false;
    for (const FatEntry& entry : entries) {
        if (entry.kind != wanted) {
            continue;
        }
        if (entry.compressed) {
            return noName("an entry of a fat binary is compressed");
        }
        any = true;
        write(description, static_cast<std::uint64_t>(entry.architecture));
        if (what == DeviceCode::Machine) {
            ESPALIER_CHECK(describe(entry.payload, description));
        } else {
            describePtx(entry.payload, description);
        }
    }
    if (!any) {
        return fail(ErrorCode::NotFound, "the library holds no device code of that kind");
    }
    return sha256(description);
}

} // namespace espalier
