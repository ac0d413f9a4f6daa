// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/expression.h"
#include "core/model/limit.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace espalier {

/// A task as DESIGN.md section 4 states it: plain values, made by task_loader, immutable afterwards. Thread: any.
/// Sizes are elements unless the name says bytes. Sources are texts, loaded with the task, so that a task cannot change
/// under a running session.

enum class DataType { F64, F32, TF32, F16, BF16, FP8E4M3, FP8E5M2, I8, I32, I64, Bool };
std::uint32_t bytesOf(DataType type);
std::string_view nameOf(DataType type);
std::optional<DataType> dataTypeNamed(std::string_view name);

enum class ArgumentKind { Input, Output, InOut, Scalar, Const };

/// The ops of the judge's device draw them (core/device/ops/ops.h says what each holds).
enum class DistributionKind {
    Normal,
    Uniform,
    Constant,
    HeavyTail,
    Integers,
    Sparse,
    Ties,
    ConstantRows,
    Outlier,
    Subnormal,
    HalfNormal,
    Alternating,
    Sorted,
    Mixed,
    Recorded,
};
std::string_view nameOf(DistributionKind kind); ///< as task.json writes it
struct ValueDistribution {
    DistributionKind kind = DistributionKind::Normal;
    /// Normal, ConstantRows, Sorted: mean; Uniform, Integers: lower bound; Constant: value; else the standard deviation
    double a = 0;
    /// Normal, ConstantRows, Sorted: standard deviation; Uniform, Integers: upper bound; HeavyTail: octaves; Sparse:
    /// share of zeros; Ties: number of values; Outlier: its size in standard deviations; Mixed: the regime beside
    /// nominal, -1: all
    double b = 1;
    std::string file;               ///< Recorded: the first of `files`
    std::vector<std::string> files; ///< Recorded: .npy tensors in the task's folder, one drawn for each call
};

/// How an index argument is drawn: whole numbers below `below`.
struct IndexGenerator {
    Expression below;
    bool unique = false;
    bool sorted = false;
    bool ragged = false; ///< offsets of ragged groups: sorted, first 0, last `below`
};

struct Argument {
    std::string name;
    ArgumentKind kind = ArgumentKind::Input;
    DataType type = DataType::F32;                 ///< of the first variant when `typeName` is set
    std::string typeName;                          ///< name that a variant's `types` resolve; empty: `type` is stated
    std::vector<Expression> shape;                 ///< outermost first; empty for scalars and for one-element buffers
    std::vector<Expression> strides;               ///< elements; empty: row-major contiguous
    std::optional<Expression> pitch;               ///< elements from one row (last dimension) to the next
    std::optional<Expression> offset;              ///< elements before the first
    std::uint32_t alignment = 256;                 ///< bytes the first element is aligned to
    std::optional<Expression> alignmentExpression; ///< set when it depends on parameters; `alignment` is then unused
    std::optional<IndexGenerator> index;
    ValueDistribution values;
    std::optional<Expression> scalarValue; ///< Scalar: its value per case, over the parameters
    bool stress = true;                    ///< false: drawn from `values` only, never from a property of the judge's
    bool isPointer() const { return kind != ArgumentKind::Scalar; }
};

enum class CaseRole { Verify, Time, Simulate };
struct TaskCase {
    std::string id;
    std::vector<CaseRole> roles;
    Parameters parameters;
    std::map<std::string, double> realParameters;    ///< those written with a point
    double weight = 1;                               ///< in the objective; 0: verified only
    std::map<std::string, ValueDistribution> values; ///< by argument, instead of the argument's own
    std::string variant;                             ///< empty: for all
    bool has(CaseRole role) const;
};

enum class ComparatorKind { Value, Code, Index };
struct Comparator {
    std::string output;
    ComparatorKind kind = ComparatorKind::Value;
    std::string gather; ///< Index: the argument that the indices point into
};

/// What one output is held to (tasks/SCHEMA.md, "Tolerance"). The defaults are the standard factors.
struct Tolerance {
    std::string output;
    double elementFactor = 16; ///< |out - ref| <= elementFactor * u * scale
    double normFactor = 8;     ///< |out - ref| / |ref| <= u * max(normFactor, normSqrtFactor * sqrt(K))
    double normSqrtFactor = 0.45;
    std::string reason;                       ///< required when a factor is above the standard
    double noiseElement = 0, noiseNorm = 0;   ///< the measured noise floor behind it, in u * scale and in u
    std::vector<std::string> implementations; ///< what was measured
    bool standard() const { return elementFactor <= 16 && normFactor <= 8 && normSqrtFactor <= 0.45; }
};

/// What a change of inputs must do to every output, whatever the right answer is.
struct Metamorphic {
    enum class Kind {
        Scale,  ///< inputs times 2^s: outputs times 2^(s * power)
        Shift,  ///< one constant added to all elements of the inputs: outputs stay
        Rotate, ///< inputs rotated along their first axis: outputs likewise
    };
    Kind kind = Kind::Scale;
    std::vector<std::string> inputs;
    int power = 1; ///< Scale
};
std::string_view nameOf(Metamorphic::Kind kind);

/// How the judge may choose a parameter in cases of its own.
struct UnseenRule {
    bool fixed = false; ///< only the values that cases list
    std::int64_t multipleOf = 1, least = 1, most = std::int64_t{1} << 40;
};

