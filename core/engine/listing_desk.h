// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/fd.h"
#include "core/base/result.h"
#include "core/model/library.h"
#include "core/model/listing.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace espalier {

/// Where a candidate's code comes from. Called on the desk's own thread.
struct ListingSource {
    std::function<std::optional<Library>(const std::string& buildKey)> library; ///< none: no longer kept
    std::function<Result<std::string>(std::string_view cubin)> disassemble;     ///< machine code as nvdisasm prints it
};

/// The build cache and nvdisasm of this machine. `disassembler`: this program instead of the toolkit's or the PATH's.
ListingSource realListingSource(std::string disassembler = {});

/// PTX and machine code of one candidate; blocks for a tenth of a second and more. What is not there says why.
CodeListings readListings(const ListingSource& source, NodeId node, const std::string& buildKey);

/// Reads PTX and machine code of candidates on a thread of its own: disassembling takes a tenth of a second and more,
/// and the engine's thread serves judges meanwhile. Thread: the engine's. The destructor waits for the listing under
/// way, nvdisasm's deadline at most. Errors: what is not there says why, in its Listing.
class ListingDesk
{
public:
    explicit ListingDesk(ListingSource source);
    ~ListingDesk();

    void ask(NodeId node, std::string buildKey);
    int descriptor() const { return m_ready.get(); } ///< readable when take() has something
    std::vector<std::shared_ptr<const CodeListings>> take();

private:
    struct Request {
        NodeId node;
        std::string buildKey;
    };
    void work(const std::stop_token& stop);

    ListingSource m_source;
    UniqueFd m_ready;
    std::mutex m_mutex;
    std::condition_variable_any m_wake;
    std::deque<Request> m_requests;
    std::vector<std::shared_ptr<const CodeListings>> m_done;
    std::jthread m_thread; ///< last: it uses everything above
};

} // namespace espalier
