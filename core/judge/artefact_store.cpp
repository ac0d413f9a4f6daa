// SPDX-License-Identifier: Apache-2.0
#include "core/judge/artefact_store.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

namespace espalier::judge {

Result<void> ArtefactStore::put(const std::string& hash, std::string_view bytes)
{
    if (has(hash)) {
        return {};
    }
    UniqueFd fd(::memfd_create("espalier-artefact", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!fd) {
        return fail(ErrorCode::OutOfMemory, fmt::format("the judge cannot keep a library: {}", std::strerror(errno)));
    }
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t wrote = ::write(fd.get(), bytes.data() + done, bytes.size() - done);
        if (wrote <= 0) {
            return fail(ErrorCode::OutOfMemory,
                        fmt::format("the judge cannot keep a library: {}", std::strerror(errno)));
        }
        done += static_cast<std::size_t>(wrote);
    }
    if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0) {
        return fail(ErrorCode::Internal, fmt::format("the judge cannot seal a library: {}", std::strerror(errno)));
    }
    m_uses.push_front(hash);
    m_entries.emplace(hash, Entry{std::move(fd), bytes.size(), m_uses.begin()});
    m_total += bytes.size();
    while (m_total > m_limit && m_uses.size() > 1) {
        const auto last = m_entries.find(m_uses.back());
        m_total -= last->second.bytes;
        m_entries.erase(last);
        m_uses.pop_back();
    }
    return {};
}

Result<ArtefactStore::Entry*> ArtefactStore::find(const std::string& hash)
{
    const auto found = m_entries.find(hash);
    if (found == m_entries.end()) {
        return fail(ErrorCode::NotFound,
                    fmt::format("the judge does not have the artefact {}; put it first", hash.substr(0, 12)));
    }
    m_uses.splice(m_uses.begin(), m_uses, found->second.use);
    return &found->second;
}

bool ArtefactStore::has(const std::string& hash)
{
    return find(hash).has_value();
}

Result<int> ArtefactStore::descriptor(const std::string& hash)
{
    ESPALIER_TRY(const Entry* const entry, find(hash));
    return entry->fd.get();
}

Result<std::uint64_t> ArtefactStore::bytes(const std::string& hash)
{
    ESPALIER_TRY(const Entry* const entry, find(hash));
    return entry->bytes;
}

Result<std::string> ArtefactStore::text(const std::string& hash)
{
    ESPALIER_TRY(const Entry* const entry, find(hash));
    std::string text(entry->bytes, '\0');
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t got = ::pread(entry->fd.get(), text.data() + done, text.size() - done, static_cast<off_t>(done));
        if (got <= 0) {
            return fail(ErrorCode::Internal,
                        fmt::format("the judge cannot read an artefact back: {}", std::strerror(errno)));
        }
        done += static_cast<std::size_t>(got);
    }
    return text;
}

} // namespace espalier::judge
