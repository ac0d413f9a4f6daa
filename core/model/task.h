// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/expression.h"

#include <cstdint>
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

enum class DistributionKind { Normal, Uniform, Constant, HeavyTail, Integers, Recorded };
struct ValueDistribution {
    DistributionKind kind = DistributionKind::Normal;
    double a = 0; ///< mean, lower bound or value
    double b = 1; ///< standard deviation or upper bound
    std::string file; ///< Recorded: a raw little-endian tensor in the task's folder
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
    DataType type = DataType::F32;
    std::vector<Expression> shape;          ///< empty for scalars
    std::vector<Expression> strides;        ///< elements; empty: row-major contiguous
    std::optional<Expression> pitch;        ///< bytes between rows
    std::optional<Expression> offset;       ///< elements before the first
    std::uint32_t alignment = 256;          ///< bytes the first element is aligned to
    std::optional<IndexGenerator> index;
    ValueDistribution values;
    std::optional<Expression> scalarValue;  ///< Scalar: its value per case, over the parameters
    bool isPointer() const { return kind != ArgumentKind::Scalar; }
};

enum class CaseRole { Verify, Time, Simulate };
struct TaskCase {
    std::string id;
    std::vector<CaseRole> roles;
    Parameters parameters;
    double weight = 1;
    bool has(CaseRole role) const;
};

enum class ComparatorKind { Value, Code, Index };
struct Comparator {
    std::string output;
    ComparatorKind kind = ComparatorKind::Value;
};

/// One limit on what a candidate may use: "registers <= 128".
struct Limit {
    std::string what; ///< registers | shared_bytes | spills | launches | tensor_cores
    std::string relation; ///< <= or ==
    double value = 0;
};

struct Contract {
    std::string precision = "fp32";        ///< class shown to people
    double unitRoundoff = 5.9604644775390625e-08; ///< u: 2^-24 for fp32
    std::vector<std::string> allowedInternal; ///< fp32, tf32x3, bf16x6, ...
    bool deterministic = false;
    std::vector<Comparator> comparators;   ///< one per output; Value where none is stated
    std::vector<Limit> limits;
    std::optional<Expression> reductionLength; ///< K; with it the norm bound is u·max(8, 0.45·√K)
    double elementFactor = 16;             ///< widened only from a measured noise floor; shown
    double normFactor = 1;                 ///< multiplies the norm bound; likewise
    std::string widenedBecause;            ///< the measurement behind a factor over its default
};

enum class OracleKind { Cuda, Python };
struct SourceFile {
    std::string name; ///< file name within the task's folder
    std::string text;
};
struct Oracle {
    OracleKind kind = OracleKind::Cuda;
    SourceFile source;
};

struct Baseline {
    std::string id;
    std::string title;
    SourceFile source;
    std::vector<std::string> libraries; ///< "cublas": linked and bound for this trusted runner only
};

/// One idea of the playbook that ships with the task.
struct PlaybookIdea {
    std::string id;
    std::string parent;   ///< id of the idea it builds on; empty: the root kernel
    std::string title;
    std::string text;     ///< the idea in plain words
    SourceFile source;    ///< a complete candidate
};

struct BuildOptions {
    std::vector<std::string> flags;
    std::vector<std::string> includeRoots; ///< absolute, read-only, hashed into the build key
    double deadlineSeconds = 120;
};

struct TaskVariant {
    std::string id;
    std::map<std::string, std::string> types;     ///< argument -> dtype
    std::map<std::string, std::int64_t> constants; ///< compile-time constants
};

struct Objective {
    bool geometricMean = true;      ///< over all timed cases (default); else the weighted sum of times
    std::optional<double> guard;    ///< no case slower than this times the incumbent
};

struct Task {
    std::string id;
    std::string title;
    std::string folder;             ///< where it was loaded from, for messages
    std::string entry;              ///< C name of the candidate's function
    std::vector<Argument> arguments;
    std::vector<TaskCase> cases;
    Contract contract;
    Objective objective;
    Oracle oracle;
    SourceFile root;
    std::vector<Baseline> baselines;
    std::vector<PlaybookIdea> playbook;
    BuildOptions build;
    std::vector<TaskVariant> variants;
    std::vector<std::string> requirements; ///< "sm_90", "cublas"
    std::optional<Expression> flops;
    std::string hash;               ///< SHA-256 over everything that can change a verdict
    std::string json;               ///< task.json as it was read: travels to the judge

    std::vector<const TaskCase*> casesWith(CaseRole role) const;
    const TaskCase* findCase(std::string_view caseId) const;
    const Argument* findArgument(std::string_view name) const;
};

/// Elements of an argument for a case: the product of its shape. Errors: InvalidInput naming task, argument and case.
Result<std::int64_t> elementCount(const Task& task, const Argument& argument, const TaskCase& taskCase);
/// Bytes that must move at least: every pointer argument once (inout twice).
Result<std::int64_t> minimumBytes(const Task& task, const TaskCase& taskCase);

} // namespace espalier
