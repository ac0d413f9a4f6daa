// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/simgpu/wire.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// Messages between judge and simgpu (trusted, "control") and between runner and simgpu (the runner lies if it can).
/// Each message is one byte of kind, then the fields in the order of the comment, written by ByteWriter.
namespace espalier::sim {

/// Judge → simgpu. Every request is answered by one Reply: u8 1 and the answer's fields, or u8 0, i32 ErrorCode, text.
enum class Control : std::uint8_t {
    Setup = 1,    ///< text profile JSON, text its name, u64 client bytes; descriptor: the cancel flag's memfd
    CreateClient, ///< descriptor: simgpu's end; answer u32 id
    Grant,        ///< u32 client, u64 offset, u64 bytes, u64 mapped bytes, u8 access, text name; descriptor; answer u64
                  ///< address
    BeginBlock,   ///< u32 client, u64 max thread instructions
    FinishBlock,  ///< u32 client; answer BlockReport
    Release,      ///< u32 client; answer BlockReport with one call
    Drop,         ///< u32 client
};

/// Runner → simgpu. Those with "answer" are waited for, the others are not answered.
enum class Request : std::uint8_t {
    Hello = 1,     ///< answer Welcome
    MapNext,       ///< u64 mapped bytes, u8 access, u64 offset; answer u8 ok, u64 address
    Unmap,         ///< u64 address
    Module,        ///< u64 size; descriptor: a file with the fat binary; answer u8 ok, u32 module, text why not
    Kernel,        ///< u32 module, text name; answer KernelAnswer
    Variable,      ///< u32 module, text name; answer u8 ok, u64 address, u64 bytes
    StreamCreate,  ///< u32 stream, u8 blocking
    StreamDestroy, ///< u32 stream
    EventRecord,   ///< u32 event, u32 stream
    StreamWait,    ///< u32 stream, u32 event
    Launch,        ///< u32 stream, u32 kernel, 3 u32 grid, 3 u32 block, u32 dynamic shared bytes, text parameters
    Memset,        ///< u32 stream, u64 address, u8 value, u64 bytes
    CopyDevice,    ///< u32 stream, u64 to, u64 from, u64 bytes
    CopyIn,        ///< u32 stream, u64 to, text bytes
    Malloc,        ///< u64 bytes; answer u64 address (0: no memory)
    Free,          ///< u32 stream, u64 address
    Synchronize,   ///< u32 stream, or allStreams; answer i32 sticky error
    Status,        ///< answer i32 sticky error
    Misuse,        ///< text: what the contract forbids ("cudaMalloc")
    Unsupported,   ///< text: what this device cannot do ("cudaLaunchHostFunc")
    BeginCall,     ///< u32 index; answer i32 sticky error
    EndCall,       ///< i32 status, f64 host microseconds
    EndBlock,      ///< nothing
};

inline constexpr std::uint32_t legacyStream = 0; ///< CUDA's default stream
inline constexpr std::uint32_t perThreadStream = 1;
inline constexpr std::uint32_t givenStream = 2; ///< what every call is given; created non-blocking, as on CUDA
inline constexpr std::uint32_t firstFreeStream = 3;
inline constexpr std::uint32_t allStreams = 0xffffffff;

/// Device addresses of every client lie in one window, which its runner reserves without access.
inline constexpr std::uint64_t windowBase = 0x2000'0000'0000;
inline constexpr std::uint64_t windowBytes = std::uint64_t{1} << 40;
inline constexpr std::uint64_t guardBytes = std::uint64_t{2} << 20; ///< unused addresses between two allocations

inline constexpr std::size_t maxInlineCopy = 64 * 1024; ///< bytes in one CopyIn; longer copies are sent in pieces
inline constexpr std::uint64_t maxFatbinBytes = std::uint64_t{64} << 20;
inline constexpr std::size_t maxParameterBytes = 32764; ///< as CUDA on sm_70 and later

/// What a runtime tells a program about the device. Trivially copyable: sent as it is.
struct DeviceLimits {
    std::int32_t smMajor = 9, smMinor = 0;
    std::int32_t multiprocessors = 0;
    std::int32_t maxThreadsPerMultiprocessor = 2048;
    std::int32_t maxBlocksPerMultiprocessor = 32;
    std::int32_t registersPerMultiprocessor = 65536;
    std::uint64_t sharedPerMultiprocessor = 0;
    std::uint64_t sharedPerBlockOptin = 0; ///< with cudaFuncAttributeMaxDynamicSharedMemorySize
    std::uint64_t sharedReservedPerBlock = 1024;
    std::uint64_t l2Bytes = 0;
    std::uint64_t totalBytes = 0;
    char name[64] = {};
};

inline constexpr std::uint64_t sharedPerBlockDefault = 48 * 1024;

/// What the runtime must know of a kernel to pack its arguments and to refuse a bad launch as CUDA does.
struct KernelAnswer {
    bool found = false;
    std::uint32_t kernel = 0;
    std::uint32_t parameterBytes = 0;
    std::uint32_t staticSharedBytes = 0;
    std::uint32_t localBytes = 0;
    std::uint32_t maxThreads = 0; ///< of __launch_bounds__; 0: none
    struct Parameter {
        std::uint32_t offset = 0, bytes = 0;
    };
    std::vector<Parameter> parameters;

    std::string encode() const;
    static bool decode(std::string_view bytes, KernelAnswer& answer);
};

} // namespace espalier::sim
