// SPDX-License-Identifier: Apache-2.0
#include "core/device/sim/decoder.h"

#include "core/device/sim/readable_name.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier::sim {

namespace {

constexpr unsigned deepestCalls = 40;
constexpr std::size_t mostInstructions = 400'000;
constexpr std::size_t mostUnsupported = 20;

std::uint32_t alignedUp(std::uint64_t value, std::uint32_t alignment)
{
    return static_cast<std::uint32_t>((value + alignment - 1) / alignment * alignment);
}

bool sortWord(Modifiers& m, std::string_view word)
{
    static const std::unordered_map<std::string_view, Rounding> roundings{
        {"rn", Rounding::Nearest},  {"rz", Rounding::Zero},        {"rm", Rounding::Down},
        {"rp", Rounding::Up},       {"rni", Rounding::NearestInt}, {"rzi", Rounding::ZeroInt},
        {"rmi", Rounding::DownInt}, {"rpi", Rounding::UpInt},      {"rna", Rounding::Away},
    };
    static const std::unordered_map<std::string_view, Space> spaces{
        {"global", Space::Global}, {"shared", Space::Shared},     {"shared::cta", Space::Shared},
        {"local", Space::Local},   {"param", Space::Param},       {"param::entry", Space::Param},
        {"const", Space::Const},   {"param::func", Space::Param}, {"shared::cluster", Space::Shared},
    };
    if (const Type type = typeNamed(word); type != Type::None)
        m.types.push_back(type);
    else if (const auto rounding = roundings.find(word); rounding != roundings.end())
        m.rounding = rounding->second;
    else if (const auto space = spaces.find(word); space != spaces.end() && !m.spaceGiven) {
        m.space = space->second;
        m.spaceGiven = true;
    } else if (word == "ftz")
        m.ftz = true;
    else if (word == "sat")
        m.sat = true;
    else if (word == "relu")
        m.relu = true;
    else if (word == "NaN")
        m.nan = true;
    else if (word == "xorsign")
        m.xorsign = true;
    else if (word == "approx" || word == "full")
        m.approx = true;
    else if (word == "v2" || word == "v4" || word == "v8")
        m.vector = static_cast<unsigned>(word[1] - '0');
    else
        return false;
    return true;
}

std::string mnemonic(const Statement& statement)
{
    std::string text(statement.opcode);
    for (const std::string_view modifier : statement.modifiers)
        text += fmt::format(".{}", modifier);
    if (text.size() > 40 && !statement.modifiers.empty())
        text = fmt::format("{}.{}", statement.opcode, statement.modifiers[0]);
    return text.substr(0, 80);
}

/// What an engineer calls instructions that no C++ line looks like; empty for the others.
std::string_view familyOf(const Statement& statement)
{
    static constexpr std::string_view tensorCores[] = {"mma",      "wmma",     "wgmma",    "tcgen05",
                                                       "ldmatrix", "stmatrix", "movmatrix"};
    if (std::ranges::find(tensorCores, statement.opcode) != std::end(tensorCores))
        return "the tensor-core instruction";
    if (statement.has("tensor"))
        return "the tensor copy (TMA)";
    return {};
}

} // namespace

bool Modifiers::take(std::string_view word)
{
    const auto found = std::ranges::find(rest, word);
    if (found == rest.end())
        return false;
    rest.erase(found);
    return true;
}

Modifiers sortModifiers(const Statement& statement)
{
    Modifiers sorted;
    for (const std::string_view word : statement.modifiers)
        if (!sortWord(sorted, word))
            sorted.rest.push_back(word);
    return sorted;
}

