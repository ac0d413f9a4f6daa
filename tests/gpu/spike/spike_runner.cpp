// SPDX-License-Identifier: Apache-2.0
// The runner of the spike: maps what it is given, binds the library to the real runtime, runs blocks.
#include "core/device/cuda/driver_api.h"
#include "tests/gpu/spike/spike_messages.h"

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <poll.h>
#include <set>
#include <string>
#include <vector>

namespace spike {

namespace {

using Clock = std::chrono::steady_clock;

double microsecondsSince(Clock::time_point start)
{
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

struct Slot {
    CUdeviceptr address = 0;
    std::uint64_t bytes = 0;
    int descriptor = -1;
};

using StreamEntry = int (*)(const float*, float*, std::int64_t, CUstream);
using PokeEntry = int (*)(float*, CUstream);

class Runner
{
public:
    int loop();

private:
    void answer(const Request& request, int descriptor, Reply& reply);
    void start(Reply& reply);
    void load(int descriptor, Reply& reply);
    CUresult mapAt(int descriptor, std::uint64_t bytes, bool readWrite, CUdeviceptr& address);
    void block(const Request& request, Reply& reply);
    void libraries(Reply& reply);
    void finish(Reply& reply, CUresult code);

    const espalier::cuda::DriverApi* m_api = nullptr;
    CUcontext m_context = nullptr;
    CUstream m_stream = nullptr;
    CUdeviceptr m_displacement = 0;
    std::size_t m_displacementBytes = 0;
    std::array<CUevent, 2 * maxCalls> m_events{};
    std::array<Slot, 64> m_slots{};
    StreamEntry m_streamEntry = nullptr;
    PokeEntry m_poke = nullptr;
};

void Runner::finish(Reply& reply, CUresult code)
{
    reply.status = code;
    std::snprintf(reply.text, sizeof(reply.text), "%s", m_api ? m_api->describe(code).c_str() : "no driver");
}

void Runner::start(Reply& reply)
{
    const auto begin = Clock::now();
    auto api = espalier::cuda::driverApi();
    if (!api) {
        reply.status = -1;
        std::snprintf(reply.text, sizeof(reply.text), "%s", api.error().message.c_str());
        return;
    }
    m_api = *api;
    reply.values[1] = microsecondsSince(begin) / 1000;
    CUresult code = m_api->cuDevicePrimaryCtxRetain(&m_context, 0);
    if (!code) {
        code = m_api->cuCtxSetCurrent(m_context);
    }
    if (!code) {
        code = m_api->cuStreamCreate(&m_stream, CU_STREAM_NON_BLOCKING);
    }
    int l2 = 0;
    m_api->cuDeviceGetAttribute(&l2, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 0);
    m_displacementBytes = 2 * static_cast<std::size_t>(l2);
    if (!code) {
        code = m_api->cuMemAlloc(&m_displacement, m_displacementBytes);
    }
    for (CUevent& event : m_events) {
        if (!code) {
            code = m_api->cuEventCreate(&event, CU_EVENT_DEFAULT);
        }
    }
    finish(reply, code);
    reply.values[0] = microsecondsSince(begin) / 1000;
}

void Runner::load(int descriptor, Reply& reply)
{
    const char* runtime = std::getenv("SPIKE_CUDART");
    const auto begin = Clock::now();
    void* cudart = dlopen(runtime ? runtime : "libcudart.so.13", RTLD_NOW | RTLD_GLOBAL);
    reply.values[0] = microsecondsSince(begin) / 1000;
    const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
    void* library = cudart ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    reply.values[1] = microsecondsSince(begin) / 1000;
    if (library) {
        m_streamEntry = reinterpret_cast<StreamEntry>(dlsym(library, "spike_stream"));
        m_poke = reinterpret_cast<PokeEntry>(dlsym(library, "spike_poke"));
    }
    reply.status = m_streamEntry && m_poke ? 0 : -1;
    if (reply.status) {
        const char* why = dlerror();
        std::snprintf(reply.text, sizeof(reply.text), "%s", why ? why : "entry missing");
    }
}

CUresult Runner::mapAt(int descriptor, std::uint64_t bytes, bool readWrite, CUdeviceptr& address)
{
    constexpr std::size_t guard = 2u << 20;
    CUmemGenericAllocationHandle handle{};
    CUresult code =
        m_api->cuMemImportFromShareableHandle(&handle, reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)),
                                              CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    CUdeviceptr base = 0;
    if (!code) {
        code = m_api->cuMemAddressReserve(&base, bytes + 2 * guard, 0, 0, 0);
    }
    if (!code) {
        code = m_api->cuMemMap(base + guard, bytes, 0, handle, 0);
    }
    CUmemAccessDesc access{};
    access.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
    access.flags = readWrite ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_READ;
    if (!code) {
        code = m_api->cuMemSetAccess(base + guard, bytes, &access, 1);
    }
    address = base + guard;
    return code;
}

void Runner::block(const Request& request, Reply& reply)
{
    const auto begin = Clock::now();
    CUresult code = CUDA_SUCCESS;
    for (std::uint32_t i = 0; i < request.count && !code && !reply.status; ++i) {
        if (request.displace) {
            code = m_api->cuMemsetD8Async(m_displacement, static_cast<unsigned char>(i), m_displacementBytes, m_stream);
        }
        m_api->cuEventRecord(m_events[2 * i], m_stream);
        if (request.launch) {
            const std::uint32_t set = i % request.sets;
            reply.status = m_streamEntry(reinterpret_cast<const float*>(m_slots[2 * set].address),
                                         reinterpret_cast<float*>(m_slots[2 * set + 1].address),
                                         static_cast<std::int64_t>(request.elements), m_stream);
        }
        m_api->cuEventRecord(m_events[2 * i + 1], m_stream);
    }
    if (!code) {
        code = m_api->cuStreamSynchronize(m_stream);
    }
    reply.hostMicroseconds = microsecondsSince(begin);
    reply.count = request.count;
    for (std::uint32_t i = 0; i < request.count && !code; ++i) {
        float milliseconds = 0;
        code = m_api->cuEventElapsedTime(&milliseconds, m_events[2 * i], m_events[2 * i + 1]);
        reply.values[i] = 1000.0 * static_cast<double>(milliseconds);
    }
    if (code) {
        finish(reply, code);
    }
}

void Runner::libraries(Reply& reply)
{
    std::ifstream maps("/proc/self/maps");
    std::set<std::string> files;
    for (std::string line; std::getline(maps, line);) {
        if (const auto at = line.find('/'); at != std::string::npos) {
            files.insert(line.substr(at));
        }
    }
    std::string text;
    for (const std::string& file : files) {
        text += file + "\n";
    }
    std::snprintf(reply.text, sizeof(reply.text), "%s", text.c_str());
}

void Runner::answer(const Request& request, int descriptor, Reply& reply)
{
    Slot& slot = m_slots[request.slot];
    const auto begin = Clock::now();
    switch (request.verb) {
    case Verb::Start:
        return start(reply);
    case Verb::Load:
        return load(descriptor, reply);
    case Verb::Map:
        slot.descriptor = descriptor;
        slot.bytes = request.bytes;
        finish(reply, mapAt(descriptor, request.bytes, request.readWrite != 0, slot.address));
        reply.values[0] = microsecondsSince(begin) / 1000;
        return;
    case Verb::Block:
        return block(request, reply);
    case Verb::Poke:
        reply.values[0] =
            m_poke(reinterpret_cast<float*>(slot.address + static_cast<std::uint64_t>(request.offset)), m_stream);
        finish(reply, m_api->cuStreamSynchronize(m_stream));
        return;
    case Verb::CopyInto: {
        const float value = 42;
        return finish(reply, m_api->cuMemcpyHtoD(slot.address, &value, sizeof(value)));
    }
    case Verb::MemsetInto:
        if (const CUresult code = m_api->cuMemsetD8Async(slot.address, 1, 4096, m_stream)) {
            return finish(reply, code);
        }
        return finish(reply, m_api->cuStreamSynchronize(m_stream));
    case Verb::RemapWrite: {
        CUdeviceptr again = 0;
        CUresult code = mapAt(slot.descriptor, slot.bytes, true, again);
        reply.values[0] = code;
        if (!code) {
            m_poke(reinterpret_cast<float*>(again + 4096), m_stream);
            code = m_api->cuStreamSynchronize(m_stream);
        }
        return finish(reply, code);
    }
    case Verb::Libraries:
        return libraries(reply);
    case Verb::Quit:
        std::_Exit(0);
    }
}

int Runner::loop()
{
    // Spins for a moment after each message: the wake-up of a sleeping process would be part of the judge's clock.
    const char* chosen = std::getenv("SPIKE_SPIN_US");
    const double spin = chosen ? std::atof(chosen) : 50000;
    auto last = Clock::now();
    for (;;) {
        Request request;
        int descriptor = -1;
        const int got = receiveMessage(3, request, &descriptor);
        if (got < 0) {
            return 0;
        }
        if (got == 0) {
            if (microsecondsSince(last) > spin) {
                pollfd waiting{3, POLLIN, 0};
                poll(&waiting, 1, -1);
            }
            continue;
        }
        Reply reply;
        answer(request, descriptor, reply);
        if (!sendMessage(3, reply)) {
            return 1;
        }
        last = Clock::now();
    }
}

} // namespace

int runnerMain()
{
    return Runner().loop();
}

} // namespace spike
