// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/json.h"
#include "core/model/task.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::task_fields {

/// Checked reading of the small things that fields of task.json are made of. Used by the task parser only.
/// Every complaint is "FILE: FIELD: what was expected; what was found". Thread: any.

using Names = std::set<std::string, std::less<>>;

/// "FILE: FIELD: sentence", for what is wrong with a value that has the right type.
std::unexpected<Error> complain(const JsonReader& at, std::string_view sentence);
/// The same with another error's sentence.
std::unexpected<Error> complain(const JsonReader& at, const Error& cause);

bool isIdentifier(std::string_view text); ///< a C identifier that is no C++ keyword
bool isTaskName(std::string_view text);   ///< [a-z][a-z0-9_]*

Result<std::string> identifier(const JsonReader& at);
Result<std::string> taskName(const JsonReader& at);
Result<std::string> nonEmpty(const JsonReader& at);
Result<double> positive(const JsonReader& at);
Result<DataType> dataType(const JsonReader& at);
/// A relative path that stays in the folder, as text; links are the file provider's business.
Result<std::string> path(const JsonReader& at);
Result<std::vector<std::string>> strings(const JsonReader& at);

/// An expression or a plain number whose names are all in `names`.
Result<Expression> expression(const JsonReader& at, const Names& names);
Result<ValueDistribution> distribution(const JsonReader& at, DataType type);
Result<Requirements> requirements(const JsonReader& at, const Names& names);
Result<Limit> limit(const JsonReader& at);

bool isFloating(DataType type);
double unitRoundoffOf(DataType type);

/// Reads an optional field with `read` when it is there: `ESPALIER_CHECK(optional(json, "title", title, nonEmpty))`.
template <typename T, typename Read>
Result<void> optional(const JsonReader& object, const char* field, T& into, Read read)
{
    if (object.has(field)) {
        ESPALIER_TRY(const JsonReader at, object.at(field));
        ESPALIER_TRY(into, read(at));
    }
    return {};
}

template <typename T, typename Read>
Result<void> required(const JsonReader& object, const char* field, T& into, Read read)
{
    ESPALIER_TRY(const JsonReader at, object.at(field));
    ESPALIER_TRY(into, read(at));
    return {};
}

} // namespace espalier::task_fields
