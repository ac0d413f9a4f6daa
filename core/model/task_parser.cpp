// SPDX-License-Identifier: Apache-2.0
#include "core/model/task_parser.h"
#include "core/model/language_standard.h"

#include "core/base/hash.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier {

using namespace task_fields;

namespace {

constexpr std::array<std::string_view, 11> flagPrefixes = {"-O",
                                                           "-std=",
                                                           "-D",
                                                           "-use_fast_math",
                                                           "--ftz=",
                                                           "--fmad=",
                                                           "--prec-div=",
                                                           "--prec-sqrt=",
                                                           "--expt-relaxed-constexpr",
                                                           "--extended-lambda",
                                                           "-maxrregcount="};
const std::vector<std::string> toolkitLibraries = {"cublas", "cublasLt", "cudnn",   "cufft",
                                                   "curand", "cusparse", "cusolver"};

/// Whole flags are compared whole; only those that end in a value may go on.
Result<std::string> buildFlag(const JsonReader& at)
{
    ESPALIER_TRY(const std::string flag, at.string());
    for (const std::string_view prefix : flagPrefixes) {
        const bool takesValue = prefix.ends_with('=') || prefix == "-O" || prefix == "-D";
        if (prefix == "-std=" && flag.starts_with(prefix) && !isStandardName(flag.substr(prefix.size()))) {
            break;
        }
        if (takesValue ? flag.starts_with(prefix) && flag.size() > prefix.size() : flag == prefix) {
            return flag;
        }
    }
    return at.complain("one of -O…, -D…, -std=c++…, -use_fast_math, --ftz=…, --fmad=…, --prec-div=…, --prec-sqrt=…, "
                       "--expt-relaxed-constexpr, --extended-lambda, -maxrregcount=…");
}

/// nlohmann keeps the last of two equal keys; a limit stated twice must not be half off in silence.
Result<void> noDuplicateKeys(std::string_view text, const std::string& name)
{
    std::vector<std::set<std::string>> open;
    std::string twice;
    const auto watch = [&](int, Json::parse_event_t event, Json& value) {
        if (event == Json::parse_event_t::object_start) {
            open.emplace_back();
        } else if (event == Json::parse_event_t::object_end) {
            open.pop_back();
        } else if (event == Json::parse_event_t::key && !open.back().insert(value.get<std::string>()).second &&
                   twice.empty()) {
            twice = value.get<std::string>();
        }
        return true;
    };
    const Json ignored = Json::parse(text, watch, false);
    if (!twice.empty()) {
        return fail(ErrorCode::InvalidInput, fmt::format("{}: the field {} stands twice in one object", name, twice));
    }
    return {};
}

} // namespace

Result<Task> parseTask(std::string_view json, const TaskFiles& files, const std::filesystem::path& folder)
{
    const std::string name = folder.empty() ? "task.json" : (folder / "task.json").string();
    ESPALIER_TRY(const Json value, parseJson(json, name));
    ESPALIER_CHECK(noDuplicateKeys(json, name));
    const JsonReader reader(value, name);
    return TaskParser(reader, files, folder).parse(json);
}

Result<Task> TaskParser::parse(std::string_view text)
{
    ESPALIER_CHECK(readHead());
    ESPALIER_CHECK(readParameters());
    ESPALIER_CHECK(readVariants());
    ESPALIER_CHECK(readArguments());
    ESPALIER_CHECK(readCases());
    ESPALIER_CHECK(readContract());
    ESPALIER_CHECK(readTolerance());
    ESPALIER_CHECK(readObjective());
    ESPALIER_CHECK(
        required(m_json, "flops", m_task.flops, [&](const JsonReader& at) { return expression(at, m_names); }));
    ESPALIER_CHECK(optional(m_json, "reduction_length", m_task.contract.reductionLength,
                            [&](const JsonReader& at) { return expression(at, m_names); }));
    ESPALIER_CHECK(readUnseen());
    ESPALIER_CHECK(readExactIntegers());
    ESPALIER_CHECK(readMetamorphic());
    ESPALIER_CHECK(readBuild());
    ESPALIER_CHECK(readRequires());
    ESPALIER_CHECK(checkExpressions());
    ESPALIER_CHECK(readSources());
    sealHash(text);
    return std::move(m_task);
}

