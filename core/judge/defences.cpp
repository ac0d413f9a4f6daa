// SPDX-License-Identifier: Apache-2.0
#include "core/judge/defences.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

namespace espalier::judge {

namespace {

constexpr auto all = std::to_array<std::pair<Defence, std::string_view>>({
    {Defence::Bubblewrap, "bubblewrap"},
    {Defence::Seccomp, "seccomp"},
    {Defence::EntryPointGate, "entry-point-gate"},
    {Defence::ReadOnlyInputs, "read-only-inputs"},
    {Defence::InputCheck, "input-check"},
    {Defence::GuardBands, "guard-bands"},
    {Defence::FreshInputs, "fresh-inputs"},
    {Defence::NearInputs, "near-inputs"},
    {Defence::NoisePoison, "noise-poison"},
    {Defence::NaNPoison, "nan-poison"},
    {Defence::InvertedPoison, "inverted-poison"},
    {Defence::ForeignAnswer, "foreign-answer"},
    {Defence::WorkspacePoison, "workspace-poison"},
    {Defence::UnseenCases, "unseen-cases"},
    {Defence::ElementBound, "element-bound"},
    {Defence::NormBound, "norm-bound"},
    {Defence::FullComparison, "full-comparison"},
    {Defence::ReturnValue, "return-value"},
    {Defence::StreamSnapshot, "stream-snapshot"},
    {Defence::GraphReplay, "graph-replay"},
    {Defence::TimedChecks, "timed-checks"},
    {Defence::ClockAgreement, "clock-agreement"},
    {Defence::PhysicalFloor, "physical-floor"},
});

constexpr auto ids = [] {
    std::array<Defence, all.size()> list{};
    std::transform(all.begin(), all.end(), list.begin(), [](const auto& row) { return row.first; });
    return list;
}();

std::atomic<std::uint64_t> taken = 0; ///< bit set

constexpr std::uint64_t bitOf(Defence defence)
{
    return std::uint64_t{1} << static_cast<unsigned>(defence);
}

} // namespace

bool stands(Defence defence)
{
    return (taken.load(std::memory_order_relaxed) & bitOf(defence)) == 0;
}

std::string_view nameOf(Defence defence)
{
    return std::find_if(all.begin(), all.end(), [&](const auto& row) { return row.first == defence; })->second;
}

std::optional<Defence> defenceNamed(std::string_view name)
{
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& row) { return row.second == name; });
    return found == all.end() ? std::nullopt : std::optional(found->first);
}

std::span<const Defence> allDefences()
{
    return ids;
}

void takeAway(std::span<const Defence> defences)
{
    for (const Defence defence : defences) {
        taken |= bitOf(defence);
    }
}

std::vector<std::string> weakenedRunnerArguments()
{
    std::vector<std::string> words;
    for (const Defence defence : {Defence::Seccomp, Defence::EntryPointGate}) {
        if (!stands(defence)) {
            words.insert(words.end(), {"--without", std::string(nameOf(defence))});
        }
    }
    return words;
}

} // namespace espalier::judge
