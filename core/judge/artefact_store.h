// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/fd.h"
#include "core/base/result.h"

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <string_view>

namespace espalier::judge {

/// Libraries and task texts by the SHA-256 of their bytes, each in a sealed memfd that runners can load but not change.
/// Keeps the most recently used ones up to a total size. Thread: the judge's.
class ArtefactStore
{
public:
    explicit ArtefactStore(std::uint64_t limitBytes) : m_limit(limitBytes) {}

    /// `hash` must be the hash of `bytes` (the protocol checks it). Errors: OutOfMemory.
    Result<void> put(const std::string& hash, std::string_view bytes);
    bool has(const std::string& hash); ///< and marks it as used
    /// Descriptor of an artefact, owned by the store until it is evicted. Errors: NotFound.
    Result<int> descriptor(const std::string& hash);
    Result<std::string> text(const std::string& hash);
    Result<std::uint64_t> bytes(const std::string& hash);

private:
    struct Entry {
        UniqueFd fd;
        std::uint64_t bytes = 0;
        std::list<std::string>::iterator use;
    };
    Result<Entry*> find(const std::string& hash);

    std::uint64_t m_limit;
    std::uint64_t m_total = 0;
    std::map<std::string, Entry> m_entries;
    std::list<std::string> m_uses; ///< most recent first
};

} // namespace espalier::judge
