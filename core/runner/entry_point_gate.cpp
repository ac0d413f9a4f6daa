// SPDX-License-Identifier: Apache-2.0
#include "core/runner/entry_point_gate.h"

#include <cstring>
#include <dlfcn.h>

namespace {

// cudaError_t and cudaDriverEntryPointQueryResult as plain numbers: the runner is built without the runtime's headers.
using Query = int (*)(const char* symbol, void** function, unsigned long long flags, int* status);
using QueryByVersion = int (*)(const char* symbol, void** function, unsigned version, unsigned long long flags,
                               int* status);
using BeginCapture = int (*)(void* stream, int mode);
using EndCapture = int (*)(void* stream, void** graph);
constexpr int success = 0;
constexpr int notSupported = 801; // cudaErrorNotSupported
constexpr int symbolNotFound = 1; // cudaDriverEntryPointSymbolNotFound
constexpr int captureUnsupported = 900; // cudaErrorStreamCaptureUnsupported

Query realQuery = nullptr;
QueryByVersion realQueryByVersion = nullptr;
BeginCapture realBeginCapture = nullptr;
EndCapture realEndCapture = nullptr;
bool everything = false;
void* given = nullptr; ///< the stream of the calls

bool allowed(const char* symbol)
{
    constexpr const char* prefix = "cuTensorMapEncode";
    return everything || (symbol && std::strncmp(symbol, prefix, std::strlen(prefix)) == 0);
}

int refuse(void** function, int* status)
{
    if (function) {
        *function = nullptr;
    }
    if (status) {
        *status = symbolNotFound;
    }
    return success;
}

} // namespace

#define ESPALIER_EXPORTED extern "C" __attribute__((visibility("default"), used))

ESPALIER_EXPORTED int cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                              int* status)
{
    if (!realQuery) {
        return notSupported;
    }
    return allowed(symbol) ? realQuery(symbol, function, flags, status) : refuse(function, status);
}

ESPALIER_EXPORTED int cudaGetDriverEntryPoint_ptsz(const char* symbol, void** function, unsigned long long flags,
                                                   int* status)
{
    return cudaGetDriverEntryPoint(symbol, function, flags, status);
}

ESPALIER_EXPORTED int cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                                       unsigned long long flags, int* status)
{
    if (!realQueryByVersion) {
        return notSupported;
    }
    return allowed(symbol) ? realQueryByVersion(symbol, function, version, flags, status) : refuse(function, status);
}

ESPALIER_EXPORTED int cudaGetDriverEntryPointByVersion_ptsz(const char* symbol, void** function, unsigned version,
                                                            unsigned long long flags, int* status)
{
    return cudaGetDriverEntryPointByVersion(symbol, function, version, flags, status);
}

// A capture of the given stream would begin in an ordinary call and fail in one that the judge itself captures, which
// tells them apart; ended, it would take the judge's capture away. Both are refused always. Other streams are free.

ESPALIER_EXPORTED int cudaStreamBeginCapture(void* stream, int mode)
{
    if (!realBeginCapture) {
        return notSupported;
    }
    return stream == given && !everything ? captureUnsupported : realBeginCapture(stream, mode);
}

ESPALIER_EXPORTED int cudaStreamEndCapture(void* stream, void** graph)
{
    if (!realEndCapture) {
        return notSupported;
    }
    return stream == given && !everything ? captureUnsupported : realEndCapture(stream, graph);
}

namespace espalier::runner {

void installEntryPointGate(bool trusted, void* stream)
{
    everything = trusted;
    given = stream;
    realQuery = reinterpret_cast<Query>(::dlsym(RTLD_NEXT, "cudaGetDriverEntryPoint"));
    realQueryByVersion = reinterpret_cast<QueryByVersion>(::dlsym(RTLD_NEXT, "cudaGetDriverEntryPointByVersion"));
    realBeginCapture = reinterpret_cast<BeginCapture>(::dlsym(RTLD_NEXT, "cudaStreamBeginCapture"));
    realEndCapture = reinterpret_cast<EndCapture>(::dlsym(RTLD_NEXT, "cudaStreamEndCapture"));
}

} // namespace espalier::runner
