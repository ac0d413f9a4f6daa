// SPDX-License-Identifier: Apache-2.0
#include "core/model/task_loader.h"

#include "core/base/file.h"
#include "core/base/json.h"

#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <random>

namespace espalier {
namespace {

namespace fs = std::filesystem;

/// A task that uses every key of schema 1 that fits together.
const char* const wholeText = R"json({
  "schema": 1, "id": "whole", "title": "Everything", "description": "words", "entry": "whole_entry",
  "parameters": ["rows", "cols"],
  "variants": [{"name": "half", "types": {"T": "f16"}, "constants": {"HEAD": 64}}, {"name": "single", "types": {"T": "f32"}, "constants": {"HEAD": 128}}],
  "arguments": [
    {"name": "x", "kind": "input", "dtype": "T", "shape": ["rows", "cols"], "pitch": "cols + 8", "offset": 4, "alignment": "2 * HEAD", "values": {"distribution": "uniform", "low": -1, "high": 1}},
    {"name": "w", "kind": "const", "dtype": "bf16", "shape": ["cols"], "values": {"recorded": ["data/a.npy", "data/b.npy"]}},
    {"name": "idx", "kind": "input", "dtype": "i32", "shape": ["rows + 1"], "index": {"generator": "ragged", "total": "cols"}},
    {"name": "acc", "kind": "inout", "dtype": "f32", "shape": ["rows"], "strides": [2], "alignment": 512},
    {"name": "top", "kind": "output", "dtype": "i64", "shape": ["rows", 4], "compare": {"as": "index", "gather": "x"}},
    {"name": "q", "kind": "output", "dtype": "i8", "shape": [], "compare": {"as": "code"}},
    {"name": "eps", "kind": "scalar", "dtype": "f32", "value": 1e-5},
    {"name": "causal", "kind": "scalar", "dtype": "bool", "value": true},
    {"name": "n", "kind": "scalar", "dtype": "i64", "value": "ceildiv(cols, 3)"
}
  ],
  "root": "src/root.cu", "incumbent": "src/old.cu",
  "oracle": {"kind": "python", "file": "oracle.py", "function": "reference", "scale_function": "magnitudes"},
  "baselines": [{"id": "lib", "title": "Library", "file": "baseline_lib.cu", "libraries": ["cublas"], "headline": true, "cases": ["big"]}],
  "build": {"flags": ["-O3", "-DN=4", "--ftz=true"], "include": ["inc"], "deadline_s": 30},
  "requires": {"compute_capability": "9.0", "device_bytes": "rows * 8"},
  "cases": [
    {"name": "big", "parameters": {"rows": 4096, "cols": 64}, "roles": ["time", "verify"], "weight": 2, "variant": "half"},
    {"name": "small", "parameters": {"rows": 3, "cols": 7.0}, "roles": ["verify", "simulate"], "values": {"x": {"distribution": "heavy_tail"}}}
  ],
  "objective": {"mean": "arithmetic", "guard": 1.1},
  "contract": {"precision": "f16", "unit_roundoff": 0.0005, "internal": ["f32"], "determinism": "bitwise", "limits": ["registers <= 128", "tensor_instructions==0"]},
  "flops": "5 * rows * cols", "reduction_length": "cols",
  "tolerance":
  {
      "acc":
      {
          "element_factor" : 32, "reason" : "measured", "noise_floor":
          {
              "element" : 21.5, "norm" : 3.1, "implementations" : [ "a", "b" ]
          }
      }
  }
  })json";

/// The smallest task: what every test below changes one thing of.
Json small()
{
    return Json::parse(R"({
      "schema": 1, "id": "copy", "title": "Copy", "parameters": ["n"],
      "arguments": [{"name": "x", "kind": "input", "dtype": "f32", "shape": ["n"]},
                    {"name": "y", "kind": "output", "dtype": "f32", "shape": ["n"]},
                    {"name": "n", "kind": "scalar", "dtype": "i64", "value": "n"}],
      "oracle": {"kind": "cuda"}, "contract": {"precision": "f32"}, "flops": "0",
      "cases": [{"name": "a", "parameters": {"n": 64}, "roles": ["verify", "time"]}]})");
}