Result<void> TaskParser::readHead()
{
    ESPALIER_TRY(const JsonReader schema, m_json.at("schema"));
    ESPALIER_TRY(const std::int64_t version, schema.integer());
    if (version != 1) {
        const auto code = version > 1 ? ErrorCode::VersionTooNew : ErrorCode::InvalidInput;
        return fail(code, fmt::format("{}: schema: expected 1; found {}; a newer Espalier may read it", m_json.name(),
                                      version));
    }
    ESPALIER_CHECK(m_json.onlyFields(
        {"schema",    "id",        "title",  "description",      "entry",     "parameters", "arguments", "variants",
         "root",      "incumbent", "oracle", "baselines",        "playbook",  "build",      "requires",  "cases",
         "objective", "contract",  "flops",  "reduction_length", "tolerance", "unseen"}));
    ESPALIER_CHECK(required(m_json, "id", m_task.id, taskName));
    ESPALIER_CHECK(required(m_json, "title", m_task.title, nonEmpty));
    ESPALIER_CHECK(
        optional(m_json, "description", m_task.description, [](const JsonReader& at) { return at.string(); }));
    m_task.entry = m_task.id;
    ESPALIER_CHECK(optional(m_json, "entry", m_task.entry, identifier));
    if (!isIdentifier(m_task.entry)) {
        return fail(
            ErrorCode::InvalidInput,
            fmt::format("{}: id: {} is a word of C++; name the function in the field entry", m_json.name(), m_task.id));
    }
    m_task.folder = m_folder.string();
    return {};
}

Result<void> TaskParser::readBuild()
{
    if (!m_json.has("build")) {
        return {};
    }
    ESPALIER_TRY(const JsonReader at, m_json.at("build"));
    ESPALIER_CHECK(at.onlyFields({"flags", "include", "deadline_s"}));
    if (at.has("flags")) {
        ESPALIER_TRY(const JsonReader list, at.at("flags"));
        ESPALIER_TRY(const auto items, list.items());
        for (const JsonReader& item : items) {
            ESPALIER_TRY(std::string flag, buildFlag(item));
            m_task.build.flags.push_back(std::move(flag));
        }
    }
    if (at.has("include")) {
        ESPALIER_TRY(const JsonReader list, at.at("include"));
        ESPALIER_TRY(const auto items, list.items());
        for (const JsonReader& item : items) {
            ESPALIER_TRY(const std::string written, nonEmpty(item));
            const std::filesystem::path root =
                (m_folder / written).lexically_normal(); // an absolute path replaces the folder
            std::error_code error;
            m_task.build.includeRoots.push_back(std::filesystem::absolute(root, error).string());
        }
    }
    ESPALIER_CHECK(optional(at, "deadline_s", m_task.build.deadlineSeconds, positive));
    return {};
}

Result<void> TaskParser::readRequires()
{
    ESPALIER_CHECK(
        optional(m_json, "requires", m_task.needs, [&](const JsonReader& at) { return requirements(at, m_names); }));
    if (m_task.needs.capabilityMajor > 0) {
        m_task.requirements.push_back(
            fmt::format("sm_{}{}", m_task.needs.capabilityMajor, m_task.needs.capabilityMinor));
    }
    return {};
}

Result<std::string> TaskParser::file(const JsonReader& at, const std::string& path)
{
    if (!m_files) {
        return std::string();
    }
    const auto text = m_files(path);
    if (!text) {
        return complain(at, text.error());
    }
    keep(path, *text);
    return *text;
}

Result<SourceFile> TaskParser::source(const JsonReader& at, std::string path)
{
    SourceFile file;
    ESPALIER_TRY(file.text, this->file(at, path));
    file.name = std::move(path);
    return file;
}

