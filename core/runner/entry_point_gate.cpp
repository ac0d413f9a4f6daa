// SPDX-License-Identifier: Apache-2.0
#include "core/runner/entry_point_gate.h"

#include <cstring>
#include <dlfcn.h>

namespace {

// cudaError_t and cudaDriverEntryPointQueryResult as plain numbers: the runner is built without the runtime's headers.
using Query = int (*)(const char* symbol, void** function, unsigned long long flags, int* status);
using QueryByVersion = int (*)(const char* symbol, void** function, unsigned version, unsigned long long flags,
                               int* status);
constexpr int success = 0;
constexpr int notSupported = 801; // cudaErrorNotSupported
constexpr int symbolNotFound = 1; // cudaDriverEntryPointSymbolNotFound

Query realQuery = nullptr;
QueryByVersion realQueryByVersion = nullptr;
bool everything = false;

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

namespace espalier::runner {

void installEntryPointGate(bool trusted)
{
    everything = trusted;
    realQuery = reinterpret_cast<Query>(::dlsym(RTLD_NEXT, "cudaGetDriverEntryPoint"));
    realQueryByVersion = reinterpret_cast<QueryByVersion>(::dlsym(RTLD_NEXT, "cudaGetDriverEntryPointByVersion"));
}

} // namespace espalier::runner
