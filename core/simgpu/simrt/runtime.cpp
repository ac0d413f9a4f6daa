// SPDX-License-Identifier: Apache-2.0
#include "core/simgpu/simrt/runtime.h"

#include "core/simgpu/bulk_message.h"

#include <sys/mman.h>

namespace espalier::sim {

namespace {

thread_local cudaError_t lastErrorOfThread = cudaSuccess;

} // namespace

Runtime& Runtime::instance()
{
    static Runtime* runtime = new Runtime; // never destroyed: libraries unregister after our destructors would run
    return *runtime;
}

bool Runtime::attach(int socket)
{
    const std::lock_guard lock(m_mutex);
    m_socket.emplace(UniqueFd(socket));
    // Host code must not be able to read or write "device" memory, nor to place its own there.
    void* window = ::mmap(reinterpret_cast<void*>(windowBase), windowBytes, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (window != reinterpret_cast<void*>(windowBase)) {
        return false;
    }
    const auto welcome = askLocked(ByteWriter().put(Request::Hello), {});
    if (!welcome || welcome->size() != sizeof m_limits) {
        return false;
    }
    std::memcpy(&m_limits, welcome->data(), sizeof m_limits);
    auto handle = std::make_unique<Handle>(Handle{givenStream});
    m_given = reinterpret_cast<cudaStream_t>(handle.get());
    m_streams[handle.get()] = std::move(handle);
    return true;
}

bool Runtime::send(const ByteWriter& message)
{
    const std::lock_guard lock(m_mutex);
    if (!m_socket || !m_socket->send(message.bytes())) {
        m_sticky = cudaErrorDevicesUnavailable;
        return false;
    }
    return true;
}

std::optional<std::string> Runtime::ask(const ByteWriter& message, const std::vector<int>& descriptors)
{
    const std::lock_guard lock(m_mutex);
    return askLocked(message, descriptors);
}

std::optional<std::string> Runtime::askLocked(const ByteWriter& message, const std::vector<int>& descriptors)
{
    if (m_socket && m_socket->send(message.bytes(), descriptors)) {
        if (auto reply = m_socket->receive()) {
            return std::move(reply->bytes);
        }
    }
    m_sticky = cudaErrorDevicesUnavailable;
    return std::nullopt;
}

void Runtime::noteMisuse(std::string_view what)
{
    send(ByteWriter().put(Request::Misuse).text(what));
}

void Runtime::noteUnsupported(std::string_view what)
{
    send(ByteWriter().put(Request::Unsupported).text(what));
}

cudaError_t Runtime::synchronize(std::uint32_t stream)
{
    const auto reply = ask(ByteWriter().put(Request::Synchronize).put(stream));
    if (reply) {
        const auto sticky = ByteReader(*reply).get<std::int32_t>();
        const std::lock_guard lock(m_mutex);
        m_sticky = sticky != 0 ? static_cast<cudaError_t>(sticky) : m_sticky;
    }
    return done(cudaSuccess);
}

cudaError_t Runtime::done(cudaError_t code)
{
    const std::lock_guard lock(m_mutex);
    const cudaError_t result = m_sticky != cudaSuccess ? m_sticky : code;
    if (result != cudaSuccess) {
        lastErrorOfThread = result;
    }
    return result;
}

cudaError_t Runtime::lastError(bool reset)
{
    const std::lock_guard lock(m_mutex);
    const cudaError_t result = m_sticky != cudaSuccess ? m_sticky : lastErrorOfThread;
    if (reset) {
        lastErrorOfThread = cudaSuccess;
    }
    return result;
}

std::uint32_t Runtime::registerModule(std::string_view fatbin)
{
    constexpr std::uint32_t none = 0xffffffff;
    const auto file = memfdOf("espalier-fatbin", fatbin);
    if (!file) {
        return none;
    }
    const auto reply = ask(ByteWriter().put(Request::Module).put(std::uint64_t{fatbin.size()}), {file->get()});
    if (!reply) {
        return none;
    }
    // Whether simgpu could read it matters only once a kernel is launched; it says so itself then.
    ByteReader from(*reply);
    from.get<std::uint8_t>();
    return from.get<std::uint32_t>();
}

void Runtime::registerKernel(const void* hostFunction, std::uint32_t module, std::string name)
{
    const std::lock_guard lock(m_mutex);
    auto kernel = std::make_unique<ShimKernel>();
    kernel->module = module;
    kernel->name = std::move(name);
    m_kernelHandles.insert(kernel.get());
    m_kernels[hostFunction] = std::move(kernel);
}

void Runtime::registerVariable(const void* hostVariable, std::uint32_t module, std::string name)
{
    const std::lock_guard lock(m_mutex);
    m_variables[hostVariable] = ShimVariable{module, std::move(name), false, 0, 0};
}

const void* Runtime::handleOf(const void* hostFunction)
{
    const std::lock_guard lock(m_mutex);
    const auto found = m_kernels.find(hostFunction);
    return found == m_kernels.end() ? nullptr : found->second.get();
}

ShimKernel* Runtime::kernel(const void* function)
{
    const std::lock_guard lock(m_mutex);
    const auto found = m_kernels.find(function);
    const void* handle = found != m_kernels.end() ? found->second.get() : function;
    if (!m_kernelHandles.contains(handle)) {
        return nullptr;
    }
    auto* kernel = const_cast<ShimKernel*>(static_cast<const ShimKernel*>(handle));
    if (!kernel->asked || !kernel->facts.found) {
        // A kernel that was not found is asked for again, so that simgpu notes the reason in every call that needs it.
        const auto reply = askLocked(ByteWriter().put(Request::Kernel).put(kernel->module).text(kernel->name), {});
        KernelAnswer facts;
        if (!reply || !KernelAnswer::decode(ByteReader(*reply).text(), facts)) {
            return nullptr;
        }
        kernel->asked = true;
        kernel->facts = std::move(facts);
        const std::uint64_t used = kernel->facts.staticSharedBytes;
        kernel->maxDynamicShared = sharedPerBlockDefault - std::min(used, sharedPerBlockDefault);
    }
    return kernel->facts.found ? kernel : nullptr;
}

ShimVariable* Runtime::variable(const void* hostVariable)
{
    const std::lock_guard lock(m_mutex);
    const auto found = m_variables.find(hostVariable);
    if (found == m_variables.end()) {
        return nullptr;
    }
    ShimVariable& variable = found->second;
    if (!variable.asked) {
        const auto reply = askLocked(ByteWriter().put(Request::Variable).put(variable.module).text(variable.name), {});
        if (!reply) {
            return nullptr;
        }
        ByteReader from(*reply);
        from.get<std::uint8_t>();
        variable.address = from.get<std::uint64_t>();
        variable.bytes = from.get<std::uint64_t>();
        variable.asked = true;
    }
    return variable.address != 0 ? &variable : nullptr;
}

cudaStream_t Runtime::createStream(bool blocking)
{
    const std::lock_guard lock(m_mutex);
    auto handle = std::make_unique<Handle>(Handle{m_nextStream++});
    ByteWriter message;
    message.put(Request::StreamCreate).put(handle->id).put(static_cast<std::uint8_t>(blocking));
    if (!send(message)) {
        return nullptr;
    }
    const auto stream = reinterpret_cast<cudaStream_t>(handle.get());
    m_streams[handle.get()] = std::move(handle);
    return stream;
}

bool Runtime::destroyStream(cudaStream_t stream)
{
    const std::lock_guard lock(m_mutex);
    const auto found = m_streams.find(stream);
    if (found == m_streams.end() || stream == m_given) {
        return false;
    }
    send(ByteWriter().put(Request::StreamDestroy).put(found->second->id));
    m_streams.erase(found);
    return true;
}

std::optional<std::uint32_t> Runtime::streamId(cudaStream_t stream)
{
    if (stream == nullptr || stream == cudaStreamLegacy) {
        return legacyStream;
    }
    if (stream == cudaStreamPerThread) {
        return perThreadStream;
    }
    const std::lock_guard lock(m_mutex);
    const auto found = m_streams.find(stream);
    return found == m_streams.end() ? std::nullopt : std::optional(found->second->id);
}

cudaEvent_t Runtime::createEvent()
{
    const std::lock_guard lock(m_mutex);
    auto handle = std::make_unique<Handle>(Handle{m_nextEvent++});
    const auto event = reinterpret_cast<cudaEvent_t>(handle.get());
    m_events[handle.get()] = std::move(handle);
    return event;
}

bool Runtime::destroyEvent(cudaEvent_t event)
{
    const std::lock_guard lock(m_mutex);
    const auto found = m_events.find(event);
    if (found == m_events.end()) {
        return false;
    }
    m_events.erase(found);
    return true;
}

std::optional<std::uint32_t> Runtime::eventId(cudaEvent_t event)
{
    const std::lock_guard lock(m_mutex);
    const auto found = m_events.find(event);
    return found == m_events.end() ? std::nullopt : std::optional(found->second->id);
}

std::uint64_t addressOf(const void* pointer)
{
    return reinterpret_cast<std::uint64_t>(pointer);
}

bool isDevice(const void* pointer)
{
    return addressOf(pointer) - windowBase < windowBytes;
}

} // namespace espalier::sim
