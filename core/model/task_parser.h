// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/task_fields.h"
#include "core/model/task_loader.h"

#include <map>

namespace espalier {

/// Builds one Task from task.json's value; internal to the loader. Use once. Thread: one.
/// Split over task_parser.cpp (frame, files, checks over the whole), task_parser_parts.cpp (arguments, cases, contract)
/// and task_parser_probes.cpp (what the judge may try beyond the cases).
class TaskParser
{
public:
    TaskParser(const JsonReader& json, const TaskFiles& files, std::filesystem::path folder)
        : m_json(json), m_files(files), m_folder(std::move(folder))
    {
    }

    Result<Task> parse(std::string_view text);

private:
    using Names = task_fields::Names;

    Result<void> readHead();
    Result<void> readParameters();
    Result<void> readVariants();
    Result<void> readArguments();
    Result<Argument> readArgument(const JsonReader& at);
    Result<void> readArgumentType(const JsonReader& at, Argument& argument);
    Result<void> readScalar(const JsonReader& at, Argument& argument);
    Result<void> readLayout(const JsonReader& at, Argument& argument);
    Result<void> readContents(const JsonReader& at, Argument& argument);
    Result<IndexGenerator> readIndex(const JsonReader& at);
    Result<void> readComparator(const JsonReader& at, const Argument& argument);
    Result<void> checkGathers(const std::vector<JsonReader>& items);

    Result<void> readCases();
    Result<TaskCase> readCase(const JsonReader& at);
    Result<void> readCaseParameters(const JsonReader& at, TaskCase& into);
    Result<void> readCaseValues(const JsonReader& at, TaskCase& into);
    Result<void> checkRoles(const JsonReader& at);

    Result<void> readContract();
    Result<void> readTolerance();
    Result<Tolerance> readToleranceOf(const JsonReader& at, std::string output);
    void summariseTolerance();
    Result<void> readObjective();
    Result<void> readUnseen();
    Result<void> readExactIntegers();
    Result<void> readMetamorphic();
    Result<Metamorphic> readRelation(const JsonReader& at);

    Result<void> readSources();
    Result<SourceFile> source(const JsonReader& at, std::string path);
    Result<std::string> file(const JsonReader& at, const std::string& path);
    Result<void> readOracle();
    Result<void> readBaselines();
    Result<Baseline> readBaseline(const JsonReader& at);
    Result<void> readPlaybook();
    Result<PlaybookIdea> readIdea(const JsonReader& at, const JsonReader& index, const std::string& folder);
    Result<void> readRecorded();
    Result<void> readBuild();
    Result<void> readRequires();

    Result<void> checkExpressions();
    void keep(const std::string& path, std::string_view text);
    void sealHash(std::string_view text);

    const JsonReader& m_json;
    const TaskFiles& m_files;
    std::filesystem::path m_folder;
    Task m_task;
    Names m_names;                          ///< what expressions may use
    Names m_typeNames;                      ///< of the variants
    std::map<std::string, TaskFile> m_read; ///< every file that was read, by path
};

} // namespace espalier