std::string errorOf(const Json& json)
{
    const auto task = parseTask(json.dump());
    return task ? "no error" : task.error().message;
}

/// The task with the value at `pointer` replaced; "-" appends.
std::string with(const char* pointer, Json value)
{
    Json json = small();
    json[Json::json_pointer(pointer)] = std::move(value);
    return errorOf(json);
}

std::string without(const char* field)
{
    Json json = small();
    json.erase(field);
    return errorOf(json);
}

class Folder
{
public:
    explicit Folder(const Json& json = small())
    {
        write("task.json", json.dump()).write("root.cu", "root").write("oracle.cu", "oracle");
    }
    Folder& write(const std::string& name, std::string_view text)
    {
        fs::create_directories((m_scratch.path() / name).parent_path());
        EXPECT_TRUE(writeFileAtomically(m_scratch.path() / name, text).has_value());
        return *this;
    }
    fs::path path() const { return m_scratch.path(); }
    std::string error() const
    {
        const auto task = loadTask(path().string());
        return task ? "no error" : task.error().message;
    }

private:
    ScratchFolder m_scratch = *ScratchFolder::create("task");
};

TEST(TaskLoader, WholeSchema)
{
    Folder folder(Json::parse(wholeText));
    for (const char* name : {"src/root.cu", "src/old.cu", "oracle.py", "baseline_lib.cu", "data/a.npy", "data/b.npy",
                             "inc/h.h", "playbook/one.cu", "playbook/two.cu"}) {
        folder.write(name, name);
    }
    folder.write("playbook/playbook.json", R"({"schema": 1, "ideas": [
        {"id": "one", "parent": "root", "title": "One", "idea": "First.", "file": "one.cu"},
        {"id": "two", "parent": "one", "title": "Two", "idea": "Second.", "file": "two.cu", "requires": {"compute_capability": "9.0"}}]})");
    const auto task = loadTask(folder.path().string());
    ASSERT_TRUE(task.has_value()) << task.error().message;
    EXPECT_EQ(task->entry, "whole_entry");
    EXPECT_EQ(task->variants.size(), 2u);
    EXPECT_EQ(task->arguments[0].type, DataType::F16);
    EXPECT_EQ(task->arguments[0].typeName, "T");
    EXPECT_EQ(task->arguments[0].offset->text(), "4");
    EXPECT_TRUE(task->arguments[0].alignmentExpression.has_value());
    EXPECT_EQ(task->arguments[1].values.files.size(), 2u);
    EXPECT_TRUE(task->arguments[2].index->ragged);
    EXPECT_EQ(task->arguments[3].alignment, 512u);
    EXPECT_EQ(task->arguments[7].scalarValue->evaluateInteger({}), 1);
    EXPECT_EQ(task->contract.comparators.size(), 3u);
    EXPECT_EQ(task->contract.comparators[1].gather, "x");
    EXPECT_EQ(task->toleranceOf("acc").elementFactor, 32);
    EXPECT_EQ(task->toleranceOf("q").elementFactor, 16);
    EXPECT_EQ(task->contract.limits[1].what, "tensor_instructions");
    EXPECT_EQ(task->root.text, "src/root.cu");
    EXPECT_EQ(task->incumbent->text, "src/old.cu");
    EXPECT_EQ(task->baselines[0].cases, std::vector<std::string>{"big"});
    EXPECT_EQ(task->build.includeRoots, std::vector<std::string>{(folder.path() / "inc").string()});
    EXPECT_EQ(task->cases[1].realParameters.at("cols"), 7.0);
    EXPECT_EQ(task->valuesOf(task->arguments[0], task->cases[1]).kind, DistributionKind::HeavyTail);
    EXPECT_EQ(task->playbook[1].parent, "one");
    EXPECT_EQ(task->playbook[0].parent, "");
    EXPECT_EQ(task->playbook[1].source.text, "playbook/two.cu");
    EXPECT_EQ(task->needs.capabilityMajor, 9);
    EXPECT_FALSE(task->objective.geometricMean);
    EXPECT_EQ(task->hash.size(), 64u);
    EXPECT_EQ(Json::parse(task->json), Json::parse(wholeText));
}

