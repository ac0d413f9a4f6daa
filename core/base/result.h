// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace espalier {

/// What kind of failure of *ours* this is. A candidate's failure is never an Error: it is an Outcome
/// (core/model/evaluation.h).
enum class ErrorCode {
    InvalidInput,  ///< the user's file or argument is wrong
    NotFound,      ///< a file, program, device or node is not there
    NotSupported,  ///< understood, but this version or this device cannot do it
    Io,            ///< reading or writing failed (read-only folder, full disk)
    Busy,          ///< another process holds the session or the device
    VersionTooNew, ///< written by a newer Espalier
    Protocol,      ///< a peer process broke the protocol
    WorkerLost,    ///< a worker process crashed, was killed or missed its deadline
    OutOfMemory,   ///< host or device memory does not suffice
    Cancelled,     ///< somebody asked for it
    Internal,      ///< a call of the system or of a library failed where it should not
};

/// One failure. `message` is one plain English sentence that names the thing and the remedy; it is shown as it is.
struct Error {
    ErrorCode code = ErrorCode::Internal;
    std::string message;
};

template <typename T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(ErrorCode code, std::string message)
{
    return std::unexpected<Error>(Error{code, std::move(message)});
}

} // namespace espalier

/// Returns the error of `expr` from the enclosing function when there is one; else the value stays in `var`.
#define ESPALIER_CONCAT2(a, b) a##b
#define ESPALIER_CONCAT(a, b) ESPALIER_CONCAT2(a, b)
#define ESPALIER_TRY(var, expr)                                                                                        \
    auto ESPALIER_CONCAT(espalierTry, __LINE__) = (expr);                                                              \
    if (!ESPALIER_CONCAT(espalierTry, __LINE__))                                                                       \
        return std::unexpected(std::move(ESPALIER_CONCAT(espalierTry, __LINE__)).error());                             \
    var = std::move(*ESPALIER_CONCAT(espalierTry, __LINE__))
/// The same for a Result<void>.
#define ESPALIER_CHECK(expr)                                                                                           \
    if (auto ESPALIER_CONCAT(espalierTry, __LINE__) = (expr); !ESPALIER_CONCAT(espalierTry, __LINE__))                 \
    return std::unexpected(std::move(ESPALIER_CONCAT(espalierTry, __LINE__)).error())
