// SPDX-License-Identifier: Apache-2.0
#include "core/engine/listing_desk.h"

#include "core/analysis/listing_text.h"
#include "core/base/file.h"
#include "core/base/subprocess.h"
#include "core/build/build_cache.h"
#include "core/build/fat_binary.h"
#include "core/build/toolkit.h"

#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <sys/eventfd.h>

namespace espalier {

namespace {

constexpr std::chrono::seconds disassemblerDeadline{10};
constexpr std::size_t longestListing = std::size_t{16} << 20; ///< bytes of text

std::string disassemblerPath()
{
    if (const auto toolkit = findToolkit()) {
        const std::filesystem::path beside = toolkit->nvcc.parent_path() / "nvdisasm";
        std::error_code ignored;
        if (std::filesystem::exists(beside, ignored)) {
            return beside.string();
        }
    }
    return findProgram("nvdisasm");
}

Result<std::string> runDisassembler(const std::string& program, std::string_view cubin)
{
    if (program.empty()) {
        return fail(ErrorCode::NotFound,
                    "Machine code needs nvdisasm, which is not installed: install the CUDA toolkit's "
                    "cuda-nvdisasm package, or put nvdisasm on the PATH.");
    }
    ESPALIER_TRY(const ScratchFolder folder, ScratchFolder::create("espalier-sass-"));
    const std::filesystem::path file = folder.path() / "candidate.cubin";
    ESPALIER_CHECK(writeFileAtomically(file, cubin));
    ProcessSpec spec;
    spec.argv = {program, "-c", "-gi", file.string()};
    ESPALIER_TRY(RunResult result, runToEnd(std::move(spec), "", disassemblerDeadline, longestListing));
    if (result.timedOut || !result.status.success() || result.dropped > 0) {
        return fail(ErrorCode::Io, fmt::format("nvdisasm could not print the machine code: {}.",
                                               result.timedOut      ? "it ran past ten seconds"
                                               : result.dropped > 0 ? "the listing is larger than 16 MiB"
                                                                    : result.status.text()));
    }
    return std::move(result.out);
}

Listing listingOf(const Result<std::string_view>& part,
                  const std::function<Result<std::vector<ListingLine>>(std::string_view)>& read)
{
    if (!part) {
        return {{}, fmt::format("Nothing to show: {}.", part.error().message)};
    }
    auto lines = read(*part);
    if (!lines) {
        return {{}, lines.error().message};
    }
    return {std::move(*lines), {}};
}

} // namespace

ListingSource realListingSource(std::string disassembler)
{
    ListingSource source;
    source.library = [](const std::string& key) -> std::optional<Library> {
        auto entry = BuildCache(cacheFolder() / "builds").find(key);
        return entry ? std::move(entry->library) : std::nullopt;
    };
    source.disassemble = [program = std::move(disassembler)](std::string_view cubin) {
        return runDisassembler(program.empty() ? disassemblerPath() : program, cubin);
    };
    return source;
}

ListingDesk::ListingDesk(ListingSource source)
    : m_source(std::move(source)), m_ready(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      m_thread([this](const std::stop_token& stop) { work(stop); })
{
}

ListingDesk::~ListingDesk() = default;

void ListingDesk::ask(NodeId node, std::string buildKey)
{
    {
        const std::lock_guard lock(m_mutex);
        std::erase_if(m_requests, [node](const Request& waiting) { return waiting.node == node; });
        m_requests.push_back({node, std::move(buildKey)});
    }
    m_wake.notify_one();
}

std::vector<std::shared_ptr<const CodeListings>> ListingDesk::take()
{
    eventfd_t ignored = 0;
    (void)::eventfd_read(m_ready.get(), &ignored);
    const std::lock_guard lock(m_mutex);
    return std::exchange(m_done, {});
}

void ListingDesk::work(const std::stop_token& stop)
{
    for (;;) {
        Request request;
        {
            std::unique_lock lock(m_mutex);
            if (!m_wake.wait(lock, stop, [this] { return !m_requests.empty(); })) {
                return;
            }
            request = std::move(m_requests.front());
            m_requests.pop_front();
        }
        auto listings = std::make_shared<const CodeListings>(readListings(m_source, request.node, request.buildKey));
        {
            const std::lock_guard lock(m_mutex);
            m_done.push_back(std::move(listings));
        }
        (void)::eventfd_write(m_ready.get(), 1);
    }
}

CodeListings readListings(const ListingSource& source, NodeId node, const std::string& buildKey)
{
    CodeListings listings;
    listings.node = node;
    const auto library = buildKey.empty() || !source.library ? std::nullopt : source.library(buildKey);
    if (!library || !library->bytes) {
        listings.ptx.missing = listings.sass.missing =
            buildKey.empty() ? "This candidate was never built, so there is no code to show."
                             : "The built library is no longer in the build cache: evaluate the candidate again to get "
                               "its code back.";
        return listings;
    }
    const std::string_view bytes = *library->bytes;
    listings.ptx = listingOf(ptxOfLibrary(bytes),
                             [](std::string_view ptx) -> Result<std::vector<ListingLine>> { return readPtxText(ptx); });
    listings.sass =
        listingOf(cubinOfLibrary(bytes), [&source](std::string_view cubin) -> Result<std::vector<ListingLine>> {
            ESPALIER_TRY(const std::string text, source.disassemble(cubin));
            return readSassText(text);
        });
    return listings;
}

} // namespace espalier
