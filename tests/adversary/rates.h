// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/adversary/grammar.h"

#include <map>
#include <set>
#include <string>
#include <utility>

namespace espalier::adversary_test {

/// A share with its 95 % interval by Wilson's score: k of n.
struct Share {
    int k = 0, n = 0;
    double low() const;
    double high() const;
};
std::string textOf(const Share& share); ///< "97 of 100, 97.0 % [91.5, 99.0]"

/// How many of the wrong ones were rejected and how many of the twins passed, by class. A cell of the grammar counts
/// once in the last line: caught where all of its candidates were.
class Rates
{
public:
    void add(const Drawn& drawn, double chance, bool rejected);
    void print() const;
    double caughtPercent() const; ///< of the wrong ones; 100 where there are none

private:
    std::map<std::string, std::map<std::string, Share>> m_classes; ///< dimension → class → caught
    std::map<std::string, bool> m_cells;                           ///< all of its candidates were caught
    Share m_wrong, m_twins;
};

} // namespace espalier::adversary_test
