// SPDX-License-Identifier: Apache-2.0
// How a candidate's end stands in its row: fields in one order, each closed by a bar; a bar or a percent sign within a
// text is written %7C or %25. Numbers are those of std::to_chars, which come back as they were.
//   version | outcome | stage | cause | reason | epoch | identity | device seconds | ended by a ban | memory, size,
//   occupancy, tensor cores in the build and in the source | 0, or 1 + kernels | program | per kernel: name | registers
//   | shared bytes | spill stores | spill loads | stack | n, and n times: class of instructions | count | provenance,
//   empty without a timing | objective, and the ratios to root, parent and incumbent: each 0, or 1 | value | low | high
//   | measured again | full tier | guard that was broken
#include "core/search/bans.h"
#include "core/search/ended_record.h"

#include <algorithm>
#include <charconv>

namespace espalier {
namespace {

constexpr int version = 1;
constexpr char bar = '|';

class FieldWriter
{
public:
    void add(std::string_view text)
    {
        for (const char one : text) {
            if (one == bar) {
                m_line += "%7C";
            } else if (one == '%') {
                m_line += "%25";
            } else {
                m_line += one;
            }
        }
        m_line += bar;
    }
    template <typename Number>
        requires std::is_arithmetic_v<Number>
    void add(Number number)
    {
        char digits[32];
        m_line.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
        m_line += bar;
    }
    void add(const std::optional<Interval>& interval)
    {
        add(interval ? 1 : 0);
        if (interval) {
            add(interval->value);
            add(interval->low);
            add(interval->high);
        }
    }
    std::string take() { return std::move(m_line); }

private:
    std::string m_line;
};

/// Gives the fields in their order. What is missing or no number is empty or 0, and `broken` from then on.
class FieldReader
{
public:
    explicit FieldReader(std::string_view line) : m_rest(line) {}

