// SPDX-License-Identifier: Apache-2.0
#include "core/model/task_fields.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier::task_fields {

namespace {

constexpr std::array<std::string_view, 96> keywords = {
    "alignas",     "alignof",   "and",        "and_eq",    "asm",      "auto",         "bitand",
    "bitor",       "bool",      "break",      "case",      "catch",    "char",         "char8_t",
    "char16_t",    "char32_t",  "class",      "compl",     "concept",  "const",        "consteval",
    "constexpr",   "constinit", "const_cast", "continue",  "co_await", "co_return",    "co_yield",
    "decltype",    "default",   "delete",     "do",        "double",   "dynamic_cast", "else",
    "enum",        "explicit",  "export",     "extern",    "false",    "float",        "for",
    "friend",      "goto",      "if",         "inline",    "int",      "long",         "mutable",
    "namespace",   "new",       "noexcept",   "not",       "not_eq",   "nullptr",      "operator",
    "or",          "or_eq",     "private",    "protected", "public",   "register",     "reinterpret_cast",
    "requires",    "return",    "short",      "signed",    "sizeof",   "static",       "static_assert",
    "static_cast", "struct",    "switch",     "template",  "this",     "thread_local", "throw",
    "true",        "try",       "typedef",    "typeid",    "typename", "union",        "unsigned",
    "using",       "virtual",   "void",       "volatile",  "wchar_t",  "while",        "xor",
    "xor_eq",      "main",      "restrict",   "_Bool"};

/// How task.json writes a distribution: the names of its numbers (null: has none) and what they are when left out.
struct DistributionForm {
    DistributionKind kind;
    const char* first;
    const char* second;
    double a, b;
};

constexpr std::array distributionForms = {
    DistributionForm{DistributionKind::Normal, "mean", "stddev", 0, 1},
    DistributionForm{DistributionKind::Uniform, "low", "high", 0, 1},
    DistributionForm{DistributionKind::Constant, "value", nullptr, 0, 1},
    DistributionForm{DistributionKind::HeavyTail, "stddev", "octaves", 1, 4},
    DistributionForm{DistributionKind::Integers, "low", "high", 0, 1},
    DistributionForm{DistributionKind::Sparse, "stddev", "zeros", 1, 0.9},
    DistributionForm{DistributionKind::Ties, "stddev", "count", 1, 4},
    DistributionForm{DistributionKind::ConstantRows, "mean", "stddev", 0, 1},
    DistributionForm{DistributionKind::Outlier, "stddev", "factor", 1, 1000},
    DistributionForm{DistributionKind::Subnormal, nullptr, nullptr, 0, 1},
    DistributionForm{DistributionKind::HalfNormal, "scale", nullptr, 1, 1},
    DistributionForm{DistributionKind::Alternating, "scale", nullptr, 1, 1},
    DistributionForm{DistributionKind::Sorted, "mean", "slope", 0, 1},
    DistributionForm{DistributionKind::Mixed, "stddev", nullptr, 1, -1},
};

std::vector<std::string> distributionNames()
{
    std::vector<std::string> names;
    for (const DistributionForm& form : distributionForms) {
        names.emplace_back(nameOf(form.kind));
    }
    return names;
}

const DistributionForm* formNamed(std::string_view name)
{
    return std::find_if(distributionForms.begin(), distributionForms.end(),
                        [&](const DistributionForm& form) { return nameOf(form.kind) == name; });
}

Result<void> readBounds(const JsonReader& at, const char* first, const char* second, ValueDistribution& into)
{
    std::vector<std::string> fields = {"distribution"};
    for (const char* field : {first, second}) {
        if (field) {
            fields.emplace_back(field);
        }
    }
    ESPALIER_CHECK(at.onlyFields(fields));
    const auto number = [](const JsonReader& field) -> Result<double> {
        ESPALIER_TRY(const double value, field.number());
        if (!std::isfinite(value)) {
            return field.complain("a finite number");
        }
        return value;
    };
    if (first) {
        ESPALIER_CHECK(optional(at, first, into.a, number));
    }
    if (second) {
        ESPALIER_CHECK(optional(at, second, into.b, number));
    }
    return {};
}

Result<ValueDistribution> recorded(const JsonReader& at)
{
    ESPALIER_CHECK(at.onlyFields({"recorded"}));
    ValueDistribution values;
    values.kind = DistributionKind::Recorded;
    ESPALIER_TRY(const JsonReader field, at.at("recorded"));
    if (field.value().is_string()) {
        ESPALIER_TRY(const std::string one, path(field));
        values.files = {one};
    } else {
        ESPALIER_TRY(const auto items, field.items());
        for (const JsonReader& item : items) {
            ESPALIER_TRY(std::string one, path(item));
            values.files.push_back(std::move(one));
        }
    }
    if (values.files.empty()) {
        return field.complain("at least one .npy file");
    }
    values.file = values.files.front();
    return values;
}

} // namespace

