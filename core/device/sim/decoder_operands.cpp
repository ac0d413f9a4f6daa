// SPDX-License-Identifier: Apache-2.0
// Operands to slots.
#include "core/device/sim/decoder.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace espalier::sim {

namespace {

std::uint32_t registerWidth(Type type)
{
    return type == Type::Pred ? 0 : std::max(2u, bytesOf(type));
}

bool specialNamed(std::string_view name, SpecialRegister& which)
{
    using S = SpecialRegister;
    static const std::unordered_map<std::string_view, SpecialRegister> names{
        {"%tid.x", S::TidX},
        {"%tid.y", S::TidY},
        {"%tid.z", S::TidZ},
        {"%ntid.x", S::NtidX},
        {"%ntid.y", S::NtidY},
        {"%ntid.z", S::NtidZ},
        {"%ctaid.x", S::CtaidX},
        {"%ctaid.y", S::CtaidY},
        {"%ctaid.z", S::CtaidZ},
        {"%nctaid.x", S::NctaidX},
        {"%nctaid.y", S::NctaidY},
        {"%nctaid.z", S::NctaidZ},
        {"%laneid", S::LaneId},
        {"%warpid", S::WarpId},
        {"%nwarpid", S::NwarpId},
        {"%smid", S::SmId},
        {"%nsmid", S::NsmId},
        {"%gridid", S::GridId},
        {"%lanemask_eq", S::LanemaskEq},
        {"%lanemask_le", S::LanemaskLe},
        {"%lanemask_lt", S::LanemaskLt},
        {"%lanemask_ge", S::LanemaskGe},
        {"%lanemask_gt", S::LanemaskGt},
        {"%dynamic_smem_size", S::DynamicShared},
        {"%total_smem_size", S::TotalShared},
        {"%aggr_smem_size", S::TotalShared},
        {"%clusterid.x", S::CtaidX},
        {"%clusterid.y", S::CtaidY},
        {"%clusterid.z", S::CtaidZ},
        {"%nclusterid.x", S::NctaidX},
        {"%nclusterid.y", S::NctaidY},
        {"%nclusterid.z", S::NctaidZ},
        {"%cluster_ctaid.x", S::Zero},
        {"%cluster_ctaid.y", S::Zero},
        {"%cluster_ctaid.z", S::Zero},
        {"%cluster_nctaid.x", S::One},
        {"%cluster_nctaid.y", S::One},
        {"%cluster_nctaid.z", S::One},
        {"%cluster_ctarank", S::Zero},
        {"%cluster_nctarank", S::One},
    };
    const auto found = names.find(name);
    if (found == names.end())
        return false;
    which = found->second;
    return true;
}

/// The bits of an immediate as a value of `width` bytes.
std::uint64_t immediateBits(const Operand& operand, Type type)
{
    const std::uint32_t width = registerWidth(type);
    if (!operand.isFloat)
        return width >= 8 ? operand.bits : operand.bits & ((std::uint64_t{1} << (width * 8)) - 1);
    if (width == 8)
        return operand.bits;
    return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(operand.bits)));
}

} // namespace

bool Decoder::count(const Statement& statement, std::size_t least, std::size_t most)
{
    const std::size_t given = statement.operands.size();
    if (given >= least && given <= most)
        return true;
    problem(fmt::format("{} operands", given));
    return false;
}

std::uint32_t Decoder::registerSlot(std::uint32_t number)
{
    const auto key = std::pair{m_activation->functionNumber, number};
    const auto [at, fresh] = m_registerSlots.emplace(key, 0);
    if (fresh) {
        at->second = static_cast<std::uint32_t>(m_slots.size());
        m_slots.push_back({registerWidth(m_activation->function->registers[number]), false});
    }
    return at->second;
}

std::uint32_t Decoder::constantSlot(std::uint64_t bits, std::uint32_t width, Constant::Kind kind,
                                    std::string_view symbol)
{
    const auto [at, fresh] = m_constantSlots.emplace(std::tuple{bits, width, static_cast<int>(kind), symbol}, 0);
    if (fresh) {
        at->second = static_cast<std::uint32_t>(m_slots.size());
        m_slots.push_back({width, true});
        m_kernel->constants.push_back({at->second, width, kind, bits, std::string(symbol)});
    }
    return at->second;
}

