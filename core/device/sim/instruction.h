// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/sim/ptx_module.h"
#include "core/device/sim/ptx_syntax.h"

#include <cstdint>
#include <string>
#include <vector>

namespace espalier::sim {

struct Warp;
struct Instr;

/// Executes one instruction for the lanes in Warp::exec. False: Warp::launch->fault is set.
using Handler = bool (*)(Warp&, const Instr&);

enum class Op : std::uint8_t {
    // computed by handlers, lane by lane
    Add,
    Sub,
    Mul,
    MulHi,
    MulWide,
    Mad,
    MadHi,
    MadWide,
    Mul24,
    Mad24,
    Div,
    DivApprox,
    Rem,
    Abs,
    Neg,
    Min,
    Max,
    Sad,
    And,
    Or,
    Xor,
    Not,
    Cnot,
    Shl,
    Shr,
    ShfLeft,
    ShfRight,
    Bfe,
    Bfi,
    Bfind,
    Fns,
    Popc,
    Clz,
    Brev,
    Prmt,
    Lop3,
    Dp4a,
    Dp2a,
    Video,
    Fma,
    Rcp,
    Sqrt,
    Rsqrt,
    Ex2,
    Lg2,
    Sin,
    Cos,
    Tanh,
    Copysign,
    Testp,
    Bmsk,
    Szext,
    AddCarry,
    SubCarry,
    MadCarryLo,
    MadCarryHi,
    Setp,
    Set,
    Selp,
    Slct,
    Mov,
    Pack,
    Unpack,
    Cvt,
    CvtPack,
    Load,
    Store,
    Atomic,
    CpAsync,
    CpAsyncCommit,
    CpAsyncWait,
    CpAsyncArrive,
    BulkCopy,
    Mbarrier,
    Cvta,
    Isspacep,
    Clock,
    Shuffle,
    Vote,
    Match,
    Redux,
    Activemask,
    Elect,
    // steered by the interpreter itself
    Nop,
    Jump,
    Branch,
    BranchTable,
    Exit,
    Barrier,
    BarrierArrive,
    BarrierWarp,
    Trap,
    Yield,
};

enum class Compare : std::uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };
enum class Combine : std::uint8_t { None, And, Or, Xor };
enum class Rounding : std::uint8_t { Nearest, Zero, Down, Up, NearestInt, ZeroInt, DownInt, UpInt, Away };
enum class AtomicOp : std::uint8_t { Add, Exch, Cas, Min, Max, Inc, Dec, And, Or, Xor };
enum class Lanes : std::uint8_t { Up, Down, Bfly, Idx }; ///< shfl
enum class VoteMode : std::uint8_t { All, Any, Uni, Ballot };
enum class MatchMode : std::uint8_t { Any, All };
enum class VideoOp : std::uint8_t { Add, Sub, Average, AbsoluteDifference, Min, Max, Set };
enum class MbarrierOp : std::uint8_t {
    Init,
    Invalidate,
    Arrive,
    ArriveDrop,
    ExpectTx,
    CompleteTx,
    Test,
    TestParity,
    PendingCount,
};

/// What an instruction adds to the counters per active thread.
enum class Cost : std::uint8_t { None, F16, F32, F64, Special };

