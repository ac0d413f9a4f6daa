// SPDX-License-Identifier: Apache-2.0
#include "tests/adversary/rates.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace espalier::adversary_test {

namespace {

/// Wilson's score interval, z = 1.96: centre and half-width.
std::pair<double, double> wilson(int k, int n)
{
    if (n == 0) {
        return {0.5, 0.5};
    }
    const double z2 = 1.96 * 1.96, share = static_cast<double>(k) / n;
    const double centre = (share + z2 / (2 * n)) / (1 + z2 / n);
    const double half = 1.96 / (1 + z2 / n) * std::sqrt(share * (1 - share) / n + z2 / (4.0 * n * n));
    return {centre, half};
}

std::string chanceClass(double chance)
{
    return chance >= 0.3    ? "often (30 % of calls and more)"
           : chance >= 0.03 ? "at times (3 to 30 %)"
                            : "seldom (below 3 %)";
}

} // namespace

double Share::low() const
{
    const auto [centre, half] = wilson(k, n);
    return std::max(0.0, centre - half);
}

double Share::high() const
{
    const auto [centre, half] = wilson(k, n);
    return std::min(1.0, centre + half);
}

std::string textOf(const Share& share)
{
    return fmt::format("{:>5} of {:>5}  {:>5.1f} % [{:.1f}, {:.1f}]", share.k, share.n,
                       share.n == 0 ? 0.0 : 100.0 * share.k / share.n, 100 * share.low(), 100 * share.high());
}

void Rates::add(const Drawn& drawn, double chance, bool rejected)
{
    if (drawn.honest) {
        ++m_twins.n;
        m_twins.k += rejected ? 0 : 1;
        return;
    }
    ++m_wrong.n;
    m_wrong.k += rejected ? 1 : 0;
    const bool plain = drawn.timing == Timing::Honest; // the others have no when, where and hide
    for (const auto& [dimension, name] : {std::pair<std::string, std::string>{"task", drawn.task},
                                          {"what", whatOf(drawn)},
                                          {"when", whenOf(drawn)},
                                          {"where", whereOf(drawn)},
                                          {"hide", hideOf(drawn)},
                                          {"chance", chanceClass(chance)}}) {
        if (plain || dimension == "task" || dimension == "what") {
            Share& share = m_classes[dimension][name];
            ++share.n;
            share.k += rejected ? 1 : 0;
        }
    }
    const auto [cell, fresh] = m_cells.emplace(cellOf(drawn), rejected);
    cell->second = cell->second && rejected;
}

void Rates::print() const
{
    for (const char* dimension : {"what", "when", "where", "hide", "chance", "task"}) {
        const auto found = m_classes.find(dimension);
        if (found == m_classes.end()) {
            continue;
        }
        fmt::print("\n{}\n", dimension);
        for (const auto& [name, share] : found->second) {
            fmt::print("  {:<32} {}\n", name, textOf(share));
        }
    }
    Share cells{0, static_cast<int>(m_cells.size())};
    for (const auto& [cell, caught] : m_cells) {
        cells.k += caught ? 1 : 0;
    }
    fmt::print("\n  {:<32} {}\n  {:<32} {}\n  {:<32} {}\n", "wrong ones caught", textOf(m_wrong), "… by distinct cells",
               textOf(cells), "honest twins passed", textOf(m_twins));
}

double Rates::caughtPercent() const
{
    return m_wrong.n == 0 ? 100.0 : 100.0 * m_wrong.k / m_wrong.n;
}

} // namespace espalier::adversary_test
