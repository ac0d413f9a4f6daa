// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/json.h"
#include "core/model/node.h"

#include <string>
#include <string_view>

namespace espalier {

/// How a node's verdict and figures read, in the report, on the command line and in what is exported. Thread: any.

/// "passed", "not_run (no_source)", "incorrect by hand": a person's word never looks like the judge's.
std::string outcomeText(const NodeSummary& node);
/// The judge's reason; of an overturned node the person's, with the judge's verdict beside it; may be empty.
std::string reasonText(const NodeSummary& node);
/// Both: "incorrect by hand: wrong for my data (the judge: passed: verified)".
std::string verdictText(const NodeSummary& node);
/// What the judge had said of an overturned node: "passed: verified".
std::string judgedText(const NodeSummary& node);
Json overturnJson(const std::optional<Overturn>& overturned); ///< null: the judge's word stands

/// "≈" before a modelled figure, nothing before a measured one.
std::string_view signOf(Provenance provenance);
/// A sentence whose figures are modelled: "L2 at 41 % of 3 roofs" is "L2 at ≈41 % of ≈3 roofs". Measured: as it is.
std::string marked(std::string_view sentence, Provenance provenance);
/// "≈1.82x [1.80, 1.84]": a modelled figure never looks like a measured one, and one without noise has no interval.
std::string speedupText(const Interval& speedup, Provenance provenance);
/// "12.3 us" or "≈12.3 us".
std::string timeText(double microseconds, Provenance provenance);

} // namespace espalier