Decoder::Decoder(const Module& module, const Function& entry)
    : m_module(module), m_entry(entry), m_kernel(std::make_unique<Kernel>())
{
    m_slots.emplace_back(); // 0 means none
    m_kernel->name = entry.name;
    m_kernel->locations.emplace_back();
    m_kernel->files.emplace_back();
    for (const auto& [number, name] : module.files) {
        if (m_kernel->files.size() <= number && number < 100'000)
            m_kernel->files.resize(number + 1);
        if (number < m_kernel->files.size())
            m_kernel->files[number] = name;
    }
}

DecodedKernel Decoder::run()
{
    m_facts.name = m_entry.name;
    m_facts.maxThreads = m_entry.maxThreads;
    if (m_entry.cluster)
        m_facts.unsupported.push_back(fmt::format("a cluster of blocks (line {})", m_entry.line));
    layOutParameters();
    std::vector<const Function*> seen;
    collect(m_entry, seen);
    if (m_dynamicShared)
        m_kernel->staticShared = alignedUp(m_kernel->staticShared, m_dynamicAlignment);
    Activation activation{.function = &m_entry};
    activation.functionNumber = m_module.functionByName.at(m_entry.name);
    activation.returnLabel = freshLabel();
    m_callStack.push_back(&m_entry);
    expand(activation, 0);
    bind(activation.returnLabel);
    Instr exit{.op = Op::Exit};
    exit.control = exit.internal = true;
    emit(exit);
    finish();
    m_facts.paramBytes = m_kernel->paramBytes;
    m_facts.staticSharedBytes = m_kernel->staticShared;
    m_kernel->localBytes = alignedUp(m_kernel->localBytes, 16);
    m_facts.localBytes = m_kernel->localBytes;
    return {std::move(m_facts), std::move(m_kernel)};
}

void Decoder::layOutParameters()
{
    std::uint64_t at = 0;
    for (const std::uint32_t number : m_entry.parameters) {
        const VariableDecl& variable = m_entry.variables[number];
        at = alignedUp(at, variable.alignment);
        m_paramOffsets[number] = static_cast<std::uint32_t>(at);
        m_facts.params.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(variable.bytes)});
        at += variable.bytes;
        if (at > 32764) {
            m_facts.unsupported.push_back(fmt::format("more than 32764 bytes of parameters (line {})", m_entry.line));
            break;
        }
    }
    m_kernel->paramBytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(at, 32764));
}

/// Reachable functions and the shared memory they use: it must be laid out before the first address is decoded.
void Decoder::collect(const Function& function, std::vector<const Function*>& seen)
{
    if (std::ranges::find(seen, &function) != seen.end() || seen.size() > 2000)
        return;
    seen.push_back(&function);
    const std::uint32_t number = m_module.functionByName.at(function.name);
    for (std::uint32_t i = 0; i < function.variables.size(); ++i) {
        const VariableDecl& variable = function.variables[i];
        if (variable.space != Space::Shared)
            continue;
        addShared({}, variable);
        m_functionShared[{number, i}] = m_kernel->staticShared - static_cast<std::uint32_t>(variable.bytes);
    }
    for (const Statement& statement : function.statements) {
        for (const Operand& operand : statement.operands)
            collectSymbols(operand);
        if (statement.opcode != "call" || statement.operands.size() != 3)
            continue;
        const auto callee = m_module.functionByName.find(statement.operands[1].name);
        if (callee != m_module.functionByName.end() && seen.size() < 200)
            collect(m_module.functions[callee->second], seen);
    }
}

void Decoder::collectSymbols(const Operand& operand)
{
    for (const Operand& item : operand.items)
        collectSymbols(item);
    if (operand.kind != Operand::Kind::Symbol || operand.isLocalVariable)
        return;
    const auto found = m_module.globalByName.find(operand.name);
    if (found == m_module.globalByName.end() || m_sharedOffsets.contains(operand.name))
        return;
    const VariableDecl& variable = m_module.globals[found->second].variable;
    if (variable.space == Space::Shared)
        addShared(operand.name, variable);
}

void Decoder::addShared(std::string_view key, const VariableDecl& variable)
{
    if (variable.external || variable.bytes == 0) {
        m_dynamicShared = true;
        m_dynamicAlignment = std::max(m_dynamicAlignment, variable.alignment);
        return;
    }
    const std::uint64_t offset = alignedUp(m_kernel->staticShared, variable.alignment);
    if (offset + variable.bytes > (1u << 20)) {
        m_facts.unsupported.push_back(fmt::format("more than 1 MiB of shared memory (line {})", variable.line));
        return;
    }
    if (!key.empty())
        m_sharedOffsets[key] = static_cast<std::uint32_t>(offset);
    m_kernel->staticShared = static_cast<std::uint32_t>(offset + variable.bytes);
}

