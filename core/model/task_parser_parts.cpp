// SPDX-License-Identifier: Apache-2.0
#include "core/model/task_parser.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier {

using namespace task_fields;

namespace {

/// Names that the generated prototypes and the oracle's parameters use themselves.
constexpr std::array<std::string_view, 7> reservedArguments = {"workspace", "workspace_bytes", "stream", "ref",
                                                               "scale",     "first",           "count"};
constexpr std::array<std::string_view, 6> functionNames = {"min", "max", "ceildiv", "floordiv", "log2", "sqrt"};

bool contains(const auto& list, std::string_view text)
{
    return std::find(list.begin(), list.end(), text) != list.end();
}

/// `min` as a parameter and `min(…)` as a call in one expression would confuse people, if not the parser.
Result<std::string> parameterName(const JsonReader& at)
{
    ESPALIER_TRY(const std::string name, identifier(at));
    if (contains(functionNames, name)) {
        return at.complain("a name that is not a function of expressions");
    }
    return name;
}

ArgumentKind kindNamed(std::string_view name)
{
    return name == "input"    ? ArgumentKind::Input
           : name == "output" ? ArgumentKind::Output
           : name == "inout"  ? ArgumentKind::InOut
           : name == "scalar" ? ArgumentKind::Scalar
                              : ArgumentKind::Const;
}

} // namespace

Result<void> TaskParser::readParameters()
{
    ESPALIER_TRY(const JsonReader list, m_json.at("parameters"));
    ESPALIER_TRY(const auto items, list.items());
    for (const JsonReader& item : items) {
        ESPALIER_TRY(std::string name, parameterName(item));
        if (!m_names.insert(name).second) {
            return complain(item, fmt::format("the name {} is used twice", name));
        }
        m_task.parameters.push_back(std::move(name));
    }
    return {};
}

Result<void> TaskParser::readVariants()
{
    if (!m_json.has("variants")) {
        return {};
    }
    ESPALIER_TRY(const JsonReader list, m_json.at("variants"));
    ESPALIER_TRY(const auto items, list.items());
    if (items.empty()) {
        return list.complain("at least one variant, or no field variants");
    }
    for (const JsonReader& item : items) {
        ESPALIER_CHECK(item.onlyFields({"name", "types", "constants"}));
        TaskVariant variant;
        ESPALIER_CHECK(required(item, "name", variant.id, nonEmpty));
        if (std::any_of(m_task.variants.begin(), m_task.variants.end(),
                        [&](const auto& v) { return v.id == variant.id; })) {
            return complain(item, fmt::format("the name {} is used twice", variant.id));
        }
        if (item.has("types")) {
            ESPALIER_TRY(const JsonReader types, item.at("types"));
            ESPALIER_TRY(const auto members, types.members());
            for (const auto& [name, field] : members) {
                ESPALIER_TRY(const DataType type, dataType(field));
                if (!isIdentifier(name) || dataTypeNamed(name)) {
                    return complain(field, fmt::format("{} cannot name a type", name));
                }
                variant.types[name] = nameOf(type);
                m_typeNames.insert(name);
            }
        }
        if (item.has("constants")) {
            ESPALIER_TRY(const JsonReader constants, item.at("constants"));
            ESPALIER_TRY(const auto members, constants.members());
            for (const auto& [name, field] : members) {
                ESPALIER_TRY(variant.constants[name], field.integer());
                if (!isIdentifier(name) || contains(functionNames, name) || contains(m_task.parameters, name)) {
                    return complain(field, fmt::format("{} cannot name a constant", name));
                }
                m_names.insert(name);
            }
        }
        m_task.variants.push_back(std::move(variant));
    }
    for (const TaskVariant& variant : m_task.variants) {
        for (const std::string& type : m_typeNames) {
            if (!variant.types.contains(type)) {
                return complain(list, fmt::format("the variant {} gives no type to {}", variant.id, type));
            }
        }
    }
    return {};
}

