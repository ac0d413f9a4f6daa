// SPDX-License-Identifier: Apache-2.0
#include "core/build/build_cache.h"

#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/text.h"
#include "core/model/evaluation_json.h"

#include <charconv>
#include <fmt/format.h>

namespace espalier {

namespace {

constexpr std::string_view magic = "espalier-build-1";
constexpr std::size_t largestEntry = std::size_t{2} << 30;

/// "espalier-build-1 HASH LENGTH\n", the record as JSON of that length, the library's bytes. HASH covers all after the
/// line.
std::string packed(const BuildCache::Entry& entry)
{
    const std::string record = toJsonText(entry.evaluation);
    std::string body = record;
    if (entry.library) {
        body += *entry.library->bytes;
    }
    return fmt::format("{} {} {}\n", magic, sha256(body), record.size()) + body;
}

std::optional<BuildCache::Entry> unpacked(std::string_view text)
{
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) {
        return std::nullopt;
    }
    const auto head = splitOn(text.substr(0, end), ' ');
    const std::string_view body = text.substr(end + 1);
    std::size_t length = 0;
    if (head.size() != 3 || head[0] != magic ||
        std::from_chars(head[2].data(), head[2].data() + head[2].size(), length).ec != std::errc() ||
        length > body.size() || sha256(body) != head[1]) {
        return std::nullopt;
    }
    auto evaluation = evaluationFromText(body.substr(0, length), "build cache");
    if (!evaluation || !evaluation->build) {
        return std::nullopt;
    }
    BuildCache::Entry entry = {std::move(*evaluation), std::nullopt};
    if (entry.evaluation.outcome == Outcome::Passed) {
        auto bytes = std::make_shared<const std::string>(body.substr(length));
        if (bytes->empty() || sha256(*bytes) != entry.evaluation.build->libraryHash) {
            return std::nullopt;
        }
        entry.library = Library{entry.evaluation.build->libraryHash, std::move(bytes)};
    }
    return entry;
}

} // namespace

std::filesystem::path BuildCache::pathOf(const std::string& key) const
{
    return m_folder / key.substr(0, 2) / key;
}

std::optional<BuildCache::Entry> BuildCache::find(const std::string& key) const
{
    const auto text = readFile(pathOf(key), largestEntry);
    return text ? unpacked(*text) : std::nullopt;
}

Result<void> BuildCache::store(const std::string& key, const Entry& entry) const
{
    const std::filesystem::path path = pathOf(key);
    ESPALIER_CHECK(makeDirectories(path.parent_path()));
    return writeFileAtomically(path, packed(entry));
}

} // namespace espalier