void Decoder::expand(Activation& activation, unsigned depth)
{
    Activation* const outer = m_activation;
    m_activation = &activation;
    const Function& function = *activation.function;
    std::vector<bool> labelled(function.statements.size() + 1);
    for (const auto& [key, number] : function.labels)
        labelled[number] = true;
    for (std::size_t i = 0; i < function.statements.size() && !m_stop; ++i) {
        if (labelled[i])
            bind(labelAt(activation, static_cast<std::int64_t>(i)));
        statement(function.statements[i], depth);
    }
    if (labelled.back())
        bind(labelAt(activation, static_cast<std::int64_t>(function.statements.size())));
    m_activation = outer;
}

void Decoder::statement(const Statement& s, unsigned depth)
{
    m_problem.clear();
    m_emitted = false;
    if (m_kernel->code.size() > mostInstructions) {
        m_stop = true;
        return unsupported(s, "too much code after inlining");
    }
    if (s.opcode == "call")
        return depth > deepestCalls ? unsupported(s, "calls nested too deeply") : call(s, depth);
    const auto found = table().find(s.opcode);
    if (found == table().end())
        return unsupported(s);
    Instr instr{.op = found->second.first};
    if (s.guard >= 0) {
        instr.guard = registerSlot(static_cast<std::uint32_t>(s.guard));
        instr.guardNegated = s.guardNegated;
    }
    instr.ptxLine = s.line;
    const Location here{s.source.file, s.source.line};
    if (m_kernel->locations.back().file != here.file || m_kernel->locations.back().line != here.line)
        m_kernel->locations.push_back(here);
    instr.location = static_cast<std::uint32_t>(m_kernel->locations.size() - 1);
    Modifiers modifiers = sortModifiers(s);
    (this->*found->second.second)(s, modifiers, instr);
    if (!m_problem.empty())
        return unsupported(s, m_problem);
    if (m_emitted)
        return;
    if (!modifiers.rest.empty() || !bindHandlers(instr))
        return unsupported(s);
    emit(instr);
}

void Decoder::unsupported(const Statement& statement, std::string_view why)
{
    std::string name = mnemonic(statement);
    if (const std::string_view family = familyOf(statement); !family.empty())
        name = fmt::format("{} {}", family, name);
    for (const std::string& known : m_facts.unsupported)
        if (known.starts_with(name) && known[name.size()] == (why.empty() ? ' ' : ':'))
            return; // one line a kind is enough
    if (m_facts.unsupported.size() >= mostUnsupported)
        return;
    const std::string place = placeOf(statement);
    m_facts.unsupported.push_back(why.empty() ? fmt::format("{} ({})", name, place)
                                              : fmt::format("{}: {} ({})", name, why, place));
}

/// "mma_sync at gemm.cu:42": the function of a header that was called, and the line of the source it was called from.
std::string Decoder::placeOf(const Statement& statement) const
{
    const SourceLine& source = statement.source;
    const auto file = m_module.files.find(source.file);
    if (source.line <= 0 || file == m_module.files.end())
        return fmt::format("line {} of the PTX", statement.line);
    const std::string line = fmt::format("{}:{}", file->second.substr(file->second.rfind('/') + 1), source.line);
    const auto function = m_module.strings.find(source.function);
    return function == m_module.strings.end() ? line : fmt::format("{} at {}", readableName(function->second), line);
}

void Decoder::problem(std::string_view text)
{
    if (m_problem.empty())
        m_problem = text;
}

void Decoder::emit(Instr instr)
{
    const bool exchanges = instr.op == Op::Shuffle || instr.op == Op::Vote || instr.op == Op::Match ||
                           instr.op == Op::Redux || instr.op == Op::Elect || instr.op == Op::BarrierWarp;
    instr.gathers = exchanges && instr.e != 0;
    m_kernel->code.push_back(instr);
}

std::uint32_t Decoder::freshLabel()
{
    m_labels.push_back(0);
    return static_cast<std::uint32_t>(m_labels.size() - 1);
}

