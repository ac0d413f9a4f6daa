// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace espalier {

/// One way in which a model gives a kernel file, and what must be read from it.
struct AnswerForm {
    std::string name;
    std::string bytes;  ///< the answer, as it came
    std::string source; ///< blanks apart; empty: no whole file can be had from it
    std::string reason; ///< then: a part of what it is told
};

/// The entry that the kernels of the forms define.
inline const std::string formEntry = "scale_f32";
/// Every form, each with a kernel of its own.
std::vector<AnswerForm> answerForms();

} // namespace espalier
