// SPDX-License-Identifier: Apache-2.0
#include "tests/adversary/grammar.h"

#include <array>
#include <fmt/format.h>
#include <span>
#include <string_view>

namespace espalier::adversary_test {

using adversary::Hide;
using adversary::What;
using adversary::When;
using adversary::Where;

namespace {

/// SplitMix64: the standard library's distributions promise no particular numbers.
class Dice
{
public:
    Dice(std::uint64_t seed, std::uint64_t n) : m_state(seed * 0x9e3779b97f4a7c15ULL + n * 0xd1342543de82ef95ULL) {}
    std::uint64_t next()
    {
        std::uint64_t v = m_state += 0x9e3779b97f4a7c15ULL;
        v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9ULL;
        v = (v ^ (v >> 27)) * 0x94d049bb133111ebULL;
        return v ^ (v >> 31);
    }
    int below(int n) { return static_cast<int>(next() % static_cast<std::uint64_t>(n)); }
    template <class T>
    T of(std::initializer_list<T> choices)
    {
        return choices.begin()[below(static_cast<int>(choices.size()))];
    }

private:
    std::uint64_t m_state;
};

template <class T>
struct Word {
    T value;
    std::string_view name, group;
    int weight;
};

constexpr std::array<Word<What>, 26> whats = {{
    {What::DropFirst, "DropFirst", "term", 2},
    {What::DropLast, "DropLast", "term", 3},
    {What::DropTail, "DropTail", "term", 3},
    {What::DropEvery, "DropEvery", "term", 2},
    {What::DropOne, "DropOne", "term", 3},
    {What::CountTwice, "CountTwice", "term", 2},
    {What::OperandsBf16, "OperandsBf16", "precision", 3},
    {What::OperandsTf32, "OperandsTf32", "precision", 3},
    {What::OperandsHalf, "OperandsHalf", "precision", 1},
    {What::SumBf16, "SumBf16", "precision", 2},
    {What::SumHalf, "SumHalf", "precision", 2},
    {What::ResultBf16, "ResultBf16", "precision", 2},
    {What::ResultTruncated, "ResultTruncated", "precision", 2},
    {What::Factor, "Factor", "value", 3},
    {What::Offset, "Offset", "value", 2},
    {What::Magnitude, "Magnitude", "value", 2},
    {What::Clamp, "Clamp", "value", 2},
    {What::FlushTiny, "FlushTiny", "value", 2},
    {What::ScalarIgnored, "ScalarIgnored", "parameter", 2},
    {What::ParameterOne, "ParameterOne", "parameter", 2},
    {What::ParameterZero, "ParameterZero", "parameter", 2},
    {What::ParameterSign, "ParameterSign", "parameter", 2},
    {What::Neighbour, "Neighbour", "place", 2},
    {What::OtherRow, "OtherRow", "place", 2},
    {What::Zero, "Zero", "stale", 2},
    {What::Stale, "Stale", "stale", 4},
}};

constexpr std::array<Word<When>, 15> whens = {{
    {When::Always, "Always", "always", 4},
    {When::Residue, "Residue", "residue", 6},
    {When::Aligned, "Aligned", "aligned", 4},
    {When::Unaligned, "Unaligned", "aligned", 2},
    {When::Above, "Above", "size", 2},
    {When::Below, "Below", "size", 1},
    {When::Outputs, "Outputs", "size", 2},
    {When::First, "First", "contents", 3},
    {When::Last, "Last", "contents", 3},
    {When::Whole, "Whole", "contents", 2},
    {When::Equal, "Equal", "contents", 2},
    {When::Hash, "Hash", "hash", 4},
    {When::FromCall, "FromCall", "call", 3},
    {When::EveryCall, "EveryCall", "call", 3},
    {When::Address, "Address", "address", 3},
}};

constexpr std::array<Word<Where>, 10> wheres = {{
    {Where::All, "All", "all", 4},
    {Where::FirstSlice, "FirstSlice", "slice", 2},
    {Where::LastSlice, "LastSlice", "slice", 3},
    {Where::FirstElement, "FirstElement", "element", 1},
    {Where::LastElement, "LastElement", "element", 2},
    {Where::Tail, "Tail", "tail", 3},
    {Where::Every, "Every", "every", 2},
    {Where::Column, "Column", "slice", 2},
    {Where::Scattered, "Scattered", "every", 2},
    {Where::Middle, "Middle", "all", 1},
}};

constexpr std::array<Word<Hide>, 4> hides = {{
    {Hide::Plain, "Plain", "plain", 6},
    {Hide::WarmHost, "WarmHost", "warm-up", 2},
    {Hide::WarmDevice, "WarmDevice", "warm-up", 2},
    {Hide::Ordinary, "Ordinary", "ordinary", 3},
}};

constexpr std::array<Word<Timing>, 3> timings = {{
    {Timing::Honest, "Honest", "", 17},
    {Timing::SideStream, "SideStream", "stream", 1},
    {Timing::Memo, "Memo", "memo", 2},
}};

struct Kernel {
    std::string_view task, file;
    bool simulated; ///< the simulated device runs it
};

constexpr std::array<Kernel, 17> kernels = {{
    {"softmax_f32", "root.cu", true},
    {"softmax_f32", "playbook/block_reduce.cu", true},
    {"softmax_f32", "playbook/online_pass.cu", true},
    {"softmax_f32", "playbook/warp_per_row.cu", true},
    {"softmax_f32", "playbook/row_registers.cu", true},
    {"layernorm_f32", "root.cu", true},
    {"layernorm_f32", "playbook/split_rows.cu", true},
    {"layernorm_f32", "playbook/weights_once.cu", true},
    {"matmul_f32", "root.cu", true},
    {"matmul_f32", "playbook/register_tile.cu", true},
    {"matmul_f32", "playbook/tensor_split.cu", false},
    {"conv2d_f32", "root.cu", true},
    {"conv2d_f32", "playbook/filter_group.cu", true},
    {"conv2d_f32", "playbook/tensor_rows.cu", false},
    {"conv2d_relu_maxpool_f32", "root.cu", true},
    {"conv2d_relu_maxpool_f32", "playbook/filter_group.cu", true},
    {"conv2d_relu_maxpool_f32", "playbook/fused_tensor.cu", false},
}};

constexpr std::array<std::string_view, 5> tasks = {"softmax_f32", "layernorm_f32", "matmul_f32", "conv2d_f32",
                                                   "conv2d_relu_maxpool_f32"};

template <class T, std::size_t N>
T pick(Dice& dice, const std::array<Word<T>, N>& words)
{
    int sum = 0;
    for (const Word<T>& word : words) {
        sum += word.weight;
    }
    int at = dice.below(sum);
    for (const Word<T>& word : words) {
        at -= word.weight;
        if (at < 0) {
            return word.value;
        }
    }
    return words.back().value;
}

template <class T, std::size_t N>
const Word<T>& wordOf(const std::array<Word<T>, N>& words, T value)
{
    for (const Word<T>& word : words) {
        if (word.value == value) {
            return word;
        }
    }
    return words.front();
}

adversary::Trigger drawTrigger(Dice& dice)
{
    adversary::Trigger trigger{pick(dice, whens), dice.below(60), 0, 0};
    switch (trigger.when) {
    case When::Residue:
        trigger.a = dice.of({2, 3, 4, 5, 7, 8, 11, 16, 32});
        trigger.b = dice.below(static_cast<int>(trigger.a));
        break;
    case When::Aligned:
        trigger.a = dice.of({4, 8, 16, 32, 64, 128});
        break;
    case When::Unaligned:
        trigger.a = dice.of({2, 4, 16, 32});
        break;
    case When::Above:
        trigger.a = dice.of({16, 40, 100, 300, 1000, 3000});
        break;
    case When::Below:
        trigger.a = dice.of({2, 4, 8, 20, 60});
        break;
    case When::Outputs:
        trigger.a = dice.of({6, 9, 12, 14});
        break;
    case When::First:
        trigger.a = dice.of({-1.0, 0.0, 0.5, 1.0, 2.0, 3.0});
        break;
    case When::Last:
        trigger.a = dice.of({-2.5, -1.0, 0.0, 1.0});
        break;
    case When::Whole:
        trigger.b = dice.of({0, 1, 7, 100});
        break;
    case When::Hash:
        trigger.a = dice.of({1, 2, 3, 4, 6, 8});
        break;
    case When::FromCall:
        trigger.a = dice.of({2, 3, 5, 10, 20, 60});
        break;
    case When::EveryCall:
        trigger.a = dice.of({2, 3, 4, 7, 16});
        break;
    case When::Address:
        trigger.a = dice.of({8, 9, 10, 12, 14, 21, 24});
        break;
    default:
        break;
    }
    return trigger;
}

std::string wordsOf(const adversary::Trigger& t)
{
    const std::string name(wordOf(whens, t.when).name);
    switch (t.when) {
    case When::Residue:
        return fmt::format("{}(axis {} % {} == {})", name, t.axis, t.a, t.b);
    case When::Aligned:
    case When::Unaligned:
    case When::Above:
    case When::Below:
        return fmt::format("{}(axis {}, {})", name, t.axis, t.a);
    case When::Always:
    case When::Equal:
        return name;
    case When::Whole:
        return fmt::format("{}({})", name, t.b);
    default:
        return fmt::format("{}({})", name, t.a);
    }
}

} // namespace

std::string whatOf(const Drawn& drawn)
{
    return std::string(drawn.timing != Timing::Honest ? wordOf(timings, drawn.timing).group
                                                      : wordOf(whats, drawn.fault.what).group);
}

std::string whenOf(const Drawn& drawn)
{
    return std::string(wordOf(whens, drawn.trigger.when).group);
}

std::string whereOf(const Drawn& drawn)
{
    return std::string(wordOf(wheres, drawn.place.where).group);
}

std::string hideOf(const Drawn& drawn)
{
    return std::string(wordOf(hides, drawn.hide).group);
}

std::string cellOf(const Drawn& drawn)
{
    return fmt::format("{}|{}|{}|{}|{}|{}", drawn.task,
                       drawn.timing == Timing::Honest ? wordOf(whats, drawn.fault.what).name
                                                      : wordOf(timings, drawn.timing).name,
                       wordOf(whens, drawn.trigger.when).name, wordOf(wheres, drawn.place.where).name,
                       wordOf(hides, drawn.hide).name, drawn.kernel);
}

std::string sentenceOf(const Drawn& drawn)
{
    std::string text = fmt::format("{} {}: {}", drawn.task, drawn.kernel, drawn.honest ? "twin of " : "");
    if (drawn.timing == Timing::Memo) {
        return text + fmt::format("Memo({} samples)", drawn.samples);
    }
    if (drawn.timing == Timing::SideStream) {
        return text + "SideStream";
    }
    text += wordOf(whats, drawn.fault.what).name;
    if (drawn.fault.a != 0) {
        text += fmt::format("({:g})", drawn.fault.a);
    }
    text += fmt::format(" where {}", wordOf(wheres, drawn.place.where).name);
    if (drawn.place.where == Where::Every || drawn.place.where == Where::Column) {
        text += fmt::format("({})", drawn.place.a);
    }
    text += " when " + wordsOf(drawn.trigger);
    if (drawn.hide != Hide::Plain) {
        text += fmt::format(", {}", wordOf(hides, drawn.hide).name);
        text += drawn.hideCalls > 0 ? fmt::format("({})", drawn.hideCalls) : "";
    }
    return text;
}

Drawn draw(std::uint64_t seed, std::uint64_t n, bool simulated)
{
    Dice dice(seed, n);
    Drawn drawn;
    drawn.seed = dice.next();
    drawn.task = tasks[static_cast<std::size_t>(dice.below(static_cast<int>(tasks.size())))];
    std::vector<std::string_view> files;
    for (const Kernel& kernel : kernels) {
        if (kernel.task == drawn.task && (kernel.simulated || !simulated)) {
            files.push_back(kernel.file);
        }
    }
    drawn.kernel = files[static_cast<std::size_t>(dice.below(static_cast<int>(files.size())))];
    drawn.timing = pick(dice, timings);
    drawn.samples = dice.of({1, 4, 16, 64});
    if (drawn.timing != Timing::Honest) {
        return drawn;
    }
    drawn.fault.what = pick(dice, whats);
    drawn.fault.a = drawn.fault.what == What::Factor   ? dice.of({0.02, -0.02, 0.002, -0.01, 0.1})
                    : drawn.fault.what == What::Offset ? dice.of({1e-2, -1e-2, 0.1, 1.0})
                                                       : 0.0;
    drawn.trigger = drawTrigger(dice);
    drawn.hide = pick(dice, hides);
    drawn.hideCalls = drawn.hide == Hide::WarmHost || drawn.hide == Hide::WarmDevice ? dice.of({1, 2, 5, 10, 40}) : 0;
    drawn.place.where = pick(dice, wheres);
    drawn.place.a = dice.of({2, 3, 7, 16, 33, 100});
    return drawn;
}

Drawn twinOf(Drawn drawn)
{
    drawn.honest = true;
    return drawn;
}

} // namespace espalier::adversary_test