TEST(TaskLoader, DefaultsOfTheSmallestTask)
{
    const auto task = parseTask(small().dump());
    ASSERT_TRUE(task.has_value()) << task.error().message;
    EXPECT_EQ(task->entry, "copy");
    EXPECT_EQ(task->arguments[0].values.kind, DistributionKind::Normal);
    EXPECT_EQ(task->contract.unitRoundoff, std::ldexp(1.0, -24));
    EXPECT_EQ(task->contract.allowedInternal, (std::vector<std::string>{"f64", "f32"}));
    EXPECT_EQ(task->oracle.source.name, "oracle.cu");
    EXPECT_EQ(task->root.name, "root.cu");
    EXPECT_TRUE(task->objective.geometricMean);
    EXPECT_TRUE(checkSupported(*task).has_value());
}

TEST(TaskLoader, ErrorsNameFileFieldAndExpectation)
{
    EXPECT_EQ(without("title"), "task.json: title: this field is missing");
    EXPECT_EQ(without("flops"), "task.json: flops: this field is missing");
    EXPECT_EQ(with("/schema", 2), "task.json: schema: expected 1; found 2; a newer Espalier may read it");
    EXPECT_EQ(with("/id", "Copy"), "task.json: id: expected a name of small letters, digits and _; found \"Copy\"");
    EXPECT_EQ(with("/entry", "float"), "task.json: entry: expected a C identifier; found \"float\"");
    EXPECT_NE(with("/limit", 1).find("task.json: limit: unknown field; expected one of schema, id"), std::string::npos);
    EXPECT_EQ(with("/cases/0/roles", {"tiem"}),
              "task.json: cases[0].roles[0]: expected one of verify, time, simulate; found \"tiem\"");
    EXPECT_EQ(with("/cases/0/roles", {"verify"}), "task.json: cases: expected at least one case with the role time");
    EXPECT_EQ(with("/cases/0/weight", 0),
              "task.json: cases: expected a weight above 0 in at least one case with the role time");
    EXPECT_EQ(with("/cases/0/parameters", Json::object()),
              "task.json: cases[0].parameters: the parameter n is missing");
    EXPECT_EQ(with("/cases/0/parameters/m", 3),
              "task.json: cases[0].parameters.m: unknown parameter; expected one of n");
    EXPECT_EQ(with("/arguments/0/kind", "in"),
              "task.json: arguments[0].kind: expected one of input, output, inout, scalar, const; found \"in\"");
    EXPECT_EQ(with("/arguments/0/dtype", "fp32"), "task.json: arguments[0].dtype: expected one of f64, f32, tf32, "
                                                  "f16, bf16, fp8e4m3, fp8e5m2, i8, i32, i64, bool; found \"fp32\"");
    EXPECT_EQ(with("/arguments/0/shape/0", "m"),
              "task.json: arguments[0].shape[0]: expected an expression over n; found the unknown name m");
    EXPECT_EQ(with("/arguments/0/shape/0", "n / 3"),
              "task.json: arguments[0].shape[0], case a: expression \"n / 3\": 21.3333 is not a whole number");
    EXPECT_EQ(with("/arguments/0/shape/0", "n - 64"),
              "task.json: arguments[0].shape[0], case a: \"n - 64\" is 0; expected at least 1");
    EXPECT_EQ(with("/arguments/0/name", "stream"),
              "task.json: arguments[0]: the name stream belongs to the prototype; choose another");
    EXPECT_EQ(with("/arguments/1/name", "x"), "task.json: arguments[1]: the name x is used twice");
    EXPECT_EQ(with("/arguments/1/kind", "input"),
              "task.json: arguments: expected at least one argument of kind output or inout");
    EXPECT_NE(with("/arguments/1/values", Json::object()).find("arguments[1].values: unknown field"),
              std::string::npos);
    EXPECT_EQ(with("/arguments/0/strides", {1, 2}),
              "task.json: arguments[0].strides: expected one stride for each of the 1 dimensions; found [1,2]");
    EXPECT_EQ(with("/arguments/0/alignment", 48),
              "task.json: arguments[0].alignment: expected a power of two of at least the element's size; found 48");
    EXPECT_EQ(with("/arguments/2/dtype", "i8"), "no error");
    EXPECT_EQ(with("/arguments/2/value", "n * 1000000000000"), "no error");
    EXPECT_EQ(with("/contract/precision", "i32"),
              "task.json: contract.precision: expected a floating dtype; found \"i32\"");
    EXPECT_NE(with("/contract/limits", {"register <= 3"}).find("contract.limits[0]: expected a predicate such as"),
              std::string::npos);
    EXPECT_NE(with("/contract/limits", {"registers <= x"}).find("contract.limits[0]"), std::string::npos);
    EXPECT_EQ(with("/build", {{"flags", {"-std=c++20"}}}), "no error");
    EXPECT_NE(with("/build", {{"flags", {"-std=c++20 -Xcompiler"}}}).find("build.flags[0]: expected one of -O"),
              std::string::npos);
    EXPECT_NE(with("/build", {{"flags", {"-Xcompiler"}}}).find("build.flags[0]: expected one of -O"),
              std::string::npos);
    EXPECT_NE(with("/build", {{"flags", {"-use_fast_math=x"}}}).find("build.flags[0]"), std::string::npos);
    EXPECT_EQ(
        with("/root", "../root.cu"),
        "task.json: root: expected a path within the task's folder, with / between folders; found \"../root.cu\"");
    EXPECT_EQ(
        with("/root", "/etc/passwd"),
        "task.json: root: expected a path within the task's folder, with / between folders; found \"/etc/passwd\"");
    EXPECT_EQ(with("/tolerance", {{"y", {{"element_factor", 17}}}}),
              "task.json: tolerance.y: a factor above the standard (16, 8, 0.45) needs reason and noise_floor");
    EXPECT_EQ(with("/tolerance", {{"x", {{"element_factor", 1}}}}),
              "task.json: tolerance.x: expected the name of an output");
    EXPECT_NE(with("/requires", {{"compute_capability", "9"}}).find("requires.compute_capability"), std::string::npos);
    EXPECT_NE(with("/baselines", {{{"id", "a"}, {"file", "a.cu"}, {"libraries", {"foo"}}}})
                  .find("baselines[0].libraries[0]: expected one of cublas"),
              std::string::npos);
    EXPECT_EQ(parseTask("{\"schema\": 1, \"schema\": 1}").error().message,
              "task.json: the field schema stands twice in one object");
    EXPECT_NE(parseTask("{\"schema\": 1,\n \"id\": }").error().message.find("task.json: line 2, column"),
              std::string::npos);
}