std::uint32_t Decoder::specialSlot(std::string_view name, std::uint32_t width)
{
    SpecialRegister which = SpecialRegister::Zero;
    if (name == "WARP_SZ")
        return constantSlot(32, width);
    const bool nothingHere = name.starts_with("%pm") || name.starts_with("%envreg") ||
                             name.starts_with("%reserved_smem_offset") || name == "%current_graph_exec";
    if (nothingHere)
        return constantSlot(0, width);
    if (!specialNamed(name, which)) {
        problem(fmt::format("register {}", name.substr(0, 40)));
        return 0;
    }
    const auto [at, fresh] = m_specialSlots.emplace(std::pair{static_cast<int>(which), width}, 0);
    if (fresh) {
        at->second = static_cast<std::uint32_t>(m_slots.size());
        m_slots.push_back({width, true});
        m_kernel->specials.push_back({at->second, width, which});
    }
    return at->second;
}

std::uint32_t Decoder::carrySlot()
{
    const auto [at, fresh] = m_carrySlots.emplace(m_activation->functionNumber, 0);
    if (fresh) {
        at->second = static_cast<std::uint32_t>(m_slots.size());
        m_slots.push_back({0, false});
    }
    return at->second;
}

std::uint32_t Decoder::allocateLocal(std::uint64_t bytes, std::uint32_t alignment)
{
    const std::uint64_t at = (std::uint64_t{m_kernel->localBytes} + alignment - 1) / alignment * alignment;
    if (at + bytes > (512u << 10)) {
        problem("more than 512 KiB of local memory");
        return 0;
    }
    m_kernel->localBytes = static_cast<std::uint32_t>(at + bytes);
    m_kernel->usesLocal = true;
    return static_cast<std::uint32_t>(at);
}

/// Where a .local or .param variable of the running activation lies in a thread's local memory. A callee's parameters
/// are its caller's variables.
std::uint32_t Decoder::localOffset(std::uint32_t variable)
{
    if (const auto formal = m_activation->formals.find(variable); formal != m_activation->formals.end())
        return formal->second;
    const auto key = std::pair{m_activation->functionNumber, variable};
    if (const auto known = m_localOffsets.find(key); known != m_localOffsets.end())
        return known->second;
    const VariableDecl& decl = m_activation->function->variables[variable];
    return m_localOffsets[key] = allocateLocal(decl.bytes, std::max(decl.alignment, 8u));
}

/// The value of a symbol used as a number: its address in its own space.
std::uint32_t Decoder::symbolSlot(const Operand& operand, std::uint32_t width)
{
    const auto offset = static_cast<std::uint64_t>(operand.offset);
    if (operand.isLocalVariable) {
        const VariableDecl& decl = m_activation->function->variables[operand.index];
        if (decl.space == Space::Shared && (decl.external || decl.bytes == 0))
            return constantSlot(m_kernel->staticShared + offset, width);
        if (decl.space == Space::Shared)
            return constantSlot(m_functionShared[{m_activation->functionNumber, operand.index}] + offset, width);
        if (decl.space == Space::Param && m_activation->function->entry && m_paramOffsets.contains(operand.index))
            return constantSlot(m_paramOffsets[operand.index] + offset, width);
        return constantSlot(localOffset(operand.index) + offset, width);
    }
    const auto found = m_module.globalByName.find(operand.name);
    if (found == m_module.globalByName.end()) {
        problem(fmt::format("the address of {}", operand.name.substr(0, 60)));
        return 0;
    }
    const VariableDecl& decl = m_module.globals[found->second].variable;
    if (decl.space != Space::Shared)
        return constantSlot(offset, width, Constant::Kind::ModuleVariable, operand.name);
    const auto place = m_sharedOffsets.find(operand.name);
    return constantSlot((place == m_sharedOffsets.end() ? m_kernel->staticShared : place->second) + offset, width);
}

std::uint32_t Decoder::source(const Operand& operand, Type type)
{
    std::uint8_t width = 0;
    const std::uint32_t slot = sourceOfAnyWidth(operand, type, width);
    if (slot && width != registerWidth(type))
        problem(fmt::format("an operand of {} bits where {} are expected", width * 8, registerWidth(type) * 8));
    return slot;
}

std::uint32_t Decoder::sourceOfAnyWidth(const Operand& operand, Type type, std::uint8_t& width)
{
    const std::uint32_t natural = registerWidth(type);
    width = static_cast<std::uint8_t>(natural);
    if (natural == 0 || natural > 8) {
        problem("an operand type");
        return 0;
    }
    switch (operand.kind) {
    case Operand::Kind::Register: {
        const std::uint32_t has = registerWidth(m_activation->function->registers[operand.index]);
        if (has < natural || has > 8 || !operand.items.empty() || operand.negated) {
            problem("an operand of another kind or width");
            return 0;
        }
        width = static_cast<std::uint8_t>(has);
        return registerSlot(operand.index);
    }
    case Operand::Kind::Immediate:
        return constantSlot(immediateBits(operand, type), natural);
    case Operand::Kind::Special:
        return specialSlot(operand.name, natural);
    case Operand::Kind::Symbol:
        return symbolSlot(operand, natural);
    default:
        problem("an operand of this kind");
        return 0;
    }
}

