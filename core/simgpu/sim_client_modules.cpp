// SPDX-License-Identifier: Apache-2.0
// What a client does with modules: fat binaries, kernels and variables by name.
#include "core/base/text.h"
#include "core/simgpu/fatbin.h"
#include "core/simgpu/sim_client.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

namespace espalier::sim {

namespace {

constexpr std::size_t maxModules = 64;
constexpr std::size_t maxKernels = 4096;
constexpr std::size_t maxPtxBytes = std::size_t{16} << 20; ///< parsing it must stay a matter of a second or two

/// Reads instead of mapping: the runner could shorten a mapped file under us.
std::string readAll(int fd, std::uint64_t bytes)
{
    std::string content(bytes, '\0');
    std::uint64_t have = 0;
    while (have < bytes) {
        const ssize_t got = ::pread(fd, content.data() + have, bytes - have, static_cast<off_t>(have));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        have += static_cast<std::uint64_t>(got);
    }
    content.resize(have);
    return content;
}

} // namespace

SimClient::Handled SimClient::handleModule(ByteReader& from, Message& message)
{
    const auto bytes = from.get<std::uint64_t>();
    if (!from.done() || message.descriptors.size() != 1 || bytes > maxFatbinBytes || m_modules.size() >= maxModules) {
        return broken("a malformed module, or too many of them");
    }
    m_modules.push_back(load(readAll(message.descriptors.front().get(), bytes)));
    const std::string& error = m_modules.back().error;
    ByteWriter to;
    to.put(static_cast<std::uint8_t>(error.empty())).put(static_cast<std::uint32_t>(m_modules.size() - 1)).text(error);
    return answer(to);
}

LoadedModule SimClient::load(std::string_view fatbin)
{
    LoadedModule loaded;
    const int sm = 10 * m_device.limits.smMajor + m_device.limits.smMinor;
    const auto ptx = ptxOfFatbin(fatbin, sm);
    if (!ptx) {
        loaded.error = ptx.error().message;
        return loaded;
    }
    if (ptx->size() > maxPtxBytes) {
        loaded.error = fmt::format("the library's PTX has {}, the simulated device reads up to {}",
                                   bytesText(ptx->size()), bytesText(maxPtxBytes));
        return loaded;
    }
    auto module = m_device.modules.parsed(*ptx);
    if (!module) {
        loaded.error = fmt::format("the simulated device cannot read the library's PTX: {}", module.error().message);
        return loaded;
    }
    loaded.module = std::move(*module);
    loaded.error = placeVariables(loaded);
    return loaded;
}

/// Gives every variable an address and its initial bytes; answers why not.
std::string SimClient::placeVariables(LoadedModule& loaded)
{
    for (const ModuleVariable& variable : loaded.module->variables()) {
        if (variable.bytes == 0) {
            continue;
        }
        const Access access = variable.constant ? Access::ReadOnly : Access::ReadWrite;
        const auto address = m_memory.allocate(
            variable.bytes, access,
            fmt::format("{} {}", variable.constant ? "__constant__" : "__device__", variable.name), true);
        if (!address) {
            return fmt::format(
                "the variable {} ({} bytes) does not fit into the simulated device's {} bytes for a runner",
                variable.name, variable.bytes, m_device.clientBytes);
        }
        std::ranges::copy(variable.initial, m_memory.host(*address, variable.bytes));
        loaded.symbols[variable.name] = *address;
    }
    for (const ModuleVariable& variable : loaded.module->variables()) {
        for (const ModuleVariable::Address& slot : variable.addresses) {
            const auto target = loaded.symbols.find(slot.symbol);
            if (target == loaded.symbols.end() || variable.bytes < 8 || slot.offset > variable.bytes - 8) {
                return fmt::format("the variable {} is initialised with an address that is not known", variable.name);
            }
            const std::uint64_t value = target->second + static_cast<std::uint64_t>(slot.addend);
            std::memcpy(m_memory.host(loaded.symbols.at(variable.name), variable.bytes) + slot.offset, &value,
                        sizeof value);
        }
    }
    return {};
}

SimClient::Handled SimClient::handleKernel(ByteReader& from)
{
    const auto index = from.get<std::uint32_t>();
    const std::string name(from.text());
    if (!from.done() || index >= m_modules.size()) {
        return broken("a kernel of a module that does not exist");
    }
    const LoadedModule& module = m_modules[index];
    KernelAnswer reply;
    const KernelFacts* facts = module.module && module.error.empty() ? module.module->facts(name) : nullptr;
    if (!facts) {
        note(m_current.unsupported,
             module.error.empty() ? fmt::format("kernel {} is not in the library's PTX", name) : module.error);
        return answer(ByteWriter().text(reply.encode()));
    }
    const auto [known, added] = m_kernelByName.try_emplace({index, name}, static_cast<std::uint32_t>(m_kernels.size()));
    if (added) {
        if (m_kernels.size() >= maxKernels) {
            return broken("too many kernels");
        }
        m_kernels.push_back({&module, facts});
    }
    reply.found = true;
    reply.kernel = known->second;
    reply.parameterBytes = facts->paramBytes;
    reply.staticSharedBytes = facts->staticSharedBytes;
    reply.localBytes = facts->localBytes;
    reply.maxThreads = facts->maxThreads;
    for (const KernelParam& param : facts->params) {
        reply.parameters.push_back({param.offset, param.bytes});
    }
    return answer(ByteWriter().text(reply.encode()));
}

SimClient::Handled SimClient::handleVariable(ByteReader& from)
{
    const auto index = from.get<std::uint32_t>();
    const std::string name(from.text());
    if (!from.done() || index >= m_modules.size()) {
        return broken("a variable of a module that does not exist");
    }
    const LoadedModule& module = m_modules[index];
    std::uint64_t address = 0, bytes = 0;
    if (const auto found = module.symbols.find(name); module.module && found != module.symbols.end()) {
        const auto& variables = module.module->variables();
        const auto variable = std::ranges::find(variables, name, &ModuleVariable::name);
        address = found->second;
        bytes = variable != variables.end() ? variable->bytes : 0;
    }
    ByteWriter to;
    to.put(static_cast<std::uint8_t>(address != 0)).put(address).put(bytes);
    return answer(to);
}

} // namespace espalier::sim