Result<void> TaskParser::readSources()
{
    JsonReader rootField = m_json;
    std::string root = "root.cu";
    if (m_json.has("root")) {
        ESPALIER_TRY(rootField, m_json.at("root"));
        ESPALIER_TRY(root, path(rootField));
    }
    const auto loaded =
        source(m_json.has("root") ? rootField : JsonReader(m_json.value(), m_json.name(), "root"), root);
    if (!loaded) {
        return std::unexpected(loaded.error());
    }
    m_task.root = *loaded;
    if (m_json.has("incumbent")) {
        ESPALIER_TRY(const JsonReader at, m_json.at("incumbent"));
        ESPALIER_TRY(std::string name, path(at));
        ESPALIER_TRY(m_task.incumbent, source(at, std::move(name)));
    }
    ESPALIER_CHECK(readOracle());
    ESPALIER_CHECK(readBaselines());
    ESPALIER_CHECK(readRecorded());
    return readPlaybook();
}

Result<void> TaskParser::readOracle()
{
    ESPALIER_TRY(const JsonReader at, m_json.at("oracle"));
    ESPALIER_TRY(const JsonReader kindField, at.at("kind"));
    ESPALIER_TRY(const std::string kind, kindField.oneOf({"cuda", "python"}));
    Oracle& oracle = m_task.oracle;
    std::string name = "oracle.cu";
    if (kind == "python") {
        oracle.kind = OracleKind::Python;
        name = "oracle.py";
        ESPALIER_CHECK(at.onlyFields({"kind", "file", "function", "scale_function"}));
        oracle.function = m_task.entry;
        ESPALIER_CHECK(optional(at, "function", oracle.function, identifier));
        ESPALIER_CHECK(optional(at, "scale_function", oracle.scaleFunction, identifier));
    } else {
        ESPALIER_CHECK(at.onlyFields({"kind", "file"}));
    }
    ESPALIER_CHECK(optional(at, "file", name, path));
    ESPALIER_TRY(oracle.source, source(JsonReader(at.value(), at.name(), "oracle.file"), name));
    return {};
}

Result<Baseline> TaskParser::readBaseline(const JsonReader& at)
{
    ESPALIER_CHECK(at.onlyFields({"id", "title", "file", "libraries", "headline", "cases"}));
    Baseline baseline;
    ESPALIER_CHECK(required(at, "id", baseline.id, taskName));
    baseline.title = baseline.id;
    ESPALIER_CHECK(optional(at, "title", baseline.title, nonEmpty));
    ESPALIER_CHECK(
        optional(at, "headline", baseline.headline, [](const JsonReader& field) { return field.boolean(); }));
    if (at.has("libraries")) {
        ESPALIER_TRY(const JsonReader list, at.at("libraries"));
        ESPALIER_TRY(const auto items, list.items());
        for (const JsonReader& item : items) {
            ESPALIER_TRY(std::string library, item.oneOf(toolkitLibraries));
            baseline.libraries.push_back(std::move(library));
        }
    }
    if (at.has("cases")) {
        ESPALIER_TRY(const JsonReader list, at.at("cases"));
        ESPALIER_TRY(const auto items, list.items());
        for (const JsonReader& item : items) {
            ESPALIER_TRY(std::string name, item.string());
            const TaskCase* one = m_task.findCase(name);
            if (!one || !one->has(CaseRole::Time)) {
                return item.complain("the name of a case with the role time");
            }
            baseline.cases.push_back(std::move(name));
        }
    }
    ESPALIER_TRY(const JsonReader fileField, at.at("file"));
    ESPALIER_TRY(std::string name, path(fileField));
    ESPALIER_TRY(baseline.source, source(fileField, std::move(name)));
    return baseline;
}

Result<void> TaskParser::readBaselines()
{
    if (!m_json.has("baselines")) {
        return {};
    }
    ESPALIER_TRY(const JsonReader list, m_json.at("baselines"));
    ESPALIER_TRY(const auto items, list.items());
    Names ids;
    int headlines = 0;
    for (const JsonReader& item : items) {
        ESPALIER_TRY(Baseline baseline, readBaseline(item));
        if (!ids.insert(baseline.id).second) {
            return complain(item, fmt::format("the id {} is used twice", baseline.id));
        }
        headlines += baseline.headline ? 1 : 0;
        if (headlines > 1) {
            return complain(item, "expected at most one baseline with headline");
        }
        m_task.baselines.push_back(std::move(baseline));
    }
    return {};
}