Result<void> TaskParser::readArguments()
{
    ESPALIER_TRY(const JsonReader list, m_json.at("arguments"));
    ESPALIER_TRY(const auto items, list.items());
    bool writes = false;
    for (const JsonReader& item : items) {
        ESPALIER_TRY(Argument argument, readArgument(item));
        if (m_task.findArgument(argument.name)) {
            return complain(item, fmt::format("the name {} is used twice", argument.name));
        }
        writes = writes || argument.kind == ArgumentKind::Output || argument.kind == ArgumentKind::InOut;
        m_task.arguments.push_back(std::move(argument));
    }
    if (!writes) {
        return complain(list, "expected at least one argument of kind output or inout");
    }
    return checkGathers(items);
}

Result<Argument> TaskParser::readArgument(const JsonReader& at)
{
    Argument argument;
    ESPALIER_CHECK(required(at, "name", argument.name, identifier));
    if (contains(reservedArguments, argument.name) || argument.name == m_task.entry) {
        return complain(at, fmt::format("the name {} belongs to the prototype; choose another", argument.name));
    }
    ESPALIER_TRY(const JsonReader kind, at.at("kind"));
    ESPALIER_TRY(const std::string kindName, kind.oneOf({"input", "output", "inout", "scalar", "const"}));
    argument.kind = kindNamed(kindName);
    ESPALIER_CHECK(readArgumentType(at, argument));
    if (argument.kind == ArgumentKind::Scalar) {
        ESPALIER_CHECK(readScalar(at, argument));
        return argument;
    }
    std::vector<std::string> known = {"name", "kind", "dtype", "shape", "strides", "pitch", "offset", "alignment"};
    if (argument.kind != ArgumentKind::Output) {
        known.emplace_back("values");
        known.emplace_back("stress");
    }
    if (argument.kind == ArgumentKind::Input || argument.kind == ArgumentKind::Const) {
        known.emplace_back("index");
    } else {
        known.emplace_back("compare");
    }
    ESPALIER_CHECK(at.onlyFields(known));
    ESPALIER_CHECK(readLayout(at, argument));
    ESPALIER_CHECK(readContents(at, argument));
    ESPALIER_CHECK(readComparator(at, argument));
    return argument;
}

Result<void> TaskParser::readArgumentType(const JsonReader& at, Argument& argument)
{
    ESPALIER_TRY(const JsonReader field, at.at("dtype"));
    if (field.value().is_string() && m_typeNames.contains(field.value().get<std::string>())) {
        argument.typeName = field.value().get<std::string>();
        argument.type = *dataTypeNamed(m_task.variants.front().types.at(argument.typeName));
        return {};
    }
    ESPALIER_TRY(argument.type, dataType(field));
    return {};
}

Result<void> TaskParser::readScalar(const JsonReader& at, Argument& argument)
{
    ESPALIER_CHECK(at.onlyFields({"name", "kind", "dtype", "value"}));
    ESPALIER_TRY(const JsonReader value, at.at("value"));
    if (value.value().is_boolean()) {
        argument.scalarValue = Expression::constant(value.value().get<bool>() ? 1 : 0);
        return {};
    }
    ESPALIER_TRY(argument.scalarValue, expression(value, m_names));
    return {};
}