std::uint32_t Decoder::labelAt(Activation& activation, std::int64_t statement)
{
    const auto [at, fresh] = activation.labels.emplace(statement, 0);
    if (fresh)
        at->second = freshLabel();
    return at->second;
}

void Decoder::bind(std::uint32_t label)
{
    m_labels[label] = static_cast<std::uint32_t>(m_kernel->code.size());
}

void Decoder::finish()
{
    Kernel& kernel = *m_kernel;
    if (!m_facts.unsupported.empty()) {
        kernel.code.clear(); // will never run
        return;
    }
    orderBlocks(kernel, m_labels);
    std::vector<std::uint32_t> widths;
    std::vector<bool> fixed;
    for (const Slot& slot : m_slots) {
        widths.push_back(slot.width);
        fixed.push_back(slot.fixed);
    }
    layOutFrame(kernel, widths, fixed);
    kernel.costs.resize(kernel.code.size() + 1);
    for (std::size_t i = 0; i < kernel.code.size(); ++i) {
        Instr& instr = kernel.code[i];
        instr.steered = instr.guard != 0 || instr.control || instr.gathers;
        Kernel::CostSum sum = kernel.costs[i];
        sum.issued += instr.internal ? 0 : 1;
        sum.f16 += instr.cost == Cost::F16 ? instr.costFactor : 0;
        sum.f32 += instr.cost == Cost::F32 ? instr.costFactor : 0;
        sum.f64 += instr.cost == Cost::F64 ? instr.costFactor : 0;
        sum.special += instr.cost == Cost::Special ? instr.costFactor : 0;
        kernel.costs[i + 1] = sum;
    }
}

