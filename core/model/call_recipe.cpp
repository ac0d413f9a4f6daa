// SPDX-License-Identifier: Apache-2.0
#include "core/model/call_recipe.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fmt/format.h>

namespace espalier {
namespace {

/// Takes a line apart from its front; everything after a first mismatch fails.
class Reader
{
public:
    explicit Reader(std::string_view text) : m_rest(text) {}

    bool ok() const { return m_ok; }
    bool at(std::string_view token) const { return m_ok && m_rest.starts_with(token); }
    bool take(std::string_view token) { return at(token) && (m_rest.remove_prefix(token.size()), true); }
    void expect(std::string_view token) { m_ok = take(token); }
    std::string word()
    {
        std::size_t n = 0;
        while (n < m_rest.size() && (std::isalnum(static_cast<unsigned char>(m_rest[n])) || m_rest[n] == '_')) {
            ++n;
        }
        m_ok = m_ok && n > 0;
        std::string taken(m_rest.substr(0, n));
        m_rest.remove_prefix(n);
        return taken;
    }
    template <typename Number>
    Number number()
    {
        Number value = {};
        const auto [end, error] = std::from_chars(m_rest.data(), m_rest.data() + m_rest.size(), value);
        m_ok = m_ok && error == std::errc();
        m_rest.remove_prefix(static_cast<std::size_t>(end - m_rest.data()));
        return value;
    }
    std::string rest() { return std::string(m_rest); }

private:
    std::string_view m_rest;
    bool m_ok = true;
};

std::optional<DistributionKind> kindNamed(std::string_view name)
{
    for (int i = 0; i <= static_cast<int>(DistributionKind::Recorded); ++i) {
        if (nameOf(static_cast<DistributionKind>(i)) == name) {
            return static_cast<DistributionKind>(i);
        }
    }
    return std::nullopt;
}

std::string bufferText(const CallRecipe::Buffer& buffer)
{
    std::string text = fmt::format("{} at +{}", buffer.argument, buffer.place);
    if (buffer.ranges.empty()) {
        return text + (buffer.normBound > 0 ? fmt::format(" norm {}", buffer.normBound) : "");
    }
    text += fmt::format(" {}({}, {}, {})", nameOf(buffer.kind), buffer.a, buffer.b, buffer.row);
    for (const CallRecipe::Range& range : buffer.ranges) {
        text += fmt::format(" [{} from {} as {} by seed {}]", range.count, range.first, range.index, range.seed);
    }
    return text;
}

CallRecipe::Buffer bufferFrom(Reader& reader)
{
    CallRecipe::Buffer buffer;
    buffer.argument = reader.word();
    reader.expect(" at +");
    buffer.place = reader.number<std::uint64_t>();
    if (reader.take(" norm ")) {
        buffer.normBound = reader.number<double>();
        return buffer;
    }
    if (!reader.take(" ")) {
        return buffer;
    }
    const auto kind = kindNamed(reader.word());
    reader.expect(kind ? "(" : "a distribution that there is");
    buffer.kind = kind.value_or(DistributionKind::Normal);
    buffer.a = reader.number<double>();
    reader.expect(", ");
    buffer.b = reader.number<double>();
    reader.expect(", ");
    buffer.row = reader.number<std::uint64_t>();
    reader.expect(")");
    while (reader.take(" [")) {
        CallRecipe::Range& range = buffer.ranges.emplace_back();
        range.count = reader.number<std::uint64_t>();
        reader.expect(" from ");
        range.first = reader.number<std::uint64_t>();
        reader.expect(" as ");
        range.index = reader.number<std::uint64_t>();
        reader.expect(" by seed ");
        range.seed = reader.number<std::uint64_t>();
        reader.expect("]");
    }
    return buffer;
}

} // namespace

std::uint64_t drawnRow(DistributionKind kind, std::uint64_t elements, const std::vector<std::int64_t>& shape)
{
    if (kind == DistributionKind::Mixed) {
        return std::clamp<std::uint64_t>(elements / 6, 16, std::uint64_t{1} << 20);
    }
    return shape.empty() ? 1 : static_cast<std::uint64_t>(std::max<std::int64_t>(shape.back(), 1));
}

Result<CallRecipe> CallRecipe::of(const Task& task, const TaskCase& taskCase, std::uint64_t seed)
{
    CallRecipe recipe;
    recipe.parameters = taskCase.parameters;
    recipe.elementFactor = task.contract.elementFactor;
    recipe.where = "case " + taskCase.id;
    for (const Argument& argument : task.arguments) {
        if (!argument.isPointer()) {
            continue;
        }
        Buffer& buffer = recipe.buffers.emplace_back();
        buffer.argument = argument.name;
        if (argument.kind == ArgumentKind::Output) {
            ESPALIER_TRY(buffer.normBound, normBound(task, argument.name, taskCase));
            continue;
        }
        ESPALIER_TRY(const std::int64_t count, elementCount(task, argument, taskCase));
        std::vector<std::int64_t> shape;
        for (const Expression& dimension : argument.shape) {
            ESPALIER_TRY(shape.emplace_back(), dimension.evaluateInteger(taskCase.parameters));
        }
        const ValueDistribution& values = task.valuesOf(argument, taskCase);
        const auto elements = static_cast<std::uint64_t>(count);
        buffer.kind = values.kind;
        buffer.a = values.a;
        buffer.b = values.b;
        buffer.row = drawnRow(values.kind, elements, shape);
        buffer.ranges = {{0, elements, 0, seed++}};
    }
    return recipe;
}

std::string CallRecipe::text() const
{
    std::string line;
    for (const auto& [name, value] : parameters) {
        line += fmt::format("{}{} = {}", line.empty() ? "" : ", ", name, value);
    }
    for (const Buffer& buffer : buffers) {
        line += "; " + bufferText(buffer);
    }
    return line + fmt::format("; factors {}, {}; {}", elementFactor, absoluteFactor, where);
}

std::optional<CallRecipe> CallRecipe::parse(std::string_view text)
{
    CallRecipe recipe;
    Reader reader(text);
    while (reader.ok() && !reader.at(";")) {
        const std::string name = reader.word();
        reader.expect(" = ");
        recipe.parameters[name] = reader.number<std::int64_t>();
        reader.take(", ");
    }
    while (reader.take("; ") && !reader.at("factors ")) {
        recipe.buffers.push_back(bufferFrom(reader));
    }
    reader.expect("factors ");
    recipe.elementFactor = reader.number<double>();
    reader.expect(", ");
    recipe.absoluteFactor = reader.number<double>();
    reader.expect("; ");
    recipe.where = reader.rest();
    return reader.ok() ? std::optional(std::move(recipe)) : std::nullopt;
}

} // namespace espalier