Result<void> TaskParser::readLayout(const JsonReader& at, Argument& argument)
{
    const auto list = [&](const char* field, std::vector<Expression>& into) -> Result<void> {
        ESPALIER_TRY(const JsonReader array, at.at(field));
        ESPALIER_TRY(const auto items, array.items());
        if (items.size() > 16) {
            return array.complain("at most 16 dimensions");
        }
        for (const JsonReader& item : items) {
            ESPALIER_TRY(Expression one, expression(item, m_names));
            into.push_back(std::move(one));
        }
        return {};
    };
    ESPALIER_CHECK(list("shape", argument.shape));
    if (at.has("strides")) {
        ESPALIER_CHECK(list("strides", argument.strides));
        ESPALIER_TRY(const JsonReader field, at.at("strides"));
        if (argument.strides.size() != argument.shape.size()) {
            return field.complain(fmt::format("one stride for each of the {} dimensions", argument.shape.size()));
        }
        if (at.has("pitch")) {
            return complain(field, "expected either strides or pitch, not both");
        }
    }
    const auto one = [&](const JsonReader& field) { return expression(field, m_names); };
    ESPALIER_CHECK(optional(at, "pitch", argument.pitch, one));
    if (argument.pitch && argument.shape.size() < 2) {
        ESPALIER_TRY(const JsonReader field, at.at("pitch"));
        return complain(field, "expected a shape of at least two dimensions");
    }
    ESPALIER_CHECK(optional(at, "offset", argument.offset, one));
    if (argument.offset && argument.offset->names().empty() && argument.offset->evaluateInteger({}) == 0) {
        argument.offset.reset();
    }
    if (at.has("alignment")) {
        ESPALIER_TRY(const JsonReader field, at.at("alignment"));
        ESPALIER_TRY(const Expression alignment, expression(field, m_names));
        if (!alignment.names().empty()) {
            argument.alignmentExpression = alignment;
            return {};
        }
        const auto bytes = alignment.evaluateInteger({});
        if (!bytes || *bytes < bytesOf(argument.type) || *bytes > (1 << 30) ||
            !std::has_single_bit(static_cast<std::uint64_t>(*bytes))) {
            return field.complain("a power of two of at least the element's size");
        }
        argument.alignment = static_cast<std::uint32_t>(*bytes);
    }
    return {};
}

Result<void> TaskParser::readContents(const JsonReader& at, Argument& argument)
{
    if (argument.kind == ArgumentKind::Output) {
        return {};
    }
    if (!isFloating(argument.type)) {
        argument.values = {DistributionKind::Integers, -8, 8, {}, {}};
        if (argument.type == DataType::Bool) {
            argument.values = {DistributionKind::Integers, 0, 1, {}, {}};
        }
    }
    ESPALIER_CHECK(optional(at, "stress", argument.stress, [](const JsonReader& field) { return field.boolean(); }));
    if (at.has("index")) {
        ESPALIER_TRY(const JsonReader field, at.at("index"));
        if (argument.type != DataType::I32 && argument.type != DataType::I64) {
            return complain(field, fmt::format("expected the dtype i32 or i64; found {}", nameOf(argument.type)));
        }
        if (at.has("values")) {
            return complain(field, "expected either index or values, not both");
        }
        ESPALIER_TRY(argument.index, readIndex(field));
    }
    ESPALIER_CHECK(optional(at, "values", argument.values,
                            [&](const JsonReader& field) { return distribution(field, argument.type); }));
    return {};
}

Result<IndexGenerator> TaskParser::readIndex(const JsonReader& at)
{
    ESPALIER_TRY(const JsonReader kind, at.at("generator"));
    ESPALIER_TRY(const std::string name, kind.oneOf({"below", "unique", "sorted", "ragged"}));
    const char* bound = name == "ragged" ? "total" : "below";
    ESPALIER_CHECK(at.onlyFields({"generator", bound}));
    IndexGenerator index;
    ESPALIER_CHECK(
        required(at, bound, index.below, [&](const JsonReader& field) { return expression(field, m_names); }));
    index.unique = name == "unique";
    index.sorted = name == "sorted" || name == "ragged";
    index.ragged = name == "ragged";
    return index;
}

Result<void> TaskParser::readComparator(const JsonReader& at, const Argument& argument)
{
    if (argument.kind != ArgumentKind::Output && argument.kind != ArgumentKind::InOut) {
        return {};
    }
    Comparator comparator;
    comparator.output = argument.name;
    if (at.has("compare")) {
        ESPALIER_TRY(const JsonReader field, at.at("compare"));
        ESPALIER_TRY(const JsonReader as, field.at("as"));
        ESPALIER_TRY(const std::string name, as.oneOf({"value", "code", "index"}));
        if (name == "index") {
            comparator.kind = ComparatorKind::Index;
            ESPALIER_CHECK(field.onlyFields({"as", "gather"}));
            ESPALIER_CHECK(required(field, "gather", comparator.gather, identifier));
        } else {
            ESPALIER_CHECK(field.onlyFields({"as"}));
            comparator.kind = name == "code" ? ComparatorKind::Code : ComparatorKind::Value;
        }
    }
    m_task.contract.comparators.push_back(std::move(comparator));
    return {};
}