struct Contract {
    std::string precision = "f32";                ///< class shown to people: a floating dtype
    double unitRoundoff = 5.9604644775390625e-08; ///< u: 2^-24 for fp32
    std::vector<std::string> allowedInternal;     ///< dtypes, precision and everything wider by default
    bool deterministic = false;
    std::vector<Comparator> comparators; ///< one per output; Value where none is stated
    std::vector<Limit> limits;
    std::optional<Expression> reductionLength; ///< K; with it the norm bound is u·max(8, 0.45·√K)
    std::vector<Tolerance> tolerances;         ///< one per output; the standard one where none is stated
    double elementFactor = 16;                 ///< of the outputs when all agree (checkSupported refuses others); shown
    double normFactor = 1;                     ///< multiplies the norm bound; likewise
    std::string widenedBecause;                ///< the measurement behind a factor over its default
    /// Above 0: every output element is a sum of at most `reductionLength` products of at most this many input
    /// elements, with coefficients of 1 or -1. Then whole inputs that are small enough have exact answers.
    int exactDegree = 0;
    std::vector<Metamorphic> metamorphic;
};

enum class OracleKind { Cuda, Python };
struct SourceFile {
    std::string name; ///< file name within the task's folder
    std::string text;
};
/// A file that a task was read from. Larger ones than 16 MiB (recorded tensors) are known by their hash alone.
struct TaskFile {
    std::string hash;                        ///< SHA-256 of its bytes
    std::shared_ptr<const std::string> text; ///< nullptr: too large to be carried along
};
struct Oracle {
    OracleKind kind = OracleKind::Cuda;
    SourceFile source;
    std::string function;      ///< Python only
    std::string scaleFunction; ///< Python only; may be empty
};

/// What a device must have.
struct Requirements {
    int capabilityMajor = 0, capabilityMinor = 0; ///< smallest compute capability; 0.0: any
    std::optional<Expression> deviceBytes;        ///< memory beyond arguments, oracle and workspace
};

struct Baseline {
    std::string id;
    std::string title;
    SourceFile source;
    std::vector<std::string> libraries; ///< "cublas": linked and bound for this trusted runner only
    bool headline = false;              ///< its speed-up is shown first
    std::vector<std::string> cases;     ///< that it serves; empty: every timed one
    bool serves(std::string_view caseId) const;
};

/// One idea of the playbook that ships with the task.
struct PlaybookIdea {
    std::string id;
    std::string parent; ///< id of the idea it builds on; empty: the root kernel
    std::string title;
    std::string text;  ///< the idea in plain words
    SourceFile source; ///< a complete candidate
    Requirements needs;
};

struct BuildOptions {
    std::vector<std::string> flags;
    std::vector<std::string> includeRoots; ///< absolute, read-only, hashed into the build key
    double deadlineSeconds = 120;
};

struct TaskVariant {
    std::string id;
    std::map<std::string, std::string> types;      ///< argument -> dtype
    std::map<std::string, std::int64_t> constants; ///< compile-time constants
};

struct Objective {
    bool geometricMean = true;   ///< weighted, over all timed cases (default); else the weighted mean of the times
    std::optional<double> guard; ///< no case slower than this times the incumbent
};

struct Task {
    std::string id;
    std::string title;
    std::string description;             ///< what the operation computes, plain words
    std::string folder;                  ///< where it was loaded from, for messages
    std::string entry;                   ///< C name of the candidate's function
    std::vector<std::string> parameters; ///< names that every case gives a number to
    std::vector<Argument> arguments;
    std::vector<TaskCase> cases;
    Contract contract;
    Objective objective;
    Oracle oracle;
    SourceFile root;
    std::optional<SourceFile> incumbent; ///< the kernel that serves the operation today; none: the root
    std::vector<Baseline> baselines;
    std::vector<PlaybookIdea> playbook;
    BuildOptions build;
    std::vector<TaskVariant> variants;
    std::vector<std::string> requirements; ///< "sm_80": the words of `needs`
    Requirements needs;
    std::optional<Expression> flops;
    bool unseenCases = true;                  ///< the judge may make cases of its own
    std::map<std::string, UnseenRule> unseen; ///< by parameter; others are free
    std::string hash;                         ///< SHA-256 over everything that can change a verdict
    std::string json;                         ///< task.json as it was read: travels to the judge
    std::map<std::string, TaskFile> files;    ///< all that it was read from, task.json too, by path within the folder

    std::vector<const TaskCase*> casesWith(CaseRole role) const;
    const TaskCase* findCase(std::string_view caseId) const;
    const Argument* findArgument(std::string_view name) const;
    /// What an argument holds in a case: the case's own distribution, else the argument's.
    const ValueDistribution& valuesOf(const Argument& argument, const TaskCase& taskCase) const;
    /// The standard tolerance for an output that states none.
    Tolerance toleranceOf(std::string_view output) const;
};

/// Elements of an argument for a case: the product of its shape. Errors: InvalidInput naming task, argument and case.
Result<std::int64_t> elementCount(const Task& task, const Argument& argument, const TaskCase& taskCase);
/// Bytes that must move at least: every pointer argument once (inout twice).
Result<std::int64_t> minimumBytes(const Task& task, const TaskCase& taskCase);
/// K of the contract in this case; 0 where it is not said.
Result<double> reductionLengthOf(const Task& task, const TaskCase& taskCase);
/// Bound on |out - ref| / |ref| of an output: u * max(normFactor, normSqrtFactor * sqrt(K)).
Result<double> normBound(const Task& task, std::string_view output, const TaskCase& taskCase);
/// Floating-point operations of one call; 0 where the task says that they mean nothing.
Result<double> flopsOf(const Task& task, const TaskCase& taskCase);
/// "const float*", "int64_t": the argument's type in the entry's prototype.
std::string cTypeOf(const Argument& argument);

} // namespace espalier
