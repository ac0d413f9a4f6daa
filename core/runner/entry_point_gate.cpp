// SPDX-License-Identifier: Apache-2.0
#include "core/runner/entry_point_gate.h"

#include "core/runner/graph_gate.h"
#include "core/runner/launch_gate.h"
#include "core/runner/runtime_function.h"

#include <cstring>

namespace {

using espalier::runner::ask;
using espalier::runner::success;

// cudaError_t and cudaDriverEntryPointQueryResult as plain numbers
using Query = int (*)(const char* symbol, void** function, unsigned long long flags, int* status);
using QueryByVersion = int (*)(const char* symbol, void** function, unsigned version, unsigned long long flags,
                               int* status);
using BeginCapture = int (*)(void* stream, int mode);
using EndCapture = int (*)(void* stream, void** graph);
constexpr int symbolNotFound = 1;       // cudaDriverEntryPointSymbolNotFound
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

ESPALIER_EXPORTED int cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                              int* status)
{
    return allowed(symbol) ? ask(realQuery, symbol, function, flags, status) : refuse(function, status);
}

ESPALIER_EXPORTED int cudaGetDriverEntryPoint_ptsz(const char* symbol, void** function, unsigned long long flags,
                                                   int* status)
{
    return cudaGetDriverEntryPoint(symbol, function, flags, status);
}

ESPALIER_EXPORTED int cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                                       unsigned long long flags, int* status)
{
    return allowed(symbol) ? ask(realQueryByVersion, symbol, function, version, flags, status)
                           : refuse(function, status);
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
    return stream == given && !everything ? captureUnsupported : ask(realBeginCapture, stream, mode);
}

ESPALIER_EXPORTED int cudaStreamEndCapture(void* stream, void** graph)
{
    return stream == given && !everything ? captureUnsupported : ask(realEndCapture, stream, graph);
}

namespace espalier::runner {

void installEntryPointGate(bool trusted, void* stream)
{
    everything = trusted;
    given = stream;
    find(realQuery, "cudaGetDriverEntryPoint");
    find(realQueryByVersion, "cudaGetDriverEntryPointByVersion");
    find(realBeginCapture, "cudaStreamBeginCapture");
    find(realEndCapture, "cudaStreamEndCapture");
    installGraphGate(trusted);
    installLaunchGate();
}

} // namespace espalier::runner