TEST(TaskLoader, ScalarsMustFit)
{
    Json json = small();
    json["arguments"][2]["dtype"] = "i8";
    json["cases"][0]["parameters"]["n"] = 128;
    EXPECT_EQ(errorOf(json), "task.json: arguments[2].value, case a: 128 does not fit i8");
    json["arguments"][2]["dtype"] = "bool";
    EXPECT_EQ(errorOf(json), "task.json: arguments[2].value, case a: 128 does not fit bool");
}

TEST(TaskLoader, FilesOfTheFolder)
{
    Folder folder;
    EXPECT_EQ(folder.error(), "no error");
    fs::remove(folder.path() / "oracle.cu");
    EXPECT_EQ(folder.error(),
              fmt::format("{0}/task.json: oracle.file: the file {0}/oracle.cu is missing", folder.path().string()));
    fs::create_symlink("/etc/hostname", folder.path() / "oracle.cu");
    EXPECT_NE(folder.error().find("oracle.cu is a link that leaves the task's folder"), std::string::npos);
    fs::remove(folder.path() / "oracle.cu");
    fs::create_directory(folder.path() / "oracle.cu");
    EXPECT_NE(folder.error().find("is no file"), std::string::npos);
}

TEST(TaskLoader, PlaybookIsChecked)
{
    Folder folder;
    folder.write("playbook/a.cu", "a");
    const auto playbook = [&](const char* text) { return folder.write("playbook/playbook.json", text).error(); };
    const std::string place = (folder.path() / "playbook/playbook.json").string();
    EXPECT_EQ(
        playbook(R"({"schema": 1, "ideas": [{"id": "a", "parent": "b", "title": "t", "idea": "i", "file": "a.cu"}]})"),
        place + ": ideas[0].parent: expected root or the id of an idea that stands earlier in the list; found \"b\"");
    EXPECT_NE(
        playbook(
            R"({"schema": 1, "ideas": [{"id": "a", "parent": "root", "title": "t", "idea": "i", "file": "b.cu"}]})")
            .find("b.cu is missing"),
        std::string::npos);
    EXPECT_EQ(
        playbook(
            R"({"schema": 1, "ideas": [{"id": "a", "parent": "root", "title": "t", "idea": "i", "file": "a.cu"}]})"),
        "no error");
}

