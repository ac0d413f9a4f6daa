// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/runner/runner_messages.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace espalier::runner {

/// One call of a C function whose parameter types are known only at run time, prepared before the clock runs (libffi).
/// Thread: the runner's. The function is called as its parameters say; a wrong signature is undefined behaviour of the
/// candidate's process and of nobody else's.
class NativeCall
{
public:
    enum class Returns { Int, Size };

    /// `addresses` resolves Pointer values: the slot's address, 0 for an unknown one.
    static Result<NativeCall> prepare(void* function, const Call& call, std::span<const std::uint64_t> addresses,
                                      void* stream, Returns returns);
    NativeCall(NativeCall&&) noexcept;
    NativeCall& operator=(NativeCall&&) noexcept;
    ~NativeCall();

    int callInt() const;
    std::uint64_t callSize() const;

private:
    struct Impl;
    explicit NativeCall(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

} // namespace espalier::runner