const std::unordered_map<std::string_view, std::pair<Op, Decoder::Decode>>& Decoder::table()
{
    using D = Decoder;
    static const std::unordered_map<std::string_view, std::pair<Op, Decode>> ops{
        {"add", {Op::Add, &D::arithmetic}},
        {"sub", {Op::Sub, &D::arithmetic}},
        {"div", {Op::Div, &D::arithmetic}},
        {"rem", {Op::Rem, &D::arithmetic}},
        {"min", {Op::Min, &D::arithmetic}},
        {"max", {Op::Max, &D::arithmetic}},
        {"abs", {Op::Abs, &D::arithmetic}},
        {"neg", {Op::Neg, &D::arithmetic}},
        {"rcp", {Op::Rcp, &D::arithmetic}},
        {"sqrt", {Op::Sqrt, &D::arithmetic}},
        {"rsqrt", {Op::Rsqrt, &D::arithmetic}},
        {"ex2", {Op::Ex2, &D::arithmetic}},
        {"lg2", {Op::Lg2, &D::arithmetic}},
        {"sin", {Op::Sin, &D::arithmetic}},
        {"cos", {Op::Cos, &D::arithmetic}},
        {"tanh", {Op::Tanh, &D::arithmetic}},
        {"sad", {Op::Sad, &D::arithmetic}},
        {"copysign", {Op::Copysign, &D::arithmetic}},
        {"fma", {Op::Fma, &D::arithmetic}},
        {"mul", {Op::Mul, &D::multiply}},
        {"mul24", {Op::Mul24, &D::multiply}},
        {"mad", {Op::Mad, &D::multiplyAdd}},
        {"mad24", {Op::Mad24, &D::multiplyAdd}},
        {"addc", {Op::AddCarry, &D::carry}},
        {"subc", {Op::SubCarry, &D::carry}},
        {"madc", {Op::MadCarryLo, &D::carry}},
        {"and", {Op::And, &D::logic}},
        {"or", {Op::Or, &D::logic}},
        {"xor", {Op::Xor, &D::logic}},
        {"not", {Op::Not, &D::logic}},
        {"cnot", {Op::Cnot, &D::logic}},
        {"shl", {Op::Shl, &D::shift}},
        {"shr", {Op::Shr, &D::shift}},
        {"shf", {Op::ShfLeft, &D::funnelShift}},
        {"bfe", {Op::Bfe, &D::bitField}},
        {"bfi", {Op::Bfi, &D::bitField}},
        {"popc", {Op::Popc, &D::bitCount}},
        {"clz", {Op::Clz, &D::bitCount}},
        {"brev", {Op::Brev, &D::bitCount}},
        {"bfind", {Op::Bfind, &D::bitCount}},
        {"fns", {Op::Fns, &D::bitField}},
        {"bmsk", {Op::Bmsk, &D::bitField}},
        {"prmt", {Op::Prmt, &D::permute}},
        {"lop3", {Op::Lop3, &D::logic3}},
        {"dp4a", {Op::Dp4a, &D::dotProduct}},
        {"dp2a", {Op::Dp2a, &D::dotProduct}},
        {"vadd2", {Op::Video, &D::video}},
        {"vadd4", {Op::Video, &D::video}},
        {"vsub2", {Op::Video, &D::video}},
        {"vsub4", {Op::Video, &D::video}},
        {"vavrg2", {Op::Video, &D::video}},
        {"vavrg4", {Op::Video, &D::video}},
        {"vabsdiff2", {Op::Video, &D::video}},
        {"vabsdiff4", {Op::Video, &D::video}},
        {"vmin2", {Op::Video, &D::video}},
        {"vmin4", {Op::Video, &D::video}},
        {"vmax2", {Op::Video, &D::video}},
        {"vmax4", {Op::Video, &D::video}},
        {"vset2", {Op::Video, &D::video}},
        {"vset4", {Op::Video, &D::video}},
        {"setp", {Op::Setp, &D::compare}},
        {"set", {Op::Set, &D::compare}},
        {"selp", {Op::Selp, &D::select}},
        {"slct", {Op::Slct, &D::select}},
        {"testp", {Op::Testp, &D::testProperty}},
        {"cvt", {Op::Cvt, &D::convert}},
        {"mov", {Op::Mov, &D::move}},
        {"ld", {Op::Load, &D::load}},
        {"ldu", {Op::Load, &D::load}},
        {"st", {Op::Store, &D::store}},
        {"atom", {Op::Atomic, &D::atomic}},
        {"red", {Op::Atomic, &D::atomic}},
        {"cp", {Op::CpAsync, &D::copyAsync}},
        {"mbarrier", {Op::Mbarrier, &D::mbarrier}},
        {"mapa", {Op::Mov, &D::mapToCluster}},
        {"getctarank", {Op::Mov, &D::mapToCluster}},
        {"cvta", {Op::Cvta, &D::convertAddress}},
        {"isspacep", {Op::Isspacep, &D::isInSpace}},
        {"createpolicy", {Op::Mov, &D::createPolicy}},
        {"membar", {Op::Nop, &D::nothing}},
        {"fence", {Op::Nop, &D::nothing}},
        {"prefetch", {Op::Nop, &D::nothing}},
        {"prefetchu", {Op::Nop, &D::nothing}},
        {"applypriority", {Op::Nop, &D::nothing}},
        {"discard", {Op::Nop, &D::nothing}},
        {"griddepcontrol", {Op::Nop, &D::nothing}},
        {"pmevent", {Op::Nop, &D::nothing}},
        {"setmaxnreg", {Op::Nop, &D::nothing}},
        {"nanosleep", {Op::Yield, &D::nothing}},
        {"brkpt", {Op::Nop, &D::nothing}},
        {"bra", {Op::Branch, &D::branch}},
        {"brx", {Op::BranchTable, &D::branchTable}},
        {"ret", {Op::Branch, &D::leave}},
        {"exit", {Op::Exit, &D::leave}},
        {"trap", {Op::Trap, &D::trap}},
        {"bar", {Op::Barrier, &D::barrier}},
        {"barrier", {Op::Barrier, &D::barrier}},
        {"shfl", {Op::Shuffle, &D::shuffle}},
        {"vote", {Op::Vote, &D::vote}},
        {"match", {Op::Match, &D::match}},
        {"redux", {Op::Redux, &D::reduceWarp}},
        {"activemask", {Op::Activemask, &D::activeMask}},
        {"elect", {Op::Elect, &D::elect}},
    };
    return ops;
}

DecodedKernel decodeKernel(const Module& module, const Function& entry)
{
    return Decoder(module, entry).run();
}

} // namespace espalier::sim
