// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/cuda/driver_api.h"
#include "tests/gpu/spike/spike_messages.h"

#include <string>
#include <sys/types.h>
#include <vector>

namespace spike {

extern const char spikeCandidate[]; ///< the library under test, embedded
extern const unsigned long spikeCandidateSize;
extern const char spikeOperations[]; ///< spike_ops.cu as PTX

/// Paths on this machine: environment SPIKE_CUDART, SPIKE_BWRAP, or the usual places; empty where there is none.
std::string runtimePath();
std::string driverPath();
std::string bubblewrapPath();

/// One buffer of the spike's judge. Freed at process end.
struct Buffer {
    CUdeviceptr address = 0;
    std::uint64_t bytes = 0;
    CUmemGenericAllocationHandle handle{};
};

/// The judge's side of the spike: context, buffers, operations. Every failure ends the program with a message.
class Bench
{
public:
    Bench();

    Buffer allocate(std::uint64_t bytes);
    int share(const Buffer& buffer) const;
    void fill(const Buffer& buffer, std::uint64_t elements, std::uint64_t seed);
    void poison(const Buffer& buffer);
    /// mode 0: inputs, 1: outputs of spike_stream. Returns the number of elements that are wrong.
    std::uint64_t check(const Buffer& buffer, std::uint64_t elements, std::uint64_t seed, int mode);
    void must(const char* what, CUresult code) const;
    int librarySealed() const; ///< a sealed memfd that holds the candidate
    /// What the design relies on: counted and printed when it does not hold.
    void expect(bool holds, const char* what);
    int broken() const { return m_broken; }
    const espalier::cuda::DriverApi& api() const { return *m_api; }

private:
    const espalier::cuda::DriverApi* m_api = nullptr;
    CUcontext m_context = nullptr;
    CUstream m_stream = nullptr;
    CUfunction m_fill = nullptr;
    CUfunction m_check = nullptr;
    CUdeviceptr m_counter = 0;
    int m_broken = 0;
};

/// One runner process. Killed by the destructor.
class Peer
{
public:
    /// `prefix` is put before the runner's command line (a sandbox); empty: none.
    explicit Peer(const std::vector<std::string>& prefix = {});
    ~Peer();
    Peer(Peer&& other) noexcept;
    Peer(const Peer&) = delete;

    /// Sends and spins for the answer; status -1000 when the runner died, -1001 after `seconds`.
    Reply ask(const Request& request, int descriptor = -1, double seconds = 10);
    /// Both return an empty text, or what failed.
    std::string start();
    std::string load(const Bench& bench);
    std::string prepare(const Bench& bench); ///< start and load
    std::string ending();                    ///< how a runner that stopped answering ended
    Reply map(Bench& bench, std::uint32_t slot, const Buffer& buffer, bool readWrite);

private:
    pid_t m_pid = -1;
    int m_socket = -1;
};

double now(); ///< microseconds, monotonic

void borderTests(Bench& bench);
void sandboxTests(Bench& bench);
void costTests(Bench& bench);
/// `spin`: runners wait for messages without sleeping.
void clockTests(Bench& bench, const std::string& csvPath, bool spin);

} // namespace spike
