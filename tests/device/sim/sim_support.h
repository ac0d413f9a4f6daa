// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/sim/interpreter.h"

#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::sim {

/// The text of tests/device/sim/fixtures/NAME; empty when it cannot be read.
std::string fixture(std::string_view name);

/// PTX for sm_90a that the nvcc at hand makes of fixtures/NAME.cu. Fails the test and is empty when it does not
/// compile.
std::string compiledNow(std::string_view name);

/// A module with its variables and buffers in one address space, as the simgpu process keeps them.
class SimFixture
{
public:
    /// Asserts (by ADD_FAILURE) that the text parses.
    explicit SimFixture(std::string_view ptx);

    /// A buffer of the device; its address is a multiple of 256 and nothing lies within 64 KiB of it.
    template <class T>
    std::uint64_t buffer(std::vector<T>& values, std::string name, Access access = Access::ReadWrite)
    {
        return add(reinterpret_cast<std::byte*>(values.data()), values.size() * sizeof(T), std::move(name), access);
    }
    std::uint64_t add(std::byte* host, std::uint64_t bytes, std::string name, Access access);

    template <class... Args>
    LaunchResult run(std::string_view kernel, Dim3 grid, Dim3 block, std::uint32_t shared, Args... args)
    {
        std::vector<std::vector<std::byte>> packed;
        (packed.push_back(bytesOfValue(args)), ...);
        return runPacked(kernel, grid, block, shared, packed);
    }

    const PtxModule& module() const { return *m_module; }
    std::byte* variable(std::string_view name); ///< the bytes of a module variable
    LaunchLimits limits{.maxThreadInstructions = 200'000'000};

private:
    template <class T>
    static std::vector<std::byte> bytesOfValue(const T& value)
    {
        std::vector<std::byte> bytes(sizeof(T));
        std::memcpy(bytes.data(), &value, sizeof(T));
        return bytes;
    }
    LaunchResult runPacked(std::string_view kernel, Dim3 grid, Dim3 block, std::uint32_t shared,
                           const std::vector<std::vector<std::byte>>& args);

    std::shared_ptr<const PtxModule> m_module;
    AddressSpace m_memory;
    SymbolTable m_symbols;
    std::deque<std::vector<std::byte>> m_variables;
    std::uint64_t m_next = 0x7F0000000000;
};

/// compiledNow(name), which all tests of a process share: compiled once.
SimFixture& shared(std::string_view name);

/// One thread, or one warp, of a few handwritten instructions: wraps them in an entry `t(.param .u64 out)` with
/// registers %r<20>, %rd<20>, %f<20>, %fd<20>, %rs<20>, %p<10>; %rd0 is the address of 8 bytes of the thread's own.
std::string snippet(std::string_view body);

/// The 8 bytes each of 32 threads leaves at [%rd0]. Empty when the snippet faults or is unsupported.
std::vector<std::uint64_t> runSnippet(std::string_view body);

} // namespace espalier::sim
