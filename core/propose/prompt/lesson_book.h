// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// What a lesson was learned on. A value.
struct LessonStamp {
    std::string task, device, day;
};

/// The lessons of a model's answer: its list items, each one line of plain text, up to `mostLessons` of them; what
/// repeats an earlier item is left out. Everything else of the answer is ignored. Pure.
std::vector<std::string> readLessons(std::string_view answer);
constexpr std::size_t mostLessons = 12;

/// The notebook with the lessons that it does not hold yet at its end, one a line: `- [task, device, day] lesson`.
/// Lines of a person's own stay. Over `limit` bytes the oldest lessons go. Pure. `added`: how many were new.
std::string mergeLessons(std::string_view notebook, const std::vector<std::string>& lessons, const LessonStamp& stamp,
                         std::size_t limit, int& added);
constexpr std::size_t longestNotebook = std::size_t{16} << 10;

/// Merges lessons into the file, which is replaced at once or left alone; runs that end together wait for each other.
/// How many were new: with none, nothing is written. Errors: the file's.
Result<int> keepLessons(const std::filesystem::path& file, const std::vector<std::string>& lessons,
                        const LessonStamp& stamp);

} // namespace espalier
