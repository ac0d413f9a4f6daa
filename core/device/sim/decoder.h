// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/sim/instruction.h"
#include "core/device/sim/ptx_syntax.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace espalier::sim {

struct DecodedKernel {
    KernelFacts facts;
    std::unique_ptr<Kernel> kernel;
};

/// Turns one entry function into a Kernel: inlines its callees, decodes each statement, orders the blocks, lays out the
/// frame. What cannot be decoded is listed in KernelFacts::unsupported; this never fails otherwise.
DecodedKernel decodeKernel(const Module& module, const Function& entry);

/// The modifiers of a statement sorted by meaning.
struct Modifiers {
    std::vector<Type> types;
    std::vector<std::string_view> rest; ///< none of the below, in order; a family must take all of them
    Rounding rounding = Rounding::Nearest;
    Space space = Space::Generic;
    bool spaceGiven = false;
    unsigned vector = 1;
    bool ftz = false, sat = false, relu = false, nan = false, xorsign = false, approx = false;

    bool take(std::string_view word); ///< removes it from `rest`; false when it is not there
};

Modifiers sortModifiers(const Statement& statement);

/// Takes the words that change when or how fast a value moves, never what it is.
void takeHints(Modifiers& m);

/// Copies flags, types and rounding of the modifiers.
void takeFlags(const Modifiers& m, Instr& i);

class Decoder
{
public:
    Decoder(const Module& module, const Function& entry);
    DecodedKernel run();

private:
    /// One inlined activation of a function.
    struct Activation {
        const Function* function = nullptr;
        std::uint32_t functionNumber = 0;
        std::uint32_t returnLabel = 0;
        std::unordered_map<std::uint32_t, std::uint32_t> formals; ///< variable → local offset of the caller's
        std::unordered_map<std::int64_t, std::uint32_t> labels;   ///< statement → label
    };
    struct Slot {
        std::uint32_t width = 4; ///< bytes a lane; 0: predicate
        bool fixed = false;      ///< constant or special: holds its value for the whole launch
    };
    using Decode = void (Decoder::*)(const Statement&, Modifiers&, Instr&);

    // decoder.cpp
    void collect(const Function& function, std::vector<const Function*>& seen);
    void collectSymbols(const Operand& operand);
    void addShared(std::string_view key, const VariableDecl& variable);
    void layOutParameters();
    void expand(Activation& activation, unsigned depth);
    void statement(const Statement& statement, unsigned depth);
    void unsupported(const Statement& statement, std::string_view why = {});
    std::string placeOf(const Statement& statement) const;
    void emit(Instr instr);
    std::uint32_t freshLabel();
    std::uint32_t labelAt(Activation& activation, std::int64_t statement);
    void bind(std::uint32_t label);
    void finish();
    static const std::unordered_map<std::string_view, std::pair<Op, Decode>>& table();

    // decoder_operands.cpp
    bool count(const Statement& statement, std::size_t least, std::size_t most);
    std::uint32_t source(const Operand& operand, Type type);
    std::uint32_t sourceOfAnyWidth(const Operand& operand, Type type, std::uint8_t& width);
    std::uint32_t destination(const Operand& operand, Type type);
    std::uint32_t destinationOfAnyWidth(const Operand& operand, Type type, std::uint8_t& width);
    std::uint32_t predicateSource(const Operand& operand, bool& negated);
    std::uint32_t predicateDestination(const Operand& operand);
    std::uint32_t registerSlot(std::uint32_t number);
    std::uint32_t constantSlot(std::uint64_t bits, std::uint32_t width, Constant::Kind kind = Constant::Kind::Bits,
                               std::string_view symbol = {});
    std::uint32_t specialSlot(std::string_view name, std::uint32_t width);
    std::uint32_t symbolSlot(const Operand& operand, std::uint32_t width);
    void address(const Operand& operand, Space& space, Instr& instr, bool second = false);
    std::uint32_t carrySlot();
    std::uint32_t localOffset(std::uint32_t variable);
    std::uint32_t allocateLocal(std::uint64_t bytes, std::uint32_t alignment);
    void problem(std::string_view text);

    // decoder_arithmetic.cpp
    void arithmetic(const Statement& s, Modifiers& m, Instr& i);
    void multiply(const Statement& s, Modifiers& m, Instr& i);
    void multiplyAdd(const Statement& s, Modifiers& m, Instr& i);
    void carry(const Statement& s, Modifiers& m, Instr& i);
    void logic(const Statement& s, Modifiers& m, Instr& i);
    void shift(const Statement& s, Modifiers& m, Instr& i);
    void funnelShift(const Statement& s, Modifiers& m, Instr& i);
    void bitField(const Statement& s, Modifiers& m, Instr& i);
    void bitCount(const Statement& s, Modifiers& m, Instr& i);
    void permute(const Statement& s, Modifiers& m, Instr& i);
    void logic3(const Statement& s, Modifiers& m, Instr& i);
    void dotProduct(const Statement& s, Modifiers& m, Instr& i);
    void compare(const Statement& s, Modifiers& m, Instr& i);
    void select(const Statement& s, Modifiers& m, Instr& i);
    void testProperty(const Statement& s, Modifiers& m, Instr& i);
    void convert(const Statement& s, Modifiers& m, Instr& i);
    void move(const Statement& s, Modifiers& m, Instr& i);
    void moveVector(const Statement& s, Modifiers& m, Instr& i);

