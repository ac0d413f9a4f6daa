// SPDX-License-Identifier: Apache-2.0
#include "core/model/task_parser.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier {

using namespace task_fields;

namespace {

Result<std::int64_t> atLeastOne(const JsonReader& at)
{
    ESPALIER_TRY(const std::int64_t value, at.integer());
    if (value < 1) {
        return at.complain("a whole number above 0");
    }
    return value;
}

Result<UnseenRule> unseenRule(const JsonReader& at)
{
    UnseenRule rule;
    if (at.value().is_string()) {
        ESPALIER_CHECK(at.oneOf({"fixed"}));
        rule.fixed = true;
        return rule;
    }
    ESPALIER_CHECK(at.onlyFields({"multiple_of", "min", "max"}));
    ESPALIER_CHECK(optional(at, "multiple_of", rule.multipleOf, atLeastOne));
    rule.least = rule.multipleOf;
    ESPALIER_CHECK(optional(at, "min", rule.least, atLeastOne));
    ESPALIER_CHECK(optional(at, "max", rule.most, atLeastOne));
    const std::int64_t smallest = (rule.least + rule.multipleOf - 1) / rule.multipleOf * rule.multipleOf;
    if (smallest > rule.most) {
        return complain(at, "expected a multiple of multiple_of between min and max");
    }
    return rule;
}

} // namespace

Result<void> TaskParser::readUnseen()
{
    if (!m_json.has("unseen")) {
        return {};
    }
    ESPALIER_TRY(const JsonReader at, m_json.at("unseen"));
    if (at.value().is_boolean()) {
        m_task.unseenCases = at.value().get<bool>();
        return {};
    }
    ESPALIER_TRY(const auto members, at.members());
    for (const auto& [name, field] : members) {
        if (std::find(m_task.parameters.begin(), m_task.parameters.end(), name) == m_task.parameters.end()) {
            return complain(field, "expected the name of a parameter");
        }
        ESPALIER_TRY(m_task.unseen[name], unseenRule(field));
    }
    return {};
}

Result<void> TaskParser::readExactIntegers()
{
    ESPALIER_TRY(const JsonReader contract, m_json.at("contract"));
    if (!contract.has("exact_integers")) {
        return {};
    }
    ESPALIER_TRY(const JsonReader at, contract.at("exact_integers"));
    ESPALIER_CHECK(at.onlyFields({"degree"}));
    ESPALIER_TRY(const JsonReader field, at.at("degree"));
    ESPALIER_TRY(const std::int64_t degree, field.integer());
    if (degree < 1 || degree > 4) {
        return field.complain("a whole number from 1 to 4");
    }
    if (!m_task.contract.reductionLength) {
        return complain(at, "needs reduction_length: the number of products behind one output element");
    }
    m_task.contract.exactDegree = static_cast<int>(degree);
    return {};
}

Result<Metamorphic> TaskParser::readRelation(const JsonReader& at)
{
    Metamorphic relation;
    ESPALIER_TRY(const JsonReader kind, at.at("relation"));
    ESPALIER_TRY(const std::string name, kind.oneOf({"scale", "shift", "rotate"}));
    relation.kind = name == "scale"   ? Metamorphic::Kind::Scale
                    : name == "shift" ? Metamorphic::Kind::Shift
                                      : Metamorphic::Kind::Rotate;
    std::vector<std::string> known = {"relation", "inputs"};
    if (relation.kind == Metamorphic::Kind::Scale) {
        known.emplace_back("power");
    }
    ESPALIER_CHECK(at.onlyFields(known));
    ESPALIER_TRY(const JsonReader list, at.at("inputs"));
    ESPALIER_TRY(relation.inputs, strings(list));
    for (const std::string& input : relation.inputs) {
        const Argument* argument = m_task.findArgument(input);
        if (!argument || argument->kind != ArgumentKind::Input || !isFloating(argument->type) ||
            (relation.kind == Metamorphic::Kind::Rotate && argument->shape.empty())) {
            return list.complain("names of inputs of a floating dtype");
        }
    }
    if (relation.inputs.empty()) {
        return list.complain("at least one input");
    }
    if (at.has("power")) {
        ESPALIER_TRY(const JsonReader field, at.at("power"));
        ESPALIER_TRY(const std::int64_t power, field.integer());
        if (power < -4 || power > 4) {
            return field.complain("a whole number from -4 to 4");
        }
        relation.power = static_cast<int>(power);
    }
    return relation;
}

Result<void> TaskParser::readMetamorphic()
{
    ESPALIER_TRY(const JsonReader contract, m_json.at("contract"));
    if (!contract.has("metamorphic")) {
        return {};
    }
    ESPALIER_TRY(const JsonReader list, contract.at("metamorphic"));
    ESPALIER_TRY(const auto items, list.items());
    for (const JsonReader& item : items) {
        ESPALIER_TRY(Metamorphic relation, readRelation(item));
        m_task.contract.metamorphic.push_back(std::move(relation));
    }
    return {};
}

} // namespace espalier