TEST(TaskLoader, HashCoversEveryFile)
{
    Folder folder;
    const std::string before = loadTask(folder.path().string())->hash;
    EXPECT_EQ(loadTask(folder.path().string())->hash, before);
    folder.write("oracle.cu", "oracle 2");
    const std::string after = loadTask(folder.path().string())->hash;
    EXPECT_NE(after, before);
    folder.write("unrelated.txt", "x");
    EXPECT_EQ(loadTask(folder.path().string())->hash, after);
}

TEST(TaskLoader, NamesAndFolders)
{
    Folder folder;
    ::setenv("ESPALIER_TASKS", folder.path().parent_path().c_str(), 1);
    const std::string name = folder.path().filename().string();
    const auto names = listTasks();
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end());
    EXPECT_NE(loadTask(name).error().message.find("id: expected the folder's name"), std::string::npos);
    ::setenv("ESPALIER_TASKS", "/nowhere", 1);
    EXPECT_TRUE(listTasks().empty());
    EXPECT_EQ(loadTask("nothing").error().message,
              "nothing is neither a built-in task (none in /nowhere) nor a folder that holds a task.json");
    EXPECT_EQ(loadTask("nothing").error().code, ErrorCode::NotFound);
    EXPECT_TRUE(loadTask((folder.path() / "task.json").string()).has_value());
    ::unsetenv("ESPALIER_TASKS");
}

TEST(TaskLoader, BuiltInTasksAreWellFormed)
{
    const auto names = listTasks();
    EXPECT_FALSE(names.empty());
    for (const std::string& name : names) {
        const auto task = loadTask(name);
        ASSERT_TRUE(task.has_value()) << task.error().message;
        EXPECT_TRUE(checkSupported(*task).has_value()) << checkSupported(*task).error().message;
    }
}