std::unexpected<Error> complain(const JsonReader& at, std::string_view sentence)
{
    return fail(ErrorCode::InvalidInput, fmt::format("{}: {}: {}", at.name(), at.path(), sentence));
}

std::unexpected<Error> complain(const JsonReader& at, const Error& cause)
{
    return fail(cause.code, fmt::format("{}: {}: {}", at.name(), at.path(), cause.message));
}

bool isIdentifier(std::string_view text)
{
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    return !text.empty() && text.size() <= 128 && letter(text[0]) &&
           std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); }) &&
           std::find(keywords.begin(), keywords.end(), text) == keywords.end();
}

bool isTaskName(std::string_view text)
{
    return !text.empty() && text.size() <= 128 && text[0] >= 'a' && text[0] <= 'z' &&
           std::all_of(text.begin(), text.end(),
                       [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

Result<std::string> identifier(const JsonReader& at)
{
    ESPALIER_TRY(const std::string text, at.string());
    if (!isIdentifier(text)) {
        return at.complain("a C identifier");
    }
    return text;
}

Result<std::string> taskName(const JsonReader& at)
{
    ESPALIER_TRY(const std::string text, at.string());
    if (!isTaskName(text)) {
        return at.complain("a name of small letters, digits and _");
    }
    return text;
}

Result<std::string> nonEmpty(const JsonReader& at)
{
    ESPALIER_TRY(const std::string text, at.string());
    if (trimmed(text).empty()) {
        return at.complain("a text that is not empty");
    }
    return text;
}

Result<double> positive(const JsonReader& at)
{
    ESPALIER_TRY(const double value, at.number());
    if (!(value > 0) || !std::isfinite(value)) {
        return at.complain("a number above 0");
    }
    return value;
}

Result<DataType> dataType(const JsonReader& at)
{
    ESPALIER_TRY(const std::string name, at.string());
    if (const auto type = dataTypeNamed(name)) {
        return *type;
    }
    return at.complain("one of f64, f32, tf32, f16, bf16, fp8e4m3, fp8e5m2, i8, i32, i64, bool");
}

Result<std::string> path(const JsonReader& at)
{
    ESPALIER_TRY(const std::string text, at.string());
    bool good = !text.empty() && text.size() <= 1000 &&
                text.find_first_of(std::string_view("\\\0\n\r", 4)) == std::string::npos;
    for (const std::string_view part : splitOn(text, '/')) {
        good = good && !part.empty() && part != "." && part != "..";
    }
    if (!good) {
        return at.complain("a path within the task's folder, with / between folders");
    }
    return text;
}

Result<std::vector<std::string>> strings(const JsonReader& at)
{
    ESPALIER_TRY(const auto items, at.items());
    std::vector<std::string> texts;
    for (const JsonReader& item : items) {
        ESPALIER_TRY(std::string text, nonEmpty(item));
        texts.push_back(std::move(text));
    }
    return texts;
}

Result<Expression> expression(const JsonReader& at, const Names& names)
{
    if (!at.value().is_string() && !at.value().is_number()) {
        return at.complain("an expression such as \"rows * cols\"");
    }
    const auto parsed = Expression::parse(at.value().is_string() ? at.value().get<std::string>() : at.value().dump());
    if (!parsed) {
        return complain(at, parsed.error());
    }
    for (const std::string& name : parsed->names()) {
        if (!names.contains(name)) {
            return complain(at,
                            fmt::format("expected an expression over {}; found the unknown name {}",
                                        names.empty() ? "no names" : fmt::format("{}", fmt::join(names, ", ")), name));
        }
    }
    return *parsed;
}

Result<ValueDistribution> distribution(const JsonReader& at, DataType type)
{
    if (at.has("recorded")) {
        return recorded(at);
    }
    ESPALIER_TRY(const JsonReader kind, at.at("distribution"));
    ESPALIER_TRY(const std::string name, kind.oneOf(distributionNames()));
    const DistributionForm& form = *formNamed(name);
    ValueDistribution values = {form.kind, form.a, form.b, {}, {}};
    ESPALIER_CHECK(readBounds(at, form.first, form.second, values));
    if (values.kind == DistributionKind::Integers &&
        (values.a != std::floor(values.a) || values.b != std::floor(values.b))) {
        return complain(at, "expected whole numbers for low and high");
    }
    if (values.kind == DistributionKind::HeavyTail &&
        (values.b < 0 || values.b > 1000 || values.b != std::floor(values.b))) {
        return complain(at, "expected a whole number from 0 to 1000 for octaves");
    }
    if (values.kind == DistributionKind::Ties && (values.b < 1 || values.b > 1e9 || values.b != std::floor(values.b))) {
        return complain(at, "expected a whole number from 1 to 1000000000 for count");
    }
    if (values.kind == DistributionKind::Sparse && (values.b < 0 || values.b > 1)) {
        return complain(at, "expected a share from 0 to 1 for zeros");
    }
    const bool ranged = values.kind == DistributionKind::Uniform || values.kind == DistributionKind::Integers;
    if (ranged && values.a > values.b) {
        return complain(at, "expected low to be at most high");
    }
    const bool second = values.kind == DistributionKind::Normal || values.kind == DistributionKind::ConstantRows;
    if ((second && values.b < 0) || (form.first && std::string_view(form.first) == "stddev" && values.a < 0)) {
        return complain(at, "expected a stddev of 0 or more");
    }
    if (!isFloating(type) && values.kind != DistributionKind::Integers && values.kind != DistributionKind::Constant) {
        return complain(
            at, fmt::format("expected the distribution integers or constant for {}; found {}", nameOf(type), name));
    }
    return values;
}

Result<Requirements> requirements(const JsonReader& at, const Names& names)
{
    ESPALIER_CHECK(at.onlyFields({"compute_capability", "device_bytes"}));
    Requirements needs;
    if (at.has("compute_capability")) {
        ESPALIER_TRY(const JsonReader field, at.at("compute_capability"));
        ESPALIER_TRY(const std::string text, field.string());
        const auto parts = splitOn(text, '.');
        const auto number = [](std::string_view part, int& into) {
            const auto end = part.data() + part.size();
            return !part.empty() && part.size() <= 3 && std::from_chars(part.data(), end, into).ptr == end && into >= 0;
        };
        if (parts.size() != 2 || !number(parts[0], needs.capabilityMajor) || !number(parts[1], needs.capabilityMinor)) {
            return field.complain("a compute capability such as \"9.0\"");
        }
    }
    if (at.has("device_bytes")) {
        ESPALIER_TRY(const JsonReader field, at.at("device_bytes"));
        ESPALIER_TRY(needs.deviceBytes, expression(field, names));
    }
    return needs;
}

/// A sentence, or an object with the sentence and who says so.
Result<Limit> limit(const JsonReader& at)
{
    const bool attributed = at.value().is_object();
    if (attributed) {
        ESPALIER_CHECK(at.onlyFields({"limit", "by"}));
    }
    ESPALIER_TRY(const JsonReader sentence, attributed ? at.at("limit") : Result<JsonReader>(at));
    ESPALIER_TRY(const std::string text, sentence.string());
    std::optional<Limit> limit = Limit::parse(text);
    if (!limit) {
        return sentence.complain(
            fmt::format("a predicate such as \"registers <= 128\" over {}", fmt::join(Limit::metrics(), ", ")));
    }
    if (attributed) {
        ESPALIER_CHECK(required(at, "by", limit->by, nonEmpty));
    }
    return std::move(*limit);
}

bool isFloating(DataType type)
{
    switch (type) {
    case DataType::I8:
    case DataType::I32:
    case DataType::I64:
    case DataType::Bool:
        return false;
    default:
        return true;
    }
}

double unitRoundoffOf(DataType type)
{
    switch (type) {
    case DataType::F64:
        return std::ldexp(1.0, -53);
    case DataType::TF32:
    case DataType::F16:
        return std::ldexp(1.0, -11);
    case DataType::BF16:
        return std::ldexp(1.0, -8);
    case DataType::FP8E4M3:
        return std::ldexp(1.0, -4);
    case DataType::FP8E5M2:
        return std::ldexp(1.0, -3);
    default:
        return std::ldexp(1.0, -24);
    }
}

} // namespace espalier::task_fields
