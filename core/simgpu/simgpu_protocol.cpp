// SPDX-License-Identifier: Apache-2.0
#include "core/simgpu/simgpu_protocol.h"

namespace espalier::sim {

std::string KernelAnswer::encode() const
{
    ByteWriter to;
    to.put(static_cast<std::uint8_t>(found)).put(kernel).put(parameterBytes).put(staticSharedBytes);
    to.put(localBytes).put(maxThreads).put(static_cast<std::uint32_t>(parameters.size()));
    for (const Parameter& parameter : parameters) {
        to.put(parameter.offset).put(parameter.bytes);
    }
    return to.take();
}

bool KernelAnswer::decode(std::string_view bytes, KernelAnswer& answer)
{
    ByteReader from(bytes);
    answer.found = from.get<std::uint8_t>() != 0;
    answer.kernel = from.get<std::uint32_t>();
    answer.parameterBytes = from.get<std::uint32_t>();
    answer.staticSharedBytes = from.get<std::uint32_t>();
    answer.localBytes = from.get<std::uint32_t>();
    answer.maxThreads = from.get<std::uint32_t>();
    for (auto left = from.get<std::uint32_t>(); left > 0 && from.ok(); --left) {
        Parameter parameter;
        parameter.offset = from.get<std::uint32_t>();
        parameter.bytes = from.get<std::uint32_t>();
        answer.parameters.push_back(parameter);
    }
    return from.done();
}

} // namespace espalier::sim
