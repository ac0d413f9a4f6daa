// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/model/task.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// What another edition of a task means for records that were made under an earlier one.
struct EditionChange {
    std::vector<std::string> parts; ///< by role, sorted; empty: nothing has changed
    bool prototype = false;         ///< another operation: kernels of one cannot serve the other
    bool gate = false;              ///< candidates must pass the gate again
    bool timing = false;            ///< and be timed again
    bool objective = false;         ///< the same times add up to another figure
    bool root = false;              ///< ratios are over another kernel
    bool stale() const { return gate || timing; }
};

/// A task taken apart: content hashes by role, and the texts behind them. Roles are "prototype", "shapes", "values",
/// "verified", "timed", "weights", "tolerance", "oracle", "root", "incumbent", "baselines", "playbook", "build",
/// "headers", "flops", "words", and "file:PATH" for each file of the task's folder ("include:PATH" for headers in
/// include folders of its own), of which the task can be put together again. A value. Thread: any.
class TaskParts
{
public:
    /// Text of a content hash; nullopt: it is not kept.
    using Texts = std::function<Result<std::optional<std::string>>(const std::string& hash)>;

    /// Reads the headers in the task's own include folders, at most 16 MiB in all; what is more, and folders outside of
    /// the task's, stay where they are.
    static TaskParts of(const Task& task);
    /// Errors: InvalidInput: this is no JSON object of texts.
    static Result<TaskParts> fromJson(std::string_view json);

    std::string toJson() const; ///< role -> hash
    const std::map<std::string, std::string>& hashes() const { return m_hashes; }
    const std::map<std::string, std::string>& texts() const { return m_texts; } ///< by hash; empty after fromJson
    bool carriesTask() const { return m_hashes.contains("file:task.json"); }
    EditionChange changesTo(const TaskParts& newer) const;

    /// The task, from its texts. `folder` is where it once stood: messages name it, and files too large to be carried
    /// are read there. Headers of its own are written to the cache folder, where compilers find them.
    /// Errors: NotFound for a text that is missing, the parser's, Io.
    Result<Task> compose(const Texts& texts, const std::string& folder) const;

private:
    void add(std::string role, std::string text);
    void addHeaders(const Task& task);
    Result<std::string> headersFolder(const Texts& texts) const;

    std::map<std::string, std::string> m_hashes, m_texts;
};

} // namespace espalier