Result<void> TaskParser::readRecorded()
{
    const auto readAll = [&](const ValueDistribution& values, const std::string& field) -> Result<void> {
        for (const std::string& name : values.files) {
            ESPALIER_CHECK(file(JsonReader(m_json.value(), m_json.name(), field), name));
        }
        return {};
    };
    for (std::size_t i = 0; i < m_task.arguments.size(); ++i) {
        ESPALIER_CHECK(readAll(m_task.arguments[i].values, fmt::format("arguments[{}].values.recorded", i)));
    }
    for (std::size_t i = 0; i < m_task.cases.size(); ++i) {
        for (const auto& [argument, values] : m_task.cases[i].values) {
            ESPALIER_CHECK(readAll(values, fmt::format("cases[{}].values.{}.recorded", i, argument)));
        }
    }
    return {};
}

Result<void> TaskParser::readPlaybook()
{
    std::string name = "playbook/playbook.json";
    const bool stated = m_json.has("playbook");
    const JsonReader at(m_json.value(), m_json.name(), "playbook");
    ESPALIER_CHECK(optional(m_json, "playbook", name, path));
    if (!m_files) {
        return {};
    }
    const auto text = m_files(name);
    if (!text) {
        if (!stated && text.error().code == ErrorCode::NotFound) {
            return {};
        }
        return complain(at, text.error());
    }
    keep(name, *text);
    const std::string full = m_folder.empty() ? name : (m_folder / name).string();
    ESPALIER_TRY(const Json json, parseJson(*text, full));
    ESPALIER_CHECK(noDuplicateKeys(*text, full));
    const JsonReader index(json, full);
    ESPALIER_CHECK(index.onlyFields({"schema", "ideas"}));
    ESPALIER_TRY(const JsonReader schema, index.at("schema"));
    if (schema.value() != 1) {
        return schema.complain("1");
    }
    ESPALIER_TRY(const JsonReader list, index.at("ideas"));
    ESPALIER_TRY(const auto items, list.items());
    const std::size_t slash = name.rfind('/');
    for (const JsonReader& item : items) {
        ESPALIER_TRY(PlaybookIdea idea,
                     readIdea(item, index, slash == std::string::npos ? "" : name.substr(0, slash + 1)));
        m_task.playbook.push_back(std::move(idea));
    }
    return {};
}

Result<PlaybookIdea> TaskParser::readIdea(const JsonReader& at, const JsonReader&, const std::string& folder)
{
    ESPALIER_CHECK(at.onlyFields({"id", "parent", "title", "idea", "file", "requires"}));
    PlaybookIdea idea;
    ESPALIER_CHECK(required(at, "id", idea.id, taskName));
    const auto known = [&](std::string_view id) {
        return std::any_of(m_task.playbook.begin(), m_task.playbook.end(),
                           [&](const PlaybookIdea& one) { return one.id == id; });
    };
    if (idea.id == "root" || known(idea.id)) {
        return complain(at, fmt::format("the id {} is used twice", idea.id));
    }
    ESPALIER_TRY(const JsonReader parentField, at.at("parent"));
    ESPALIER_TRY(const std::string parent, parentField.string());
    if (parent != "root" && !known(parent)) {
        return parentField.complain("root or the id of an idea that stands earlier in the list");
    }
    idea.parent = parent == "root" ? "" : parent;
    ESPALIER_CHECK(required(at, "title", idea.title, nonEmpty));
    ESPALIER_CHECK(required(at, "idea", idea.text, nonEmpty));
    ESPALIER_CHECK(
        optional(at, "requires", idea.needs, [&](const JsonReader& field) { return requirements(field, m_names); }));
    ESPALIER_TRY(const JsonReader fileField, at.at("file"));
    ESPALIER_TRY(const std::string name, path(fileField));
    ESPALIER_TRY(idea.source, source(fileField, folder + name));
    return idea;
}

