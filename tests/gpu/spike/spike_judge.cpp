// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/spike/spike_judge.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace spike {

namespace {

std::string firstExisting(std::initializer_list<std::string> paths)
{
    for (const std::string& path : paths) {
        std::error_code error;
        if (const auto real = std::filesystem::canonical(path, error); !error && !path.empty()) {
            return real.string();
        }
    }
    return {};
}

std::string environment(const char* name)
{
    const char* value = std::getenv(name);
    return value ? value : "";
}

} // namespace

std::string runtimePath()
{
    return firstExisting({environment("SPIKE_CUDART"), environment("CUDA_HOME") + "/lib64/libcudart.so.13",
                          "/usr/local/cuda/lib64/libcudart.so.13"});
}

std::string bubblewrapPath()
{
    const std::string own = std::filesystem::canonical("/proc/self/exe").parent_path().string();
    return firstExisting({environment("SPIKE_BWRAP"), "/usr/bin/bwrap", own + "/bwrap"});
}

std::string driverPath()
{
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        if (line.find("/libcuda.so") != std::string::npos) {
            return line.substr(line.find('/'));
        }
    }
    return {};
}

double now()
{
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Bench::Bench()
{
    auto api = espalier::cuda::driverApi();
    if (!api) {
        std::fprintf(stderr, "%s\n", api.error().message.c_str());
        std::exit(1);
    }
    m_api = *api;
    must("context", m_api->cuDevicePrimaryCtxRetain(&m_context, 0));
    must("current", m_api->cuCtxSetCurrent(m_context));
    must("stream", m_api->cuStreamCreate(&m_stream, CU_STREAM_NON_BLOCKING));
    CUmodule module = nullptr;
    must("operations", m_api->cuModuleLoadData(&module, spikeOperations));
    must("fill", m_api->cuModuleGetFunction(&m_fill, module, "fill"));
    must("check", m_api->cuModuleGetFunction(&m_check, module, "check"));
    must("counter", m_api->cuMemAlloc(&m_counter, 8));
}

void Bench::must(const char* what, CUresult code) const
{
    if (code != CUDA_SUCCESS) {
        std::printf("JUDGE FAILED: %s: %s\n", what, m_api->describe(code).c_str());
        std::exit(1);
    }
}

void Bench::expect(bool holds, const char* what)
{
    if (!holds) {
        ++m_broken;
        std::printf("BROKEN: %s\n", what);
    }
}

Buffer Bench::allocate(std::uint64_t bytes)
{
    constexpr std::uint64_t granule = 2u << 20;
    Buffer buffer;
    buffer.bytes = (bytes + granule - 1) / granule * granule;
    CUmemAllocationProp prop{};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
    must("create", m_api->cuMemCreate(&buffer.handle, buffer.bytes, &prop, 0));
    must("reserve", m_api->cuMemAddressReserve(&buffer.address, buffer.bytes, 0, 0, 0));
    must("map", m_api->cuMemMap(buffer.address, buffer.bytes, 0, buffer.handle, 0));
    CUmemAccessDesc access{};
    access.location = prop.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    must("access", m_api->cuMemSetAccess(buffer.address, buffer.bytes, &access, 1));
    return buffer;
}

int Bench::share(const Buffer& buffer) const
{
    int descriptor = -1;
    must("export",
         m_api->cuMemExportToShareableHandle(&descriptor, buffer.handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    return descriptor;
}

void Bench::fill(const Buffer& buffer, std::uint64_t elements, std::uint64_t seed)
{
    CUdeviceptr address = buffer.address;
    void* arguments[] = {&address, &elements, &seed};
    must("fill", m_api->cuLaunchKernel(m_fill, 1056, 1, 1, 512, 1, 1, 0, m_stream, arguments, nullptr));
    must("fill", m_api->cuStreamSynchronize(m_stream));
}

void Bench::poison(const Buffer& buffer)
{
    must("poison", m_api->cuMemsetD32Async(buffer.address, 0x7fc12345u, buffer.bytes / 4, m_stream));
    must("poison", m_api->cuStreamSynchronize(m_stream));
}

std::uint64_t Bench::check(const Buffer& buffer, std::uint64_t elements, std::uint64_t seed, int mode)
{
    std::uint64_t wrong = 0;
    CUdeviceptr address = buffer.address;
    void* arguments[] = {&address, &elements, &seed, &mode, &m_counter};
    must("zero", m_api->cuMemsetD32Async(m_counter, 0, 2, m_stream));
    must("check", m_api->cuLaunchKernel(m_check, 1056, 1, 1, 512, 1, 1, 0, m_stream, arguments, nullptr));
    must("check", m_api->cuStreamSynchronize(m_stream));
    must("count", m_api->cuMemcpyDtoH(&wrong, m_counter, 8));
    return wrong;
}

int Bench::librarySealed() const
{
    const int fd = memfd_create("candidate", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || write(fd, spikeCandidate, spikeCandidateSize) != static_cast<ssize_t>(spikeCandidateSize) ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        std::perror("sealed memfd");
    }
    return fd;
}

Peer::Peer(const std::vector<std::string>& prefix)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) != 0) {
        std::perror("socketpair");
        std::exit(1);
    }
    std::vector<std::string> words = prefix;
    if (prefix.empty()) {
        words.push_back("/proc/self/exe");
    }
    words.push_back("runner");
    const std::string runtime = runtimePath();
    m_pid = fork();
    if (m_pid == 0) {
        setenv("SPIKE_CUDART", runtime.c_str(), 1);
        dup2(pair[1], 3);
        closefrom(4);
        std::vector<char*> argv;
        for (std::string& word : words) {
            argv.push_back(word.data());
        }
        argv.push_back(nullptr);
        execv(argv[0], argv.data());
        std::perror(argv[0]);
        _exit(127);
    }
    close(pair[1]);
    m_socket = pair[0];
}