/// `gather` may name an argument that stands later, so it is looked up when all are known.
Result<void> TaskParser::checkGathers(const std::vector<JsonReader>& items)
{
    for (const Comparator& comparator : m_task.contract.comparators) {
        if (comparator.kind != ComparatorKind::Index) {
            continue;
        }
        const Argument* gathered = m_task.findArgument(comparator.gather);
        if (!gathered || !gathered->isPointer() || gathered->kind == ArgumentKind::Output) {
            for (const JsonReader& item : items) {
                if (item.value().at("name") == comparator.output) {
                    return complain(item, fmt::format("compare.gather: expected the name of an input; found {}",
                                                      comparator.gather));
                }
            }
        }
    }
    return {};
}

Result<void> TaskParser::readCases()
{
    ESPALIER_TRY(const JsonReader list, m_json.at("cases"));
    ESPALIER_TRY(const auto items, list.items());
    if (items.size() > 10000) {
        return list.complain("at most 10000 cases");
    }
    for (const JsonReader& item : items) {
        ESPALIER_TRY(TaskCase one, readCase(item));
        if (m_task.findCase(one.id)) {
            return complain(item, fmt::format("the name {} is used twice", one.id));
        }
        m_task.cases.push_back(std::move(one));
    }
    return checkRoles(list);
}

Result<TaskCase> TaskParser::readCase(const JsonReader& at)
{
    ESPALIER_CHECK(at.onlyFields({"name", "parameters", "roles", "weight", "values", "variant"}));
    TaskCase one;
    ESPALIER_CHECK(required(at, "name", one.id, nonEmpty));
    ESPALIER_CHECK(readCaseParameters(at, one));
    ESPALIER_TRY(const JsonReader roles, at.at("roles"));
    ESPALIER_TRY(const auto items, roles.items());
    for (const JsonReader& item : items) {
        ESPALIER_TRY(const std::string name, item.oneOf({"verify", "time", "simulate"}));
        const CaseRole role = name == "verify" ? CaseRole::Verify
                              : name == "time" ? CaseRole::Time
                                               : CaseRole::Simulate;
        if (one.has(role)) {
            return complain(item, fmt::format("the role {} stands twice", name));
        }
        one.roles.push_back(role);
    }
    if (one.roles.empty()) {
        return roles.complain("at least one of verify, time, simulate");
    }
    ESPALIER_CHECK(optional(at, "weight", one.weight, [](const JsonReader& field) -> Result<double> {
        ESPALIER_TRY(const double weight, field.number());
        if (!(weight >= 0) || !std::isfinite(weight)) {
            return field.complain("a number of 0 or more");
        }
        return weight;
    }));
    ESPALIER_CHECK(readCaseValues(at, one));
    if (at.has("variant")) {
        ESPALIER_TRY(const JsonReader field, at.at("variant"));
        ESPALIER_TRY(one.variant, field.string());
        if (std::none_of(m_task.variants.begin(), m_task.variants.end(),
                         [&](const auto& v) { return v.id == one.variant; })) {
            return field.complain("the name of a variant");
        }
    }
    return one;
}

