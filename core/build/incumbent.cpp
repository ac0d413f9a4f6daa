// SPDX-License-Identifier: Apache-2.0
#include "core/build/incumbent.h"

#include "core/base/elf_facts.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/text.h"
#include "core/build/entry_header.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace espalier {

namespace {

constexpr std::size_t largestSource = std::size_t{8} << 20;
constexpr std::size_t largestLibrary = std::size_t{64} << 20; ///< what a judge takes (core/worker/protocol.h)

Incumbent ofSource(std::string name, std::string text, const Task& task)
{
    Incumbent incumbent;
    incumbent.name = std::move(name);
    incumbent.source = std::move(text);
    incumbent.symbol = task.entry;
    incumbent.hash = sha256Of({"source", incumbent.source});
    return incumbent;
}

Result<std::string> contentsOf(const std::string& path, std::size_t limit)
{
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) {
        return fail(ErrorCode::NotFound, fmt::format("There is no file {}: name the incumbent's .cu, or its .so and "
                                                     "function as FILE.so:SYMBOL.",
                                                     printable(path, 300)));
    }
    if (const auto bytes = std::filesystem::file_size(path, error); !error && bytes > limit) {
        return fail(ErrorCode::InvalidInput, fmt::format("The incumbent {} is larger than {}: name a smaller file.",
                                                         printable(path, 300), bytesText(limit)));
    }
    return readFile(path, limit);
}

/// Functions of the library that the engineer may have meant: those with the name in them first.
std::string nearNames(const ElfFacts& facts, const std::string& symbol)
{
    std::vector<std::string> names;
    for (const ElfFacts::Symbol& one : facts.exports) {
        if (one.function && !one.weak && !one.name.starts_with('_')) {
            names.push_back(printable(one.name, 100));
        }
    }
    std::stable_partition(names.begin(), names.end(),
                          [&](const std::string& name) { return name.find(symbol) != std::string::npos; });
    names.resize(std::min<std::size_t>(names.size(), 3));
    std::string list;
    for (const std::string& name : names) {
        list += (list.empty() ? "" : ", ") + name;
    }
    return list;
}

Result<Incumbent> ofLibrary(std::string name, const std::string& path, std::string symbol, std::string bytes,
                            const Task& task)
{
    const auto facts = readElf(bytes);
    if (!facts) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("{} is no x86-64 shared library that could be loaded ({}): name "
                                "the .so that the linker wrote.",
                                printable(path, 300), facts.error().message));
    }
    const bool defined = std::any_of(facts->exports.begin(), facts->exports.end(),
                                     [&](const ElfFacts::Symbol& one) { return one.function && one.name == symbol; });
    if (!defined) {
        const std::string near = nearNames(*facts, symbol);
        return fail(ErrorCode::InvalidInput,
                    fmt::format("{} defines no function {}{}: it needs one with C linkage and the signature of {}.",
                                printable(path, 300), printable(symbol, 100),
                                near.empty() ? "" : fmt::format(" (it defines {})", near), entryPrototype(task)));
    }
    Incumbent incumbent;
    incumbent.name = std::move(name);
    auto shared = std::make_shared<const std::string>(std::move(bytes));
    incumbent.library = Library{sha256(*shared), shared};
    incumbent.hash = sha256Of({"library", incumbent.library->hash, symbol});
    incumbent.symbol = std::move(symbol);
    return incumbent;
}

struct Place {
    std::string path, symbol; ///< of a .cu: no symbol
};

Result<Place> placeOf(std::string_view words)
{
    const std::string all(words);
    if (all.ends_with(".cu")) {
        return Place{all, {}};
    }
    const std::size_t colon = all.rfind(':');
    const std::string path = all.substr(0, colon);
    const bool library = path.ends_with(".so") || path.find(".so.") != std::string::npos;
    if (!library) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("\"{}\" names no incumbent: give a FILE.cu, or a library and its function as "
                                "FILE.so:SYMBOL.",
                                printable(all, 300)));
    }
    if (colon == std::string::npos || colon + 1 == all.size()) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("{0} needs the name of its function: write {0}:SYMBOL.", printable(path, 300)));
    }
    return Place{path, all.substr(colon + 1)};
}

} // namespace

Result<Incumbent> loadIncumbent(std::string_view words, const Task& task)
{
    ESPALIER_TRY(const Place place, placeOf(words));
    ESPALIER_TRY(std::string bytes, contentsOf(place.path, place.symbol.empty() ? largestSource : largestLibrary));
    return incumbentFrom(words, std::move(bytes), task);
}

Result<Incumbent> incumbentFrom(std::string_view words, std::string bytes, const Task& task)
{
    ESPALIER_TRY(Place place, placeOf(words));
    return place.symbol.empty()
               ? ofSource(std::string(words), std::move(bytes), task)
               : ofLibrary(std::string(words), place.path, std::move(place.symbol), std::move(bytes), task);
}

const std::string& incumbentBytes(const Incumbent& incumbent)
{
    return incumbent.library ? *incumbent.library->bytes : incumbent.source;
}

std::optional<Incumbent> incumbentOf(const Task& task)
{
    if (!task.incumbent) {
        return std::nullopt;
    }
    return ofSource(task.incumbent->name, task.incumbent->text, task);
}

} // namespace espalier