std::uint32_t Decoder::destination(const Operand& operand, Type type)
{
    std::uint8_t width = 0;
    const std::uint32_t slot = destinationOfAnyWidth(operand, type, width);
    if (slot && width != registerWidth(type))
        problem(fmt::format("a result of {} bits where {} are expected", width * 8, registerWidth(type) * 8));
    return slot;
}

std::uint32_t Decoder::destinationOfAnyWidth(const Operand& operand, Type type, std::uint8_t& width)
{
    const std::uint32_t natural = registerWidth(type);
    if (operand.kind != Operand::Kind::Register || natural == 0 || natural > 8) {
        problem("a result that is no register");
        return 0;
    }
    const std::uint32_t has = registerWidth(m_activation->function->registers[operand.index]);
    if (has < natural || has > 8) {
        problem("a result of another width");
        return 0;
    }
    width = static_cast<std::uint8_t>(has);
    return registerSlot(operand.index);
}

std::uint32_t Decoder::predicateSource(const Operand& operand, bool& negated)
{
    negated = operand.negated;
    if (operand.kind == Operand::Kind::Immediate && !operand.isFloat)
        return constantSlot(operand.bits ? 0xFFFFFFFFu : 0, 0);
    if (operand.kind == Operand::Kind::Special && operand.name == "%is_explicit_cluster")
        return constantSlot(0, 0);
    if (operand.kind == Operand::Kind::Register && m_activation->function->registers[operand.index] == Type::Pred)
        return registerSlot(operand.index);
    problem("an operand that is no predicate");
    return 0;
}

/// 0 for "_".
std::uint32_t Decoder::predicateDestination(const Operand& operand)
{
    if (operand.kind == Operand::Kind::Sink)
        return 0;
    if (operand.kind == Operand::Kind::Register && m_activation->function->registers[operand.index] == Type::Pred)
        return registerSlot(operand.index);
    problem("a result that is no predicate");
    return 0;
}

/// Sets a, imm and wideAddress (b and imm2 when `second`) and narrows the space where the symbol decides it.
void Decoder::address(const Operand& operand, Space& space, Instr& instr, bool second)
{
    if (operand.kind != Operand::Kind::Address || operand.items.size() != 1)
        return problem("an address of this form");
    const Operand& base = operand.items[0];
    std::uint32_t slot = 0;
    std::int64_t offset = operand.offset;
    bool wide = true;
    const bool entry = m_activation->function->entry;
    if (space == Space::Param && base.kind != Operand::Kind::Symbol && !entry)
        space = Space::Local;
    if (base.kind == Operand::Kind::Register) {
        const std::uint32_t width = registerWidth(m_activation->function->registers[base.index]);
        if (width != 4 && width != 8)
            return problem("an address register of this width");
        if (width == 4 && (space == Space::Global || space == Space::Generic || space == Space::Const))
            return problem("a 32-bit address");
        slot = registerSlot(base.index);
        wide = width == 8;
    } else if (base.kind == Operand::Kind::Immediate) {
        offset += static_cast<std::int64_t>(base.bits);
    } else if (base.kind == Operand::Kind::Symbol) {
        if (base.isLocalVariable) {
            const Space where = m_activation->function->variables[base.index].space;
            const bool kernelParam = where == Space::Param && entry && m_paramOffsets.contains(base.index);
            if (where == Space::Param)
                space = kernelParam ? Space::Param : Space::Local;
            else if (space == Space::Generic)
                space = where;
        } else if (const auto found = m_module.globalByName.find(base.name);
                   found != m_module.globalByName.end() && space == Space::Generic) {
            space = m_module.globals[found->second].variable.space;
        }
        slot = symbolSlot(base, 8);
        const bool plain = slot && space != Space::Global && space != Space::Const;
        if (plain) { // a number known now: no register needed
            const auto constant = std::ranges::find(m_kernel->constants, slot, &Constant::slot);
            if (constant != m_kernel->constants.end() && constant->kind == Constant::Kind::Bits) {
                offset += static_cast<std::int64_t>(constant->bits);
                slot = 0;
            }
        }
    } else {
        return problem("an address of this form");
    }
    if (second) {
        if (offset != static_cast<std::int32_t>(offset) || !wide || slot == 0)
            return problem("a source address of this form");
        instr.b = slot;
        instr.imm2 = static_cast<std::int32_t>(offset);
    } else {
        instr.a = slot;
        instr.imm = offset;
        instr.wideAddress = wide;
    }
}

} // namespace espalier::sim
