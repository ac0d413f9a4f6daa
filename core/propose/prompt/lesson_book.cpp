// SPDX-License-Identifier: Apache-2.0
#include "core/propose/prompt/lesson_book.h"

#include "core/base/fd.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/propose/llm/idea_filter.h"

#include <algorithm>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

namespace espalier {
namespace {

constexpr std::size_t longestLesson = 400;
constexpr std::size_t shortestLesson = 12; ///< less is no sentence

std::string plain(std::string_view text, std::size_t limit)
{
    std::string line = printable(trimmed(text), limit);
    std::replace(line.begin(), line.end(), '\n', ' ');
    return line;
}

bool isItem(std::string_view line)
{
    return line.starts_with("- ") || line.starts_with("* ");
}

/// A line of the notebook without what it was learned on.
std::string_view wordsOf(std::string_view line)
{
    line.remove_prefix(2);
    const std::size_t end = line.starts_with("[") ? line.find("] ") : std::string_view::npos;
    return end == std::string_view::npos ? line : line.substr(end + 2);
}

bool known(const std::vector<std::string>& all, std::string_view lesson)
{
    return std::any_of(all.begin(), all.end(),
                       [lesson](const std::string& one) { return likeness(one, lesson) >= nearDuplicate; });
}

} // namespace

std::vector<std::string> readLessons(std::string_view answer)
{
    std::vector<std::string> lessons;
    for (const std::string_view line : splitLines(answer)) {
        if (!isItem(line) || lessons.size() >= mostLessons) {
            continue;
        }
        std::string lesson = plain(wordsOf(line), longestLesson);
        if (lesson.size() >= shortestLesson && !known(lessons, lesson)) {
            lessons.push_back(std::move(lesson));
        }
    }
    return lessons;
}

std::string mergeLessons(std::string_view notebook, const std::vector<std::string>& lessons, const LessonStamp& stamp,
                         std::size_t limit, int& added)
{
    added = 0;
    std::vector<std::string> lines, words;
    for (const std::string_view line : splitLines(notebook)) {
        lines.emplace_back(line);
        if (isItem(line)) {
            words.emplace_back(wordsOf(line));
        }
    }
    for (const std::string& lesson : lessons) {
        if (!known(words, lesson)) {
            lines.push_back(
                fmt::format("- [{}, {}, {}] {}", plain(stamp.task, 80), plain(stamp.device, 80), stamp.day, lesson));
            words.push_back(lesson);
            ++added;
        }
    }
    std::size_t size = 0;
    for (const std::string& line : lines) {
        size += line.size() + 1;
    }
    for (auto oldest = lines.begin(); size > limit && oldest != lines.end();) {
        if (!isItem(*oldest)) {
            ++oldest;
            continue;
        }
        size -= oldest->size() + 1;
        oldest = lines.erase(oldest);
    }
    std::string text;
    for (const std::string& line : lines) {
        text += line + "\n";
    }
    return text;
}

Result<int> keepLessons(const std::filesystem::path& file, const std::vector<std::string>& lessons,
                        const LessonStamp& stamp)
{
    ESPALIER_CHECK(makeDirectories(file.parent_path()));
    const std::string lockFile = file.string() + ".lock";
    const UniqueFd lock(::open(lockFile.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
    if (lock.get() >= 0) {
        (void)::flock(lock.get(), LOCK_EX); // held for one short write by others; where there are no locks, go without
    }
    std::string before;
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored)) {
        ESPALIER_TRY(before, readFile(file, std::size_t{1} << 20));
    }
    int added = 0;
    const std::string after = mergeLessons(before, lessons, stamp, longestNotebook, added);
    if (added > 0) {
        ESPALIER_CHECK(writeFileAtomically(file, after));
    }
    return added;
}

} // namespace espalier