TEST(TaskSupport, EveryGapIsNamed)
{
    const auto answer = [](const char* pointer, Json value) -> std::string {
        Json json = small();
        json[Json::json_pointer(pointer)] = std::move(value);
        const auto task = parseTask(json.dump());
        if (!task) {
            return task.error().message;
        }
        const auto served = checkSupported(*task);
        return served ? "served" : served.error().message.substr(0, served.error().message.find(": ", 15));
    };
    EXPECT_EQ(answer("/oracle", {{"kind", "python"}}), "not_supported: oracle.kind");
    EXPECT_EQ(answer("/variants", {{{"name", "v"}}}), "not_supported: variants");
    EXPECT_EQ(answer("/arguments/0/dtype", "fp8e4m3"), "not_supported: arguments[0].dtype");
    EXPECT_EQ(answer("/arguments/0/dtype", "bf16"), "served");
    EXPECT_EQ(answer("/arguments/0/kind", "const"), "served");
    EXPECT_EQ(answer("/arguments/1/kind", "inout"), "not_supported: arguments[1].kind");
    EXPECT_EQ(answer("/arguments/0/strides", {1}), "not_supported: arguments[0].strides");
    EXPECT_EQ(answer("/arguments/0/offset", 0), "served");
    EXPECT_EQ(answer("/arguments/0/offset", 1), "not_supported: arguments[0].offset");
    EXPECT_EQ(answer("/arguments/0/alignment", 512), "not_supported: arguments[0].alignment");
    EXPECT_EQ(answer("/arguments/0/alignment", 16), "served");
    EXPECT_EQ(answer("/arguments/0/values", {{"recorded", "x.npy"}}), "not_supported: arguments[0].values.recorded");
    EXPECT_EQ(answer("/cases/0/values", {{"x", {{"recorded", "x.npy"}}}}), "not_supported: cases[0].values.x.recorded");
    EXPECT_EQ(answer("/arguments/1/compare", {{"as", "code"}}), "not_supported: arguments.y.compare.as");
    EXPECT_EQ(answer("/contract/determinism", "bitwise"), "served");
    EXPECT_EQ(answer("/contract/limits", {"registers <= 64"}), "served");
    EXPECT_EQ(answer("/contract/limits", {"launches <= 1", "tensor_instructions == 0"}), "served");
    EXPECT_EQ(answer("/incumbent", "old.cu"), "served");
    EXPECT_EQ(answer("/objective", {{"guard", 2}}), "served");
    EXPECT_EQ(answer("/cases/0/parameters/n", 64.0), "not_supported: cases[0].parameters.n");
    EXPECT_EQ(answer("/requires", {{"device_bytes", 1}}), "not_supported: requires.device_bytes");
}

TEST(TaskLoader, ReadsWhatTheJudgeMayTryBeyondTheCases)
{
    Json json = small();
    json["unseen"] = {{"n", {{"multiple_of", 8}, {"max", 4096}}}};
    json["reduction_length"] = "n";
    json["contract"]["exact_integers"] = {{"degree", 2}};
    json["contract"]["metamorphic"] = Json::parse(R"([{"relation": "scale", "inputs": ["x"], "power": -1}])");
    json["arguments"][0]["stress"] = false;
    const auto task = parseTask(json.dump());
    ASSERT_TRUE(task) << task.error().message;
    EXPECT_TRUE(task->unseenCases);
    EXPECT_EQ(task->unseen.at("n").multipleOf, 8);
    EXPECT_EQ(task->unseen.at("n").least, 8);
    EXPECT_EQ(task->unseen.at("n").most, 4096);
    EXPECT_EQ(task->contract.exactDegree, 2);
    ASSERT_EQ(task->contract.metamorphic.size(), 1U);
    EXPECT_EQ(task->contract.metamorphic[0].power, -1);
    EXPECT_FALSE(task->arguments[0].stress);

    const auto answer = [](const char* pointer, Json value) {
        Json changed = small();
        changed[Json::json_pointer(pointer)] = std::move(value);
        const auto parsed = parseTask(changed.dump());
        return parsed ? std::string("read") : parsed.error().message;
    };
    EXPECT_EQ(answer("/unseen", false), "read");
    EXPECT_EQ(answer("/unseen", {{"n", "fixed"}}), "read");
    EXPECT_NE(answer("/unseen", {{"m", "fixed"}}).find("unseen.m: expected the name of a parameter"),
              std::string::npos);
    EXPECT_NE(answer("/unseen", {{"n", {{"multiple_of", 8}, {"min", 9}, {"max", 15}}}}).find("unseen.n"),
              std::string::npos);
    EXPECT_NE(answer("/contract/exact_integers", {{"degree", 2}}).find("reduction_length"), std::string::npos);
    EXPECT_NE(answer("/contract/metamorphic", Json::parse(R"([{"relation": "scale", "inputs": ["y"]}])"))
                  .find("names of inputs"),
              std::string::npos);
}

