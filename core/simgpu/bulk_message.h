// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/message_socket.h"

#include <string>
#include <string_view>

namespace espalier::sim {

/// A message of any size between trusted processes: longer ones than a MessageSocket carries travel as a memfd.
Result<void> sendBulk(MessageSocket& socket, std::string_view bytes);
Result<std::string> bulkOf(Message message);

/// A memfd that holds `bytes`; with sealed size, so that a peer cannot shorten it under a mapping.
Result<UniqueFd> memfdOf(std::string_view name, std::string_view bytes);
/// An empty memfd of `bytes` zero bytes, size sealed.
Result<UniqueFd> memfdOfSize(std::string_view name, std::uint64_t bytes);

} // namespace espalier::sim