/// Every expression is tried on every case now, so that no run finds out later.
Result<void> TaskParser::checkExpressions()
{
    for (const TaskCase& one : m_task.cases) {
        Parameters parameters = one.parameters;
        for (const auto& [name, value] : one.realParameters) {
            parameters.emplace(name, static_cast<std::int64_t>(value));
        }
        for (const TaskVariant& variant : m_task.variants) {
            for (const auto& [name, value] : variant.constants) {
                parameters.emplace(name, value);
            }
        }
        const auto wrong = [&](const std::string& field, const std::string& sentence) {
            return fail(ErrorCode::InvalidInput,
                        fmt::format("{}: {}, case {}: {}", m_json.name(), field, one.id, sentence));
        };
        const auto whole = [&](const std::string& field, const Expression& e, std::int64_t least) -> Result<void> {
            const auto value = e.evaluateInteger(parameters);
            if (!value) {
                return wrong(field, value.error().message);
            }
            if (*value < least) {
                return wrong(field, fmt::format("\"{}\" is {}; expected at least {}", e.text(), *value, least));
            }
            return {};
        };
        for (std::size_t i = 0; i < m_task.arguments.size(); ++i) {
            const Argument& argument = m_task.arguments[i];
            const std::string place = fmt::format("arguments[{}]", i);
            for (std::size_t d = 0; d < argument.shape.size(); ++d) {
                ESPALIER_CHECK(whole(fmt::format("{}.shape[{}]", place, d), argument.shape[d], 1));
            }
            for (std::size_t d = 0; d < argument.strides.size(); ++d) {
                ESPALIER_CHECK(whole(fmt::format("{}.strides[{}]", place, d), argument.strides[d], 0));
            }
            if (argument.pitch) {
                ESPALIER_CHECK(whole(place + ".pitch", *argument.pitch, 1));
            }
            if (argument.offset) {
                ESPALIER_CHECK(whole(place + ".offset", *argument.offset, 0));
            }
            if (argument.index) {
                ESPALIER_CHECK(whole(place + ".index", argument.index->below, 1));
            }
            if (argument.scalarValue) {
                if (isFloating(argument.type)) {
                    if (const auto value = argument.scalarValue->evaluate(parameters); !value) {
                        return wrong(place + ".value", value.error().message);
                    }
                } else {
                    ESPALIER_CHECK(whole(place + ".value", *argument.scalarValue, INT64_MIN));
                    const std::int64_t value = *argument.scalarValue->evaluateInteger(parameters);
                    const bool fits = argument.type == DataType::I64 ||
                                      (argument.type == DataType::I32 && value == std::int32_t(value)) ||
                                      (argument.type == DataType::I8 && value == std::int8_t(value)) ||
                                      (argument.type == DataType::Bool && (value == 0 || value == 1));
                    if (!fits) {
                        return wrong(place + ".value", fmt::format("{} does not fit {}", value, nameOf(argument.type)));
                    }
                }
            }
            if (argument.isPointer()) {
                if (const auto count = elementCount(m_task, argument, {one.id, {}, parameters, {}, 1, {}, {}});
                    !count) {
                    return wrong(place + ".shape", count.error().message);
                }
            }
        }
        if (const auto flops = m_task.flops->evaluate(parameters); !flops || *flops < 0) {
            return wrong("flops", flops ? "expected a number of 0 or more" : flops.error().message);
        }
        if (m_task.contract.reductionLength) {
            if (const auto length = m_task.contract.reductionLength->evaluate(parameters); !length || *length <= 0) {
                return wrong("reduction_length", length ? "expected a number above 0" : length.error().message);
            }
        }
    }
    return {};
}

void TaskParser::keep(const std::string& path, std::string_view text)
{
    constexpr std::size_t largestCarried = std::size_t{16} << 20;
    m_read[path] = {sha256(text), text.size() <= largestCarried ? std::make_shared<const std::string>(text) : nullptr};
}

void TaskParser::sealHash(std::string_view text)
{
    keep("task.json", text);
    std::string all = "espalier task 1\n";
    for (const auto& [name, file] : m_read) {
        all += fmt::format("{} {}:{}\n", file.hash, name.size(), name);
    }
    m_task.hash = sha256(all);
    m_task.files = std::move(m_read);
    m_task.json = text;
}

} // namespace espalier