Result<void> TaskParser::readCaseParameters(const JsonReader& at, TaskCase& into)
{
    ESPALIER_TRY(const JsonReader object, at.at("parameters"));
    ESPALIER_TRY(const auto members, object.members());
    for (const auto& [name, field] : members) {
        if (!contains(m_task.parameters, name)) {
            return complain(field,
                            fmt::format("unknown parameter; expected one of {}", fmt::join(m_task.parameters, ", ")));
        }
        if (field.value().is_number_float()) {
            ESPALIER_TRY(into.realParameters[name], field.number());
        } else {
            ESPALIER_TRY(into.parameters[name], field.integer());
        }
    }
    for (const std::string& name : m_task.parameters) {
        if (!object.has(name.c_str())) {
            return complain(object, fmt::format("the parameter {} is missing", name));
        }
    }
    return {};
}

Result<void> TaskParser::readCaseValues(const JsonReader& at, TaskCase& into)
{
    if (!at.has("values")) {
        return {};
    }
    ESPALIER_TRY(const JsonReader object, at.at("values"));
    ESPALIER_TRY(const auto members, object.members());
    for (const auto& [name, field] : members) {
        const Argument* argument = m_task.findArgument(name);
        if (!argument || argument->kind == ArgumentKind::Output || argument->kind == ArgumentKind::Scalar ||
            argument->index) {
            return complain(field, "expected the name of an argument whose values are drawn");
        }
        ESPALIER_TRY(into.values[name], distribution(field, argument->type));
    }
    return {};
}

Result<void> TaskParser::checkRoles(const JsonReader& at)
{
    for (const auto& [role, name] : {std::pair(CaseRole::Verify, "verify"), std::pair(CaseRole::Time, "time")}) {
        if (m_task.casesWith(role).empty()) {
            return complain(at, fmt::format("expected at least one case with the role {}", name));
        }
    }
    for (const auto& [role, name] : {std::pair(CaseRole::Time, "time"), std::pair(CaseRole::Simulate, "simulate")}) {
        const auto cases = m_task.casesWith(role);
        if (!cases.empty() &&
            std::none_of(cases.begin(), cases.end(), [](const TaskCase* one) { return one->weight > 0; })) {
            return complain(at, fmt::format("expected a weight above 0 in at least one case with the role {}", name));
        }
    }
    return {};
}

Result<void> TaskParser::readContract()
{
    ESPALIER_TRY(const JsonReader at, m_json.at("contract"));
    ESPALIER_CHECK(at.onlyFields(
        {"precision", "unit_roundoff", "internal", "determinism", "limits", "exact_integers", "metamorphic"}));
    Contract& contract = m_task.contract;
    ESPALIER_TRY(const JsonReader precision, at.at("precision"));
    ESPALIER_TRY(const DataType type, dataType(precision));
    if (!isFloating(type)) {
        return precision.complain("a floating dtype");
    }
    contract.precision = nameOf(type);
    contract.unitRoundoff = unitRoundoffOf(type);
    ESPALIER_CHECK(optional(at, "unit_roundoff", contract.unitRoundoff, positive));
    if (contract.unitRoundoff >= 1) {
        return complain(at, "unit_roundoff: expected a number below 1");
    }
    if (at.has("internal")) {
        ESPALIER_TRY(const JsonReader list, at.at("internal"));
        ESPALIER_TRY(const auto items, list.items());
        for (const JsonReader& item : items) {
            ESPALIER_TRY(const DataType allowed, dataType(item));
            contract.allowedInternal.emplace_back(nameOf(allowed));
        }
    } else {
        for (const DataType wider : {DataType::F64, DataType::F32, DataType::TF32, DataType::F16, DataType::BF16,
                                     DataType::FP8E4M3, DataType::FP8E5M2}) {
            if (wider == type || unitRoundoffOf(wider) < unitRoundoffOf(type)) {
                contract.allowedInternal.emplace_back(nameOf(wider));
            }
        }
    }
    if (at.has("determinism")) {
        ESPALIER_TRY(const JsonReader field, at.at("determinism"));
        ESPALIER_TRY(const std::string name, field.oneOf({"none", "bitwise"}));
        contract.deterministic = name == "bitwise";
    }
    if (at.has("limits")) {
        ESPALIER_TRY(const JsonReader list, at.at("limits"));
        ESPALIER_TRY(const auto items, list.items());
        for (const JsonReader& item : items) {
            ESPALIER_TRY(Limit one, limit(item));
            contract.limits.push_back(std::move(one));
        }
    }
    return {};
}

