// SPDX-License-Identifier: Apache-2.0
#include "core/device/sim/ptx_module.h"

#include "core/device/sim/decoder.h"
#include "core/device/sim/ptx_parser.h"

#include <fmt/format.h>

namespace espalier::sim {

struct PtxModule::Impl {
    std::vector<KernelFacts> facts;
    std::vector<std::unique_ptr<Kernel>> kernels; ///< beside facts
    std::vector<ModuleVariable> variables;
    std::map<std::string, std::size_t, std::less<>> byName;
};

namespace {

ModuleVariable variableOf(const GlobalDecl& decl)
{
    ModuleVariable made;
    made.name = decl.variable.name;
    made.bytes = static_cast<std::uint32_t>(decl.variable.bytes);
    made.alignment = decl.variable.alignment;
    made.constant = decl.variable.space == Space::Const;
    made.initial = decl.initial;
    for (const Initializer& address : decl.addresses)
        made.addresses.push_back({address.offset, std::string(address.symbol), address.addend});
    return made;
}

} // namespace

PtxModule::PtxModule(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
PtxModule::~PtxModule() = default;

Result<std::shared_ptr<const PtxModule>> PtxModule::parse(std::string_view ptx)
{
    ESPALIER_TRY(const Module module, parsePtx(ptx));
    auto impl = std::make_unique<Impl>();
    for (const GlobalDecl& decl : module.globals) {
        if (decl.variable.space == Space::Shared)
            continue;
        if (decl.variable.external)
            return fail(ErrorCode::InvalidInput,
                        fmt::format("line {}: {} is declared but not defined in this module; build it in one source",
                                    decl.variable.line, decl.variable.name));
        impl->variables.push_back(variableOf(decl));
    }
    for (const Function& function : module.functions) {
        if (!function.entry || !function.defined)
            continue;
        DecodedKernel decoded = decodeKernel(module, function);
        impl->byName[decoded.facts.name] = impl->facts.size();
        impl->facts.push_back(std::move(decoded.facts));
        impl->kernels.push_back(std::move(decoded.kernel));
    }
    return std::make_shared<const PtxModule>(std::move(impl));
}

const std::vector<KernelFacts>& PtxModule::kernels() const
{
    return m_impl->facts;
}

const std::vector<ModuleVariable>& PtxModule::variables() const
{
    return m_impl->variables;
}

const KernelFacts* PtxModule::facts(std::string_view kernel) const
{
    const auto found = m_impl->byName.find(kernel);
    return found == m_impl->byName.end() ? nullptr : &m_impl->facts[found->second];
}

const Kernel* PtxModule::kernel(std::string_view name) const
{
    const auto found = m_impl->byName.find(name);
    return found == m_impl->byName.end() ? nullptr : m_impl->kernels[found->second].get();
}

} // namespace espalier::sim
