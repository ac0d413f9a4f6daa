// SPDX-License-Identifier: Apache-2.0
#include "core/search/beam.h"
#include "core/search/evolution.h"
#include "core/search/manual.h"
#include "core/search/refine.h"
#include "core/search/sample.h"
#include "core/search/strategy_words.h"
#include "core/search/ucb.h"

namespace espalier {

std::vector<StrategyDescription> strategyDescriptions()
{
    const Beam::Parameters beam;
    const Refine::Parameters refine;
    const Ucb::Parameters ucb;
    const Evolution::Parameters evolution;
    return {
        {"refine",
         "deeper from what is fast: new ideas first, then series of tries",
         {{"parents", static_cast<double>(refine.seriesParents), 1, 1000, "kernels whose series are worked on"},
          {"fatigue", refine.fatigue, 0.01, 1, "factor on a series' promise for each of its tries"}}},
        {"beam",
         "rounds: the fastest few and a bank of other kinds survive",
         {{"width", static_cast<double>(beam.width), 1, 1000, "kernels that survive a round"},
          {"bank", static_cast<double>(beam.bank), 0, 1000, "survivors of other branches"},
          {"tries", static_cast<double>(beam.tries), 1, 1000, "implementations of an idea in a round"},
          {"step", static_cast<double>(beam.step), 1, 1000, "tries of a series in a row"}}},
        {"ucb",
         "best first, with a bound learned from what lineages gained",
         {{"explore", ucb.explore, 0, 100, "weight of what is not known"}}},
        {"evolution",
         "islands with migration, an elite of each kind of kernel, crossover",
         {{"islands", static_cast<double>(evolution.islands), 1, 100, "islands"},
          {"migration", static_cast<double>(evolution.migration), 1, 1000, "turns from one immigrant to the next"},
          {"cross", evolution.cross, 0, 1, "probability of a crossover"},
          {"pressure", evolution.pressure, 0.01, 1, "chance to take the best elite"}}},
        {"sample", "independent tries from the roots, in a drawn order", {}},
        {"manual", "waits for the engineer: pinned kernels, pinned and boosted ideas", {}},
    };
}

Result<std::unique_ptr<Strategy>> makeStrategy(std::string_view words, std::uint64_t seed)
{
    ESPALIER_TRY(const StrategyWords read, StrategyWords::read(words));
    if (read.name() == "beam") {
        return std::make_unique<Beam>(
            Beam::Parameters{read.whole("width"), read.whole("bank"), read.whole("tries"), read.whole("step")});
    }
    if (read.name() == "ucb") {
        return std::make_unique<Ucb>(Ucb::Parameters{read.number("explore")});
    }
    if (read.name() == "evolution") {
        return std::make_unique<Evolution>(seed, Evolution::Parameters{read.whole("islands"), read.whole("migration"),
                                                                       read.number("cross"), read.number("pressure")});
    }
    if (read.name() == "sample") {
        return std::make_unique<Sample>(seed);
    }
    if (read.name() == "manual") {
        return std::make_unique<Manual>();
    }
    return std::make_unique<Refine>(
        Refine::Parameters{static_cast<std::size_t>(read.whole("parents")), read.number("fatigue")});
}

} // namespace espalier
