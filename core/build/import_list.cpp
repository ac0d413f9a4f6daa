// SPDX-License-Identifier: Apache-2.0
#include "core/build/import_list.h"

#include <algorithm>
#include <array>

namespace espalier {

namespace {

// clang-format off
constexpr auto imports = std::to_array<AllowedImport>({
    // what nvcc's own host stubs call
    {"__cudaRegisterFatBinary", "stub: hands the device code to the runtime"},
    {"__cudaRegisterFatBinaryEnd", "stub"},
    {"__cudaUnregisterFatBinary", "stub, at unload"},
    {"__cudaRegisterFunction", "stub: one kernel"},
    {"__cudaRegisterVar", "stub: one __device__ or __constant__ variable"},
    {"__cudaInitModule", "stub"},
    {"__cudaPushCallConfiguration", "stub: <<<…>>>"},
    {"__cudaPopCallConfiguration", "stub: <<<…>>>"},
    {"__cudaLaunchKernel", "stub: <<<…>>>"},
    {"__cudaGetKernel", "stub: <<<…>>>"},
    {"exit", "stub: nvcc gives every __device__ function that is not inlined a host body that exits; the runner's end is a failure"},
    // launching
    {"cudaLaunchKernel", "launch"},
    {"cudaLaunchKernelExC", "launch with attributes: clusters, programmatic dependence"},
    {"cudaLaunchCooperativeKernel", "launch"},
    {"cudaFuncSetAttribute", "launch set-up: dynamic shared memory, carve-out"},
    {"cudaFuncSetCacheConfig", "launch set-up"},
    {"cudaFuncGetAttributes", "launch set-up"},
    {"cudaOccupancy*", "launch set-up"},
    {"cudaGetDevice", "launch set-up"},
    {"cudaGetDeviceCount", "launch set-up"},
    {"cudaDeviceGetAttribute", "launch set-up: number of SMs, shared memory"},
    {"cudaGetDeviceProperties", "launch set-up"},
    {"cudaGetSymbolAddress", "address of a __device__ variable"},
    {"cudaGetDriverEntryPoint", "cuTensorMapEncode*; the runner answers for nothing else"},
    {"cudaGetDriverEntryPointByVersion", "as above"},
    {"cudaGetLastError", "errors"},
    {"cudaPeekAtLastError", "errors"},
    {"cudaGetErrorString", "errors"},
    {"cudaGetErrorName", "errors"},
    // memory work that joins the stream
    {"cudaMemsetAsync", "joins the stream"},
    {"cudaMemset2DAsync", "joins the stream"},
    {"cudaMemcpyAsync", "joins the stream"},
    {"cudaMemcpy2DAsync", "joins the stream"},
    {"cudaMemcpyToSymbolAsync", "joins the stream"},
    {"cudaMallocAsync", "stream-ordered, capturable"},
    {"cudaFreeAsync", "stream-ordered, capturable"},
    // forking to other streams and joining again
    {"cudaStreamCreateWithFlags", "fork and join"},
    {"cudaStreamCreateWithPriority", "fork and join"},
    {"cudaStreamDestroy", "fork and join"},
    {"cudaStreamWaitEvent", "fork and join"},
    {"cudaEventCreateWithFlags", "fork and join"},
    {"cudaEventRecord", "fork and join"},
    {"cudaEventDestroy", "fork and join"},
    // graphs of its own, right under inputs that change in place. What a stream is captured by stays unknown to it.
    {"cudaStreamBeginCapture", "graph of its own; the runner refuses the given stream, captured or not"},
    {"cudaStreamEndCapture", "as above"},
    {"cudaGraphCreate", "graph of its own"},
    {"cudaGraphDestroy", "graph of its own"},
    {"cudaGraphAddDependencies", "graph of its own"},
    {"cudaGraphAddEmptyNode", "graph of its own"},
    {"cudaGraphAddKernelNode", "graph of its own"},
    {"cudaGraphAddMemsetNode", "graph of its own"},
    {"cudaGraphAddMemcpyNode1D", "graph of its own"},
    {"cudaGraphGetNodes", "graph of its own: finds what a capture recorded"},
    {"cudaGraphKernelNodeGetParams", "graph of its own"},
    {"cudaGraphKernelNodeSetParams", "graph of its own"},
    {"cudaGraphInstantiate", "graph of its own"},
    {"cudaGraphInstantiateWithFlags", "graph of its own"},
    {"cudaGraphExecKernelNodeSetParams", "graph of its own: new pointers without a new capture"},
    {"cudaGraphExecMemcpyNodeSetParams1D", "graph of its own"},
    {"cudaGraphExecMemsetNodeSetParams", "graph of its own"},
    {"cudaGraphExecUpdate", "graph of its own: new pointers without a new capture"},
    {"cudaGraphExecDestroy", "graph of its own"},
    {"cudaGraphUpload", "graph of its own, joins the stream"},
    {"cudaGraphLaunch", "joins the stream"},
    // C++ run-time support that host code of any kernel needs
    {"__cxa_atexit", "nvcc's own stub unregisters at unload"},
    {"__cxa_finalize", "linker"},
    {"__gmon_start__", "linker, weak"},
    {"_ITM_deregisterTMCloneTable", "linker, weak"},
    {"_ITM_registerTMCloneTable", "linker, weak"},
    {"__cxa_guard_acquire", "static locals"},
    {"__cxa_guard_release", "static locals"},
    {"__cxa_guard_abort", "static locals"},
    {"__gxx_personality_v0", "unwinding"},
    {"_Unwind_Resume", "unwinding"},
    {"__cxa_allocate_exception", "exceptions"},
    {"__cxa_free_exception", "exceptions"},
    {"__cxa_throw", "exceptions"},
    {"__cxa_rethrow", "exceptions"},
    {"__cxa_begin_catch", "exceptions"},
    {"__cxa_end_catch", "exceptions"},
    {"__cxa_throw_bad_array_new_length", "exceptions"},
    {"__cxa_pure_virtual", "virtual functions"},
    {"_ZSt9terminatev", "noexcept"},
    {"_ZSt17__throw_bad_allocv", "exceptions of the standard library"},
    {"_ZSt20__throw_length_errorPKc", "exceptions of the standard library"},
    {"_ZSt20__throw_out_of_rangePKc", "exceptions of the standard library"},
    {"_ZSt24__throw_out_of_range_fmtPKcz", "exceptions of the standard library"},
    {"_ZSt19__throw_logic_errorPKc", "exceptions of the standard library"},
    {"_ZSt28__throw_bad_array_new_lengthv", "exceptions of the standard library"},
    {"_ZTVN10__cxxabiv1*", "type information"},
    {"_ZTISt*", "type information"},
    {"_ZNSt9exception*", "exceptions of the standard library"},
    {"_ZNSt13runtime_error*", "exceptions of the standard library"},
    {"_ZNSt11logic_error*", "exceptions of the standard library"},
    {"_ZNSt16invalid_argument*", "exceptions of the standard library"},
    {"_ZNSt12out_of_range*", "exceptions of the standard library"},
    {"_ZNKSt9exception4whatEv", "exceptions of the standard library"},
    {"_ZNKSt13runtime_error4whatEv", "exceptions of the standard library"},
    {"_ZNKSt11logic_error4whatEv", "exceptions of the standard library"},
    {"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE*", "std::string"},
    {"_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE*", "std::string"},
    {"_ZNSaIcE*", "std::string's allocator"},
    {"_Znwm", "new"}, {"_Znam", "new"},
    {"_ZdlPv", "delete"}, {"_ZdlPvm", "delete"}, {"_ZdaPv", "delete"}, {"_ZdaPvm", "delete"},
    {"__stack_chk_fail", "compiler"},
    {"memcpy", "plain memory"}, {"memmove", "plain memory"}, {"memset", "plain memory"}, {"memcmp", "plain memory"},
    {"strlen", "plain memory"},
    {"abort", "assert and terminate: ends the runner, which is a failure of the candidate"},
    {"__assert_fail", "assert"},
    // printing an error is honest; what is printed is captured
    {"printf", "printing"}, {"fprintf", "printing"}, {"puts", "printing"}, {"putchar", "printing"}, {"fputs", "printing"},
    {"fputc", "printing"}, {"fwrite", "printing"}, {"fflush", "printing"}, {"stdout", "printing"}, {"stderr", "printing"},
    {"snprintf", "printing"}, {"vsnprintf", "printing"},
    // mathematics for launch parameters
    {"sqrt", "mathematics"}, {"sqrtf", "mathematics"}, {"exp", "mathematics"}, {"expf", "mathematics"}, {"exp2", "mathematics"},
    {"exp2f", "mathematics"}, {"log", "mathematics"}, {"logf", "mathematics"}, {"log2", "mathematics"}, {"log2f", "mathematics"},
    {"pow", "mathematics"}, {"powf", "mathematics"}, {"ceil", "mathematics"}, {"ceilf", "mathematics"}, {"floor", "mathematics"},
    {"floorf", "mathematics"}, {"round", "mathematics"}, {"roundf", "mathematics"}, {"fmod", "mathematics"},
    {"fmodf", "mathematics"}, {"ldexp", "mathematics"}, {"ldexpf", "mathematics"},
});

struct Forbidden {
    std::string_view name;
    std::string_view why;
};

constexpr auto forbidden = std::to_array<Forbidden>({
    {"cudaMallocManaged", "gives memory that outlives the call; use the workspace or cudaMallocAsync"},
    {"cudaMalloc*", "stops the device and cannot be captured; use the workspace or cudaMallocAsync"},
    {"cudaFree", "stops the device and cannot be captured; use the workspace or cudaFreeAsync"},
    {"cudaDeviceSynchronize", "waits for the device; the caller waits"},
    {"cudaStreamSynchronize", "waits for the device; the caller waits"},
    {"cudaEventSynchronize", "waits for the device; the caller waits"},
    {"cudaMemcpy*", "waits for the device; use cudaMemcpyAsync on the given stream"},
    {"cudaMemset", "does not join the given stream; use cudaMemsetAsync"},
    {"cudaStreamCreate", "makes a stream that waits for the default one; use cudaStreamCreateWithFlags"},
    {"cudaEventCreate", "makes an event that takes times; use cudaEventCreateWithFlags with cudaEventDisableTiming"},
    {"cudaEventElapsedTime", "takes times; the judge does"},
    {"cudaDeviceSetLimit", "changes the device's state for others"},
    {"cudaStreamIsCapturing", "tells a captured call from another"},
    {"cudaStreamGetCaptureInfo*", "tells a captured call from another"},
    {"cudaStreamUpdateCaptureDependencies*", "changes a capture of the caller's"},
    {"cudaStreamBeginCaptureToGraph", "changes a capture of the caller's; use cudaStreamBeginCapture on a stream of your own"},
    {"cudaThreadExchangeStreamCaptureMode", "changes a capture of the caller's"},
    {"cudaGraphAddHostNode", "runs code of the host within the device's work"},
    {"cudaLaunchHostFunc*", "runs code of the host within the device's work"},
    {"cudaStreamAddCallback*", "runs code of the host within the device's work"},
    {"cudaGraph*", "is no part of what a kernel's own graph needs (capture, kernel, memset and copy nodes, launch)"},
    {"cudaStreamSetAttribute*", "sets cache policies that outlive the call; use load and store hints in the kernel"},
    {"cudaStreamQuery", "asks what the device has done; the caller waits"},
    {"cudaEventQuery", "asks what the device has done; the caller waits"},
    {"cudaDeviceSetCacheConfig", "changes the device's state for others; use cudaFuncSetAttribute on the kernel"},
    {"cudaCtxResetPersistingL2Cache", "changes the device's state for others"},
    {"cudaMemPool*", "changes the device's memory pool for others"},
    {"cudaHost*", "gives the device a way to host memory"},
    {"cudaIpc*", "reaches other processes' memory"},
    {"cudaProfiler*", "steers the profiler"},
    {"cublas*", "calls a library; the task wants a kernel"},
    {"cudnn*", "calls a library; the task wants a kernel"},
    {"cusparse*", "calls a library; the task wants a kernel"},
    {"cusolver*", "calls a library; the task wants a kernel"},
    {"cufft*", "calls a library; the task wants a kernel"},
    {"curand*", "calls a library; the task wants a kernel"},
    {"nvrtc*", "compiles code while it runs; the task wants a kernel"},
    {"dlopen", "loads other code"}, {"dlsym", "looks up functions past this list"}, {"dlmopen", "loads other code"},
    {"dl_iterate_phdr", "looks into the runner"},
    {"fork", "starts a process"}, {"vfork", "starts a process"}, {"clone", "starts a process"}, {"exec*", "starts a process"},
    {"posix_spawn*", "starts a process"}, {"system", "starts a process"}, {"popen", "starts a process"},
    {"pthread_create", "starts a thread"}, {"_ZNSt6thread*", "starts a thread"},
    {"_exit", "ends the runner"}, {"quick_exit", "ends the runner"}, {"kill", "sends signals"}, {"raise", "sends signals"},
    {"longjmp", "leaves the call"}, {"siglongjmp", "leaves the call"}, {"signal", "catches faults"}, {"sigaction", "catches faults"},
    {"socket", "opens a connection"}, {"connect", "opens a connection"},
    {"mmap*", "maps memory"}, {"mprotect", "changes memory protection"}, {"ptrace", "looks into processes"}, {"syscall", "calls the kernel directly"},
    {"process_vm_*", "looks into processes"},
    {"open*", "opens files"}, {"fopen*", "opens files"}, {"read", "reads files"}, {"fread", "reads files"}, {"getenv", "reads the environment"},
    {"clock*", "takes times"}, {"time", "takes times"}, {"gettimeofday", "takes times"}, {"_ZNSt6chrono*", "takes times"},
    {"cudaSetDevice", "chooses a device; the caller has (algorithms of cub and thrust for a whole device do it as well: use cub's block-wide ones in a kernel)"},
    {"_ZNSt8ios_base4InitC1Ev", "constructs <iostream> when the library is loaded; leave <iostream> out and use printf"},
    {"_ZSt4cout", "prints by <iostream>; use printf"}, {"_ZSt4cerr", "prints by <iostream>; use printf"},
    {"_ZSt4clog", "prints by <iostream>; use printf"},
});

constexpr auto innocent = std::to_array<std::string_view>({
    "cudaMallocManaged", "cudaMalloc*", "cudaFree", "cudaMemcpy*", "cudaMemset", "cudaStreamCreate", "cudaEventCreate", "cudaSetDevice",
    // <iostream> and what its operators call
    "_ZNSt8ios_base4Init*", "_ZSt4cout", "_ZSt4cerr", "_ZSt4clog", "_ZStls*", "_ZNSo*", "_ZSt4endl*", "_ZSt5flush*", "_ZSt16__ostream_insert*",
    "_ZSt16__throw_bad_castv", "_ZNKSt5ctypeIcE*", "_ZNSt9basic_ios*",
});
// clang-format on

/// "cuMemAlloc_v2", not "cudaMalloc", "cublasCreate" or "cupboard".
bool isOfTheDriver(std::string_view symbol)
{
    return symbol.size() > 2 && symbol.starts_with("cu") && symbol[2] >= 'A' && symbol[2] <= 'Z';
}

bool matches(std::string_view pattern, std::string_view symbol)
{
    return pattern.ends_with('*') ? symbol.starts_with(pattern.substr(0, pattern.size() - 1)) : pattern == symbol;
}

constexpr std::array<std::string_view, 5> libraries = {"libc.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libm.so.6",
                                                       "ld-linux-x86-64.so.2"};

} // namespace

std::span<const AllowedImport> allowedImports()
{
    return imports;
}

bool isAllowedImport(std::string_view symbol)
{
    return std::any_of(imports.begin(), imports.end(),
                       [&](const AllowedImport& one) { return matches(one.name, symbol); });
}

bool isAllowedLibrary(std::string_view soname)
{
    return std::find(libraries.begin(), libraries.end(), soname) != libraries.end();
}

std::string_view whyForbidden(std::string_view symbol)
{
    const auto found = std::find_if(forbidden.begin(), forbidden.end(),
                                    [&](const Forbidden& one) { return matches(one.name, symbol); });
    if (found != forbidden.end()) {
        return found->why;
    }
    return isOfTheDriver(symbol) ? "calls the driver itself; use the runtime's functions" : std::string_view();
}

bool isInnocentImport(std::string_view symbol)
{
    return std::any_of(innocent.begin(), innocent.end(),
                       [&](std::string_view pattern) { return matches(pattern, symbol); });
}

} // namespace espalier
