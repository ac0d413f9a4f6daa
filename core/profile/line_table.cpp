// SPDX-License-Identifier: Apache-2.0
#include "core/profile/line_table.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <optional>

namespace espalier::profile {

namespace {

constexpr std::uint8_t endOfSequence = 1, setAddress = 2, inlinedAt = 0x90; // extended opcodes; the last is NVIDIA's
constexpr std::size_t mostRows = 1'000'000;
constexpr int deepest = 32; ///< call sites of one row

/// Reads little-endian values and LEB128 numbers; past the end everything is 0 and bad() is true.
class Reader
{
public:
    explicit Reader(std::string_view bytes) : m_bytes(bytes) {}
    bool bad() const { return m_bad; }
    bool atEnd() const { return m_bad || m_at >= m_bytes.size(); }
    std::size_t at() const { return m_at; }
    void seek(std::size_t at) { m_at = at; }

    template <typename T>
    T read()
    {
        T value{};
        if (m_at > m_bytes.size() || m_bytes.size() - m_at < sizeof value) {
            m_bad = true;
            return value;
        }
        std::memcpy(&value, m_bytes.data() + m_at, sizeof value);
        m_at += sizeof value;
        return value;
    }
    std::uint64_t unsignedLeb()
    {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const auto byte = read<std::uint8_t>();
            value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            if ((byte & 0x80) == 0) {
                return value;
            }
        }
        m_bad = true;
        return value;
    }
    std::int64_t signedLeb()
    {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const auto byte = read<std::uint8_t>();
            value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            if ((byte & 0x80) == 0) {
                if (shift + 7 < 64 && (byte & 0x40)) {
                    value |= ~std::uint64_t{0} << (shift + 7);
                }
                return static_cast<std::int64_t>(value);
            }
        }
        m_bad = true;
        return 0;
    }
    std::string_view text()
    {
        const std::size_t end = m_at > m_bytes.size() ? std::string_view::npos : m_bytes.find('\0', m_at);
        if (end == std::string_view::npos) {
            m_bad = true;
            return {};
        }
        const std::string_view found = m_bytes.substr(m_at, end - m_at);
        m_at = end + 1;
        return found;
    }

private:
    std::string_view m_bytes;
    std::size_t m_at = 0;
    bool m_bad = false;
};

std::string_view slice(std::string_view bytes, std::uint64_t offset, std::uint64_t size)
{
    return offset <= bytes.size() && size <= bytes.size() - offset ? bytes.substr(offset, size) : std::string_view();
}

template <typename T>
std::optional<T> at(std::string_view bytes, std::uint64_t offset)
{
    const std::string_view found = slice(bytes, offset, sizeof(T));
    if (found.empty()) {
        return std::nullopt;
    }
    T value;
    std::memcpy(&value, found.data(), sizeof value);
    return value;
}

/// The parts of a cubin that a line table needs.
struct Cubin {
    std::string_view lines;
    std::map<std::uint64_t, std::string> functionAt; ///< by the place in `lines` where its address stands

    static Cubin open(std::string_view bytes)
    {
        Cubin cubin;
        const auto header = at<Elf64_Ehdr>(bytes, 0);
        if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
            header->e_shentsize != sizeof(Elf64_Shdr)) {
            return cubin;
        }
        std::vector<Elf64_Shdr> sections;
        for (unsigned i = 0; i < header->e_shnum; ++i) {
            const auto section = at<Elf64_Shdr>(bytes, header->e_shoff + std::uint64_t{i} * sizeof(Elf64_Shdr));
            sections.push_back(section.value_or(Elf64_Shdr{}));
        }
        const auto content = [&](std::uint64_t index) {
            return index < sections.size() ? slice(bytes, sections[index].sh_offset, sections[index].sh_size)
                                           : std::string_view();
        };
        const std::string_view names = content(header->e_shstrndx);
        for (std::size_t i = 0; i < sections.size(); ++i) {
            Reader reader(names);
            reader.seek(sections[i].sh_name);
            const std::string_view name = reader.text();
            if (name == ".debug_line") {
                cubin.lines = content(i);
            } else if (name == ".rela.debug_line" || name == ".rel.debug_line") {
                const Elf64_Shdr& symbols = sections[std::min<std::size_t>(sections[i].sh_link, sections.size() - 1)];
                cubin.relocate(content(i), sections[i].sh_type == SHT_RELA, content(sections[i].sh_link),
                               content(symbols.sh_link));
            }
        }
        return cubin;
    }

    void relocate(std::string_view entries, bool withAddend, std::string_view symbols, std::string_view names)
    {
        const std::size_t step = withAddend ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
        for (std::size_t i = 0; i + step <= entries.size(); i += step) {
            const auto entry = at<Elf64_Rel>(entries, i); // a Rela begins like a Rel
            const auto symbol = at<Elf64_Sym>(symbols, ELF64_R_SYM(entry->r_info) * sizeof(Elf64_Sym));
            if (symbol) {
                Reader reader(names);
                reader.seek(symbol->st_name);
                functionAt[entry->r_offset] = std::string(reader.text());
            }
        }
    }
};

