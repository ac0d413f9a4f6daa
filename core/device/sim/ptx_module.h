// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::sim {

struct Kernel; ///< decoded instructions; private to the interpreter

struct KernelParam {
    std::uint32_t offset = 0; ///< bytes from the start of the parameter block
    std::uint32_t bytes = 0;
};

struct KernelFacts {
    std::string name; ///< mangled, as in the PTX
    std::vector<KernelParam> params;
    std::uint32_t paramBytes = 0;
    std::uint32_t staticSharedBytes = 0;
    std::uint32_t localBytes = 0;         ///< per thread
    std::uint32_t maxThreads = 0;         ///< .maxntid product; 0: not given
    std::vector<std::string> unsupported; ///< instructions this interpreter does not know; empty: can run
};

/// A module-scope variable (.global or .const) with its initial bytes.
struct ModuleVariable {
    std::string name;
    std::uint32_t bytes = 0;
    std::uint32_t alignment = 1;
    bool constant = false;
    std::vector<std::byte> initial; ///< may be shorter than bytes: the rest is zero
    struct Address {
        std::uint32_t offset;
        std::string symbol;
        std::int64_t addend;
    };
    std::vector<Address> addresses; ///< initialisers that are addresses of other variables
};

/// One parsed PTX module. Immutable after parse; shared between launches. Thread: any.
/// Errors: InvalidInput with "line N: ..." when the text is not PTX we can read. An instruction that is known PTX but
/// not implemented is no error here: it stands in KernelFacts::unsupported, so other kernels of the module still run.
class PtxModule
{
public:
    static Result<std::shared_ptr<const PtxModule>> parse(std::string_view ptx);
    ~PtxModule();
    const std::vector<KernelFacts>& kernels() const;
    const std::vector<ModuleVariable>& variables() const;
    const KernelFacts* facts(std::string_view kernel) const;
    const Kernel* kernel(std::string_view name) const;

    struct Impl;
    explicit PtxModule(std::unique_ptr<Impl> impl);

private:
    std::unique_ptr<Impl> m_impl;
};

} // namespace espalier::sim
