// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace espalier::sim {

/// What the parser makes of one PTX module: names resolved, nothing decoded. All string_views point into the text that
/// was parsed and live as long as it does.

enum class Space : std::uint8_t { Generic, Global, Shared, Local, Param, Const };

enum class Type : std::uint8_t {
    None,
    Pred,
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    U16x2,
    S16x2,
    F16,
    F16x2,
    BF16,
    BF16x2,
    F32,
    F64,
    TF32,
    E4M3x2,
    E5M2x2,
};

/// Bytes of one value; 0 for predicates and None.
constexpr std::uint32_t bytesOf(Type type)
{
    switch (type) {
    case Type::B8:
    case Type::U8:
    case Type::S8:
        return 1;
    case Type::B16:
    case Type::U16:
    case Type::S16:
    case Type::F16:
    case Type::BF16:
    case Type::E4M3x2:
    case Type::E5M2x2:
        return 2;
    case Type::B32:
    case Type::U32:
    case Type::S32:
    case Type::F32:
    case Type::U16x2:
    case Type::S16x2:
    case Type::F16x2:
    case Type::BF16x2:
    case Type::TF32:
        return 4;
    case Type::B64:
    case Type::U64:
    case Type::S64:
    case Type::F64:
        return 8;
    case Type::B128:
        return 16;
    default:
        return 0;
    }
}

constexpr bool isFloat(Type type)
{
    return type >= Type::F16 && type <= Type::TF32;
}

constexpr bool isPair(Type type)
{
    return type == Type::F16x2 || type == Type::BF16x2 || type == Type::E4M3x2 || type == Type::E5M2x2;
}

constexpr bool isSigned(Type type)
{
    return type >= Type::S8 && type <= Type::S64;
}

/// None when `name` (without its dot) is no type.
Type typeNamed(std::string_view name);

struct SourceLine {
    std::uint32_t file = 0;    ///< number of the .file directive
    int line = 0;              ///< 0: unknown
    std::string_view function; ///< label of the name of the function that was inlined there; empty: none was
};

/// Where a name leads inside a function.
struct VariableDecl {
    std::string_view name;
    Space space = Space::Global;
    std::uint64_t bytes = 0;
    std::uint32_t alignment = 1;
    std::uint32_t elementBytes = 1; ///< of one initial value
    bool external = false;          ///< .extern .shared: the dynamic part
    int line = 0;
};

struct Operand {
    enum class Kind : std::uint8_t {
        Register,
        Immediate,
        Symbol,
        Special,
        Address,
        Vector,
        Sink,
        Label,
    };
    Kind kind = Kind::Sink;
    bool negated = false;         ///< !%p
    bool isFloat = false;         ///< immediate: bits are a double
    bool isLocalVariable = false; ///< symbol: `index` is one of Function::variables
    std::uint32_t index = 0;      ///< register number or variable number
    std::uint64_t bits = 0;       ///< immediate
    std::int64_t offset = 0;      ///< address: bytes added to the base; symbol: the same
    std::string_view name;        ///< symbol, special, label
    std::vector<Operand> items;   ///< vector elements; address: the base (one); register: the second of d|p
};

struct Statement {
    std::string_view opcode;                 ///< "ld"
    std::vector<std::string_view> modifiers; ///< "global", "v4", "f32"
    std::vector<Operand> operands;
    std::int32_t guard = -1; ///< register number
    bool guardNegated = false;
    std::uint32_t scope = 0; ///< for labels
    int line = 0;            ///< of the PTX text
    SourceLine source;

    bool has(std::string_view modifier) const;
};

struct Function {
    std::string_view name;
    bool entry = false;
    bool defined = false;
    std::vector<std::uint32_t> results;    ///< variable numbers
    std::vector<std::uint32_t> parameters; ///< variable numbers
    std::vector<VariableDecl> variables;
    std::vector<Type> registers;
    std::vector<Statement> statements;
    std::vector<std::uint32_t> scopeParents;                                    ///< scope 0 is the body
    std::map<std::pair<std::uint32_t, std::string_view>, std::uint32_t> labels; ///< scope and name → statement number
    std::map<std::string_view, std::vector<std::string_view>> branchTargets;    ///< .branchtargets lists
    std::uint32_t maxThreads = 0;
    bool cluster = false; ///< asks for a cluster larger than one block
    int line = 0;

    /// Statement number of a label seen from a scope; -1 when there is none.
    std::int64_t label(std::uint32_t scope, std::string_view text) const;
};

struct Initializer {
    std::uint32_t offset = 0;
    std::string_view symbol;
    std::int64_t addend = 0;
};

struct GlobalDecl {
    VariableDecl variable;
    std::vector<std::byte> initial;
    std::vector<Initializer> addresses;
};

struct Module {
    std::vector<GlobalDecl> globals;
    std::vector<Function> functions;
    std::map<std::string_view, std::uint32_t> functionByName;
    std::map<std::string_view, std::uint32_t> globalByName;
    std::map<std::uint32_t, std::string> files;
    std::map<std::string_view, std::string> strings; ///< of .debug_str: label → text, names of inlined functions
};

} // namespace espalier::sim