Result<Tolerance> TaskParser::readToleranceOf(const JsonReader& at, std::string output)
{
    ESPALIER_CHECK(at.onlyFields({"element_factor", "norm_factor", "norm_sqrt_factor", "reason", "noise_floor"}));
    Tolerance tolerance;
    tolerance.output = std::move(output);
    ESPALIER_CHECK(optional(at, "element_factor", tolerance.elementFactor, positive));
    ESPALIER_CHECK(optional(at, "norm_factor", tolerance.normFactor, positive));
    ESPALIER_CHECK(
        optional(at, "norm_sqrt_factor", tolerance.normSqrtFactor, [](const JsonReader& field) -> Result<double> {
            ESPALIER_TRY(const double value, field.number());
            if (!(value >= 0) || !std::isfinite(value)) {
                return field.complain("a number of 0 or more");
            }
            return value;
        }));
    ESPALIER_CHECK(optional(at, "reason", tolerance.reason, nonEmpty));
    if (at.has("noise_floor")) {
        ESPALIER_TRY(const JsonReader noise, at.at("noise_floor"));
        ESPALIER_CHECK(noise.onlyFields({"element", "norm", "implementations"}));
        ESPALIER_CHECK(required(noise, "element", tolerance.noiseElement, positive));
        ESPALIER_CHECK(required(noise, "norm", tolerance.noiseNorm, positive));
        ESPALIER_CHECK(required(noise, "implementations", tolerance.implementations, strings));
        if (tolerance.implementations.size() < 2) {
            return complain(noise, "implementations: expected at least two independent ones");
        }
    }
    if (!tolerance.standard() && (tolerance.reason.empty() || tolerance.implementations.empty())) {
        return complain(at, "a factor above the standard (16, 8, 0.45) needs reason and noise_floor");
    }
    return tolerance;
}

Result<void> TaskParser::readTolerance()
{
    for (const Comparator& comparator : m_task.contract.comparators) {
        m_task.contract.tolerances.emplace_back().output = comparator.output;
    }
    if (m_json.has("tolerance")) {
        ESPALIER_TRY(const JsonReader object, m_json.at("tolerance"));
        ESPALIER_TRY(const auto members, object.members());
        for (const auto& [name, field] : members) {
            const auto known = std::find_if(m_task.contract.tolerances.begin(), m_task.contract.tolerances.end(),
                                            [&](const Tolerance& one) { return one.output == name; });
            if (known == m_task.contract.tolerances.end()) {
                return complain(field, "expected the name of an output");
            }
            ESPALIER_TRY(*known, readToleranceOf(field, name));
        }
    }
    summariseTolerance();
    return {};
}

/// The contract's own factors stand for all outputs; checkSupported refuses a task where they cannot.
void TaskParser::summariseTolerance()
{
    const Tolerance& first = m_task.contract.tolerances.front();
    m_task.contract.elementFactor = first.elementFactor;
    m_task.contract.normFactor = first.normFactor / 8;
    if (!first.standard()) {
        m_task.contract.widenedBecause = first.reason;
    }
}

Result<void> TaskParser::readObjective()
{
    if (!m_json.has("objective")) {
        return {};
    }
    ESPALIER_TRY(const JsonReader at, m_json.at("objective"));
    ESPALIER_CHECK(at.onlyFields({"mean", "guard"}));
    if (at.has("mean")) {
        ESPALIER_TRY(const JsonReader field, at.at("mean"));
        ESPALIER_TRY(const std::string mean, field.oneOf({"geometric", "arithmetic"}));
        m_task.objective.geometricMean = mean == "geometric";
    }
    if (at.has("guard")) {
        ESPALIER_TRY(const JsonReader field, at.at("guard"));
        ESPALIER_TRY(m_task.objective.guard, positive(field));
    }
    return {};
}

} // namespace espalier