/// One decoded instruction. Before Kernel layout the operand fields hold slot numbers (0: none), afterwards byte
/// offsets into a warp's frame. d and d2 are written, a, b, c and e are read; list is read or written as listIsOutput
/// says.
struct Instr {
    Handler full = nullptr;   ///< all 32 lanes active
    Handler masked = nullptr; ///< lanes in Warp::exec
    std::uint32_t d = 0, d2 = 0, a = 0, b = 0, c = 0, e = 0;
    std::uint32_t guard = 0;  ///< slot of the guard predicate; 0: none
    std::uint32_t list = 0;   ///< first of listCount entries in Kernel::lists
    std::int64_t imm = 0;     ///< address offset, barrier id, table number, lop3 table
    std::int32_t imm2 = 0;    ///< cp.async: offset of the source address
    std::uint32_t target = 0; ///< branch: label while decoding, instruction number afterwards
    std::uint16_t listCount = 0;
    Op op = Op::Nop;
    Type type = Type::None;
    Type type2 = Type::None; ///< source type of cvt, set, slct, tex
    Space space = Space::Generic;
    std::uint8_t sub = 0; ///< Compare, AtomicOp, Lanes, VoteMode, VideoOp, MbarrierOp
    Combine combine = Combine::None;
    Rounding rounding = Rounding::Nearest;
    Cost cost = Cost::None;
    std::uint8_t costFactor = 0;
    bool guardNegated = false;
    bool negatedA = false, negatedB = false, negatedC = false; ///< predicate operands
    bool ftz = false, sat = false, relu = false, nan = false, xorsign = false;
    bool finite = false;     ///< cvt: overflow gives the largest finite value
    bool hi = false;         ///< shf.wrap and clamp, cvt.pack order, carry out, video: the sum of the parts
    bool wideAddress = true; ///< the address register has 64 bits
    bool listIsOutput = false;
    bool control = false;    ///< steered by the interpreter, not by a handler
    bool internal = false;   ///< made by the decoder: not counted
    bool gathers = false;    ///< waits for the lanes named in e
    bool steered = false;    ///< has a guard, is control, or gathers: not just a handler to call
    std::uint8_t widthA = 0; ///< bytes of the register behind d (loads), b (stores), a (cvt): may exceed the type's
    std::uint8_t widthD = 0;
    std::uint32_t location = 0; ///< number in Kernel::locations
    int ptxLine = 0;
};

enum class SpecialRegister : std::uint8_t {
    TidX,
    TidY,
    TidZ,
    NtidX,
    NtidY,
    NtidZ,
    CtaidX,
    CtaidY,
    CtaidZ,
    NctaidX,
    NctaidY,
    NctaidZ,
    LaneId,
    WarpId,
    NwarpId,
    SmId,
    NsmId,
    GridId,
    LanemaskEq,
    LanemaskLe,
    LanemaskLt,
    LanemaskGe,
    LanemaskGt,
    DynamicShared,
    TotalShared,
    Zero,
    One,
};

/// A value that is the same in every lane, put into the frame when a launch starts.
struct Constant {
    enum class Kind : std::uint8_t { Bits, ModuleVariable, DynamicShared };
    std::uint32_t slot = 0;  ///< byte offset in the frame after layout
    std::uint32_t width = 4; ///< 0: predicate; else bytes
    Kind kind = Kind::Bits;
    std::uint64_t bits = 0; ///< value, or what is added to the address
    std::string symbol;
};

struct SpecialSlot {
    std::uint32_t slot = 0;
    std::uint32_t width = 4;
    SpecialRegister which = SpecialRegister::Zero;
};

struct Location {
    std::uint32_t file = 0; ///< number in Kernel::files
    int line = 0;
};

/// One kernel, ready to run: its callees are inlined, its blocks stand in an order in which the next instruction to run
/// is always the lowest-numbered one that any lane waits at.
struct Kernel {
    std::string name;
    std::vector<Instr> code;
    std::vector<std::uint32_t> lists;               ///< operand lists
    std::vector<std::vector<std::uint32_t>> tables; ///< brx.idx
    std::vector<Constant> constants;
    std::vector<SpecialSlot> specials;
    std::vector<Location> locations;
    std::vector<std::string> files;
    /// Sums of costs before each instruction (code.size() + 1 entries), so that a straight run costs one subtraction.
    struct CostSum {
        std::uint32_t issued = 0, f16 = 0, f32 = 0, f64 = 0, special = 0;
    };
    std::vector<CostSum> costs;
    std::uint32_t frameBytes = 0;
    std::uint32_t staticShared = 0;
    std::uint32_t localBytes = 0;
    std::uint32_t paramBytes = 0;
    bool usesLocal = false;
    bool usesShared = false;
};

/// Sets full and masked for the instruction set of this machine. False: no handler for this combination.
bool bindHandlers(Instr& instr);

constexpr std::uint32_t warpLanes = 32;
constexpr std::uint32_t clusterBarrier = 16; ///< after the sixteen that PTX numbers

/// Windows of the generic address space.
constexpr std::uint64_t sharedWindow = std::uint64_t{1} << 56;
constexpr std::uint64_t localWindow = std::uint64_t{2} << 56;
constexpr std::uint64_t paramWindow = std::uint64_t{3} << 56;
constexpr std::uint64_t windowBytes = std::uint64_t{1} << 32;

} // namespace espalier::sim