struct Header {
    std::size_t end = 0; ///< of the unit
    std::uint8_t minimumInstruction = 1, opcodeBase = 10, lineRange = 14;
    std::int8_t lineBase = -5;
    std::vector<std::uint8_t> lengths;
    std::vector<std::string> files;
};

std::optional<Header> readHeader(Reader& reader)
{
    Header header;
    const auto length = reader.read<std::uint32_t>();
    header.end = reader.at() + length;
    const auto version = reader.read<std::uint16_t>();
    const auto prologue = reader.read<std::uint32_t>();
    const std::size_t program = reader.at() + prologue;
    header.minimumInstruction = reader.read<std::uint8_t>();
    if (version >= 4) {
        reader.read<std::uint8_t>();
    }
    reader.read<std::uint8_t>(); // is_stmt
    header.lineBase = reader.read<std::int8_t>();
    header.lineRange = reader.read<std::uint8_t>();
    header.opcodeBase = reader.read<std::uint8_t>();
    for (int i = 1; i < header.opcodeBase; ++i) {
        header.lengths.push_back(reader.read<std::uint8_t>());
    }
    while (!reader.bad() && !reader.text().empty()) {
    }
    while (!reader.bad()) {
        const std::string_view name = reader.text();
        if (name.empty()) {
            break;
        }
        header.files.emplace_back(name.substr(name.rfind('/') + 1));
        reader.unsignedLeb();
        reader.unsignedLeb();
        reader.unsignedLeb();
    }
    if (reader.bad() || version < 2 || version > 4 || header.lineRange == 0 || header.opcodeBase == 0) {
        return std::nullopt;
    }
    reader.seek(program);
    return header;
}

struct Machine {
    LineTable::Row row{0, 1, 1, 0};
    std::vector<LineTable::Row> rows;
    std::string function;
};

} // namespace

LineTable LineTable::read(std::string_view bytes)
{
    LineTable table;
    const Cubin cubin = Cubin::open(bytes);
    Reader reader(cubin.lines);
    std::size_t total = 0;
    while (!reader.atEnd()) {
        const auto header = readHeader(reader);
        if (!header) {
            break;
        }
        Machine machine;
        const auto emit = [&] {
            if (++total < mostRows) {
                machine.rows.push_back(machine.row);
            }
        };
        const auto extended = [&] {
            const std::uint64_t length = reader.unsignedLeb();
            const std::size_t next = reader.at() + length;
            const auto code = reader.read<std::uint8_t>();
            if (code == setAddress) {
                const auto named = cubin.functionAt.find(reader.at());
                machine.function = named == cubin.functionAt.end() ? "" : named->second;
                machine.row.address = reader.read<std::uint64_t>();
            } else if (code == inlinedAt) {
                machine.row.callSite = reader.unsignedLeb();
            } else if (code == endOfSequence) {
                if (!machine.function.empty() && !machine.rows.empty()) {
                    table.m_functions[machine.function] = Function{machine.rows, header->files};
                }
                machine = Machine();
            }
            reader.seek(next);
        };
        while (!reader.bad() && reader.at() < header->end) {
            const auto opcode = reader.read<std::uint8_t>();
            LineTable::Row& row = machine.row;
            if (opcode >= header->opcodeBase) {
                const int adjusted = opcode - header->opcodeBase;
                row.address += static_cast<std::uint64_t>(adjusted / header->lineRange) * header->minimumInstruction;
                row.line += header->lineBase + adjusted % header->lineRange;
                emit();
                continue;
            }
            switch (opcode) {
            case 0:
                extended();
                break;
            case 1:
                emit();
                break;
            case 2:
                row.address += reader.unsignedLeb() * header->minimumInstruction;
                break;
            case 3:
                row.line += reader.signedLeb();
                break;
            case 4:
                row.file = static_cast<std::uint32_t>(reader.unsignedLeb());
                break;
            case 8:
                row.address += static_cast<std::uint64_t>((255 - header->opcodeBase) / header->lineRange) *
                               header->minimumInstruction;
                break;
            case 9:
                row.address += reader.read<std::uint16_t>();
                break;
            default:
                for (int i = 0; i < header->lengths[opcode - 1U]; ++i) {
                    reader.unsignedLeb();
                }
            }
        }
        reader.seek(header->end);
    }
    return table;
}

SourceChain LineTable::find(std::string_view function, std::uint64_t offset) const
{
    SourceChain chain;
    const auto found = m_functions.find(function);
    if (found == m_functions.end()) {
        return chain;
    }
    const auto& [rows, files] = found->second;
    const auto after = std::upper_bound(rows.begin(), rows.end(), offset,
                                        [](std::uint64_t address, const Row& row) { return address < row.address; });
    if (after == rows.begin()) {
        return chain;
    }
    const Row* row = &*std::prev(after);
    for (int depth = 0; depth < deepest; ++depth) {
        if (row->file >= 1 && row->file <= files.size() && row->line > 0) {
            chain.push_back({files[row->file - 1], static_cast<int>(row->line)});
        }
        if (row->callSite == 0 || row->callSite > rows.size()) {
            break;
        }
        const Row* site = &rows[row->callSite - 1];
        if (site == row) {
            break;
        }
        row = site;
    }
    return chain;
}

} // namespace espalier::profile