    std::string_view field()
    {
        const std::size_t end = m_rest.find(bar);
        if (end == std::string_view::npos) {
            m_broken = true;
            return {};
        }
        const std::string_view field = m_rest.substr(0, end);
        m_rest.remove_prefix(end + 1);
        return field;
    }
    std::string text()
    {
        std::string_view rest = field();
        std::string text;
        for (std::size_t sign; (sign = rest.find('%')) != std::string_view::npos; rest.remove_prefix(sign + 3)) {
            const std::string_view code = rest.substr(sign, 3);
            if (code != "%7C" && code != "%25") {
                m_broken = true;
                return {};
            }
            text += rest.substr(0, sign);
            text += code == "%7C" ? bar : '%';
        }
        return text.append(rest);
    }
    template <typename Number>
    Number number()
    {
        const std::string_view digits = field();
        Number number = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
        if (error != std::errc() || end != digits.data() + digits.size()) {
            m_broken = true;
            return 0;
        }
        return number;
    }
    int whole() { return number<int>(); }
    int whole(int most) { return std::clamp(whole(), 0, most); }
    std::optional<Interval> interval()
    {
        if (whole() == 0) {
            return std::nullopt;
        }
        const double value = number<double>(), low = number<double>();
        return Interval{value, low, number<double>()};
    }
    bool broken() const { return m_broken; }
    bool atEnd() const { return m_rest.empty(); }

private:
    std::string_view m_rest;
    bool m_broken = false;
};

void write(FieldWriter& fields, const std::vector<KernelResources>& kernels)
{
    for (const KernelResources& one : kernels) {
        fields.add(one.kernel);
        for (const int figure :
             {one.registers, one.sharedBytes, one.spillStoreBytes, one.spillLoadBytes, one.stackBytes}) {
            fields.add(figure);
        }
        fields.add(std::ssize(one.instructions));
        for (const auto& [name, count] : one.instructions) {
            fields.add(name);
            fields.add(count);
        }
    }
}

std::vector<KernelResources> readKernels(FieldReader& fields, int count)
{
    std::vector<KernelResources> kernels;
    for (int i = 0; i < count && !fields.broken(); ++i) {
        KernelResources& kernel = kernels.emplace_back();
        kernel.kernel = fields.text();
        for (int* figure : {&kernel.registers, &kernel.sharedBytes, &kernel.spillStoreBytes, &kernel.spillLoadBytes,
                            &kernel.stackBytes}) {
            *figure = fields.whole();
        }
        for (int classes = fields.whole(); classes > 0 && !fields.broken(); --classes) {
            std::string name = fields.text();
            kernel.instructions.emplace(std::move(name), fields.whole());
        }
    }
    return kernels;
}

} // namespace

std::string EndedRecord::text() const
{
    FieldWriter fields;
    fields.add(version);
    fields.add(nameOf(evaluation.outcome));
    fields.add(nameOf(evaluation.stage));
    fields.add(nameOf(evaluation.cause));
    fields.add(evaluation.reason);
    fields.add(evaluation.epoch);
    fields.add(identity);
    fields.add(deviceSeconds);
    fields.add(endedByBan(evaluation) ? 1 : 0);
    for (const int trait : {static_cast<int>(traits.memory), traits.size, build.occupancy, build.tensorCores ? 1 : 0,
                            traits.tensorCores ? 1 : 0}) {
        fields.add(trait);
    }
    if (evaluation.build) {
        const std::vector<KernelResources> kernels = heldBy(*evaluation.build);
        fields.add(1 + std::ssize(kernels));
        fields.add(evaluation.outcome == Outcome::NotRun ? std::string_view() : evaluation.build->program);
        write(fields, kernels);
    } else {
        fields.add(0);
    }
    if (evaluation.timing && !evaluation.timing->cases.empty()) {
        const TimingRecord& timing = *evaluation.timing;
        fields.add(nameOf(timing.cases.front().provenance));
        for (const auto& figure :
             {timing.objectiveUs, timing.speedupRoot, timing.speedupParent, timing.speedupIncumbent}) {
            fields.add(figure);
        }
        fields.add(timing.again ? 1 : 0);
        fields.add(timing.tier == "full" ? 1 : 0);
        fields.add(timing.guardBroken);
    } else {
        fields.add(std::string_view());
    }
    return fields.take();
}

std::optional<EndedRecord> EndedRecord::parse(std::string_view text)
{
    FieldReader fields(text);
    if (fields.whole() != version) {
        return std::nullopt;
    }
    EndedRecord record;
    Evaluation& evaluation = record.evaluation;
    const auto outcome = outcomeNamed(fields.field());
    const auto stage = stageNamed(fields.field());
    if (!outcome || !stage) {
        return std::nullopt;
    }
    evaluation.outcome = *outcome;
    evaluation.stage = *stage;
    evaluation.cause = causeNamed(fields.field()).value_or(NotRunCause::None);
    evaluation.reason = fields.text();
    evaluation.epoch = fields.text();
    record.identity = fields.text();
    record.deviceSeconds = fields.number<double>();
    if (fields.whole() != 0) {
        evaluation.evidence.push_back({std::string(banCheck), evaluation.reason});
    }
    record.traits.memory = static_cast<MemoryStrategy>(fields.whole(4));
    record.traits.size = fields.whole(3);
    record.build.occupancy = fields.whole(3);
    record.build.tensorCores = fields.whole() != 0;
    record.traits.tensorCores = fields.whole() != 0;
    if (const int kernels = fields.whole(); kernels > 0) {
        evaluation.build = BuildRecord{}; // the rest of its contents is in the stage's record
        evaluation.build->program = fields.text();
        evaluation.build->kernels = readKernels(fields, kernels - 1);
    }
    if (const std::string_view name = fields.field(); !name.empty()) {
        const auto provenance = provenanceNamed(name);
        if (!provenance) {
            return std::nullopt;
        }
        TimingRecord timing;
        timing.cases.push_back({});
        timing.cases.front().provenance = *provenance;
        for (auto* figure :
             {&timing.objectiveUs, &timing.speedupRoot, &timing.speedupParent, &timing.speedupIncumbent}) {
            *figure = fields.interval();
        }
        timing.again = fields.whole() != 0;
        if (fields.whole() != 0) {
            timing.tier = "full";
        }
        timing.guardBroken = fields.text();
        evaluation.timing = std::move(timing);
    }
    if (fields.broken() || !fields.atEnd()) {
        return std::nullopt;
    }
    return record;
}

} // namespace espalier