Peer::Peer(Peer&& other) noexcept : m_pid(std::exchange(other.m_pid, -1)), m_socket(std::exchange(other.m_socket, -1))
{
}

Peer::~Peer()
{
    if (m_socket >= 0) {
        close(m_socket);
    }
    if (m_pid > 0) {
        kill(m_pid, SIGKILL);
        waitpid(m_pid, nullptr, 0);
    }
}

Reply Peer::ask(const Request& request, int descriptor, double seconds)
{
    Reply reply;
    reply.status = -1000;
    if (!sendMessage(m_socket, request, descriptor)) {
        return reply;
    }
    const double end = now() + seconds * 1e6;
    for (;;) {
        const int got = receiveMessage(m_socket, reply);
        if (got > 0) {
            return reply;
        }
        if (got < 0 || now() > end) {
            reply.status = got < 0 ? -1000 : -1001;
            return reply;
        }
    }
}

std::string Peer::start()
{
    const Reply reply = ask({.verb = Verb::Start}, -1, 20);
    return reply.status ? "start " + std::to_string(reply.status) + " " + reply.text : std::string();
}

std::string Peer::load(const Bench& bench)
{
    const int library = bench.librarySealed();
    const Reply reply = ask({.verb = Verb::Load}, library, 20);
    close(library);
    return reply.status ? "load " + std::to_string(reply.status) + " " + reply.text : std::string();
}

std::string Peer::prepare(const Bench& bench)
{
    const std::string why = start();
    return why.empty() ? load(bench) : why;
}

std::string Peer::ending()
{
    int status = 0;
    for (int i = 0; i < 100; ++i) {
        if (waitpid(m_pid, &status, WNOHANG) == m_pid) {
            m_pid = -1;
            return WIFEXITED(status) ? "exit status " + std::to_string(WEXITSTATUS(status))
                                     : "signal " + std::to_string(WTERMSIG(status));
        }
        usleep(10000);
    }
    return "still running";
}

Reply Peer::map(Bench& bench, std::uint32_t slot, const Buffer& buffer, bool readWrite)
{
    const int descriptor = bench.share(buffer);
    const Reply reply =
        ask({.verb = Verb::Map, .slot = slot, .readWrite = readWrite, .bytes = buffer.bytes}, descriptor);
    close(descriptor);
    if (reply.status) {
        std::printf("map failed: %s\n", reply.text);
    }
    return reply;
}

} // namespace spike