    // decoder_memory.cpp
    void load(const Statement& s, Modifiers& m, Instr& i);
    void store(const Statement& s, Modifiers& m, Instr& i);
    void atomic(const Statement& s, Modifiers& m, Instr& i);
    void convertAddress(const Statement& s, Modifiers& m, Instr& i);
    void atomicVector(const Statement& s, const Operand& value, std::size_t elements, const Instr& whole);
    void isInSpace(const Statement& s, Modifiers& m, Instr& i);
    void createPolicy(const Statement& s, Modifiers& m, Instr& i);
    void nothing(const Statement& s, Modifiers& m, Instr& i);

    // decoder_async.cpp
    void copyAsync(const Statement& s, Modifiers& m, Instr& i);
    void copyArrive(const Statement& s, Modifiers& m, Instr& i);
    void copyBulk(const Statement& s, Modifiers& m, Instr& i);
    std::uint32_t barrierSlot(const Operand& operand, std::uint8_t& width);
    void mbarrier(const Statement& s, Modifiers& m, Instr& i);
    void mbarrierTest(const Statement& s, Modifiers& m, Instr& i);
    void mbarrierArrive(const Statement& s, Modifiers& m, Instr& i);
    void mapToCluster(const Statement& s, Modifiers& m, Instr& i);
    void clusterBarrierOf(const Statement& s, Modifiers& m, Instr& i);

    // decoder_packed.cpp
    void video(const Statement& s, Modifiers& m, Instr& i);
    void convertPair(const Statement& s, Modifiers& m, Instr& i);

    // decoder_control.cpp
    void branch(const Statement& s, Modifiers& m, Instr& i);
    void branchTable(const Statement& s, Modifiers& m, Instr& i);
    void leave(const Statement& s, Modifiers& m, Instr& i);
    void trap(const Statement& s, Modifiers& m, Instr& i);
    void barrier(const Statement& s, Modifiers& m, Instr& i);
    void shuffle(const Statement& s, Modifiers& m, Instr& i);
    void vote(const Statement& s, Modifiers& m, Instr& i);
    void match(const Statement& s, Modifiers& m, Instr& i);
    void reduceWarp(const Statement& s, Modifiers& m, Instr& i);
    void activeMask(const Statement& s, Modifiers& m, Instr& i);
    void elect(const Statement& s, Modifiers& m, Instr& i);
    void call(const Statement& s, unsigned depth);
    void assertCall(const Statement& s, Instr i);

    const Module& m_module;
    const Function& m_entry;
    KernelFacts m_facts;
    std::unique_ptr<Kernel> m_kernel;
    std::vector<Slot> m_slots;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> m_registerSlots; ///< (function, register)
    std::map<std::tuple<std::uint64_t, std::uint32_t, int, std::string_view>, std::uint32_t> m_constantSlots;
    std::map<std::pair<int, std::uint32_t>, std::uint32_t> m_specialSlots;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> m_localOffsets;   ///< (function, variable)
    std::map<std::string_view, std::uint32_t> m_sharedOffsets;                         ///< module variables
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> m_functionShared; ///< (function, variable)
    std::map<std::uint32_t, std::uint32_t> m_paramOffsets;                             ///< entry variable → offset
    std::map<std::uint32_t, std::uint32_t> m_carrySlots;                               ///< per function
    std::vector<std::uint32_t> m_labels;                                               ///< label → instruction number
    std::vector<const Function*> m_callStack;
    Activation* m_activation = nullptr;
    std::string m_problem;
    bool m_dynamicShared = false;
    std::uint32_t m_dynamicAlignment = 16;
    bool m_stop = false;    ///< too much code
    bool m_emitted = false; ///< the family has emitted by itself
};

/// Puts the blocks in an order in which the lowest instruction any lane waits at is the right one to run next, resolves
/// labels to instruction numbers, drops what cannot be reached.
void orderBlocks(Kernel& kernel, const std::vector<std::uint32_t>& labels);

/// Gives every slot its place in the frame; slots that never hold values at the same time share one.
/// `widths`: bytes a lane, 0 for predicates; `fixed`: must keep a place of its own.
void layOutFrame(Kernel& kernel, const std::vector<std::uint32_t>& widths, const std::vector<bool>& fixed);

} // namespace espalier::sim