TEST(TaskLoader, ReadsEveryDistribution)
{
    const auto read = [](Json values) {
        Json json = small();
        json["arguments"][0]["values"] = std::move(values);
        const auto task = parseTask(json.dump());
        return task ? std::string(nameOf(task->arguments[0].values.kind)) : task.error().message;
    };
    for (const char* name :
         {"normal", "uniform", "constant", "heavy_tail", "integers", "sparse", "ties", "constant_rows", "outlier",
          "subnormal", "half_normal", "alternating", "sorted", "mixed"}) {
        EXPECT_EQ(read({{"distribution", name}}), name);
    }
    EXPECT_EQ(read({{"distribution", "half_normal"}, {"scale", -2}}), "half_normal");
    EXPECT_NE(read({{"distribution", "sparse"}, {"zeros", 1.5}}).find("zeros"), std::string::npos);
    EXPECT_NE(read({{"distribution", "ties"}, {"count", 0}}).find("count"), std::string::npos);
    EXPECT_NE(read({{"distribution", "outlier"}, {"stddev", -1}}).find("stddev"), std::string::npos);
    EXPECT_NE(read({{"distribution", "mixed"}, {"mean", 1}}).find("mean"), std::string::npos);
}

/// Single bytes and whole values changed at random: the parser answers with a task or a sentence that names the file.
TEST(TaskLoader, SurvivesMutations)
{
    std::mt19937 random(23);
    const std::string text = wholeText;
    int parsed = 0;
    for (int i = 0; i < 3000; ++i) {
        std::string changed = text;
        for (auto n = 1 + random() % 3; n > 0; --n) {
            const std::size_t at = random() % changed.size();
            switch (random() % 3) {
            case 0:
                changed[at] = static_cast<char>("0\"{}[],:-en \xC3T"[random() % 14]);
                break;
            case 1:
                changed.erase(at, random() % 12);
                break;
            default:
                changed.insert(at, text.substr(random() % text.size(), random() % 12));
            }
        }
        const auto task = parseTask(changed);
        parsed += task ? 1 : 0;
        if (task) {
            (void)checkSupported(*task);
        } else {
            ASSERT_EQ(task.error().message.rfind("task.json", 0), 0u) << task.error().message;
        }
    }
    EXPECT_GT(parsed, 50);
}

TEST(TaskLoader, SurvivesForeignValuesEverywhere)
{
    const Json whole = Json::parse(wholeText).flatten();
    const std::vector<Json> foreign = {
        nullptr, -1, 1e300, "", "x\xC3\xA9", Json::array({1}), Json{{"a", 1}}, true, 18446744073709551615ull};
    for (const auto& [pointer, value] : whole.items()) {
        for (const Json& other : foreign) {
            Json changed = Json::parse(wholeText);
            changed[Json::json_pointer(pointer)] = other;
            if (const auto task = parseTask(changed.dump()); !task) {
                ASSERT_EQ(task.error().message.rfind("task.json", 0), 0u) << pointer << task.error().message;
            }
        }
    }
}

} // namespace
} // namespace espalier
