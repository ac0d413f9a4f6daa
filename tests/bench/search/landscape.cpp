// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/search/landscape.h"

#include "core/propose/source_text.h"
#include "core/propose/tuning_space.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier::bench {

const LandscapePoint* Landscape::find(const std::string& key, const TunableValues& values) const
{
    const auto kernel = kernels.find(key);
    if (kernel == kernels.end()) {
        return nullptr;
    }
    const auto& points = kernel->second.points;
    const auto found = std::find_if(points.begin(), points.end(),
                                    [&values](const LandscapePoint& point) { return point.values == values; });
    return found == points.end() ? nullptr : &*found;
}

double Landscape::bestSpeedup() const
{
    double best = 1;
    for (const auto& [key, kernel] : kernels) {
        for (const LandscapePoint& point : kernel.points) {
            best = std::max(best, point.speedup);
        }
    }
    return best;
}

std::size_t Landscape::points() const
{
    std::size_t count = 0;
    for (const auto& [key, kernel] : kernels) {
        count += kernel.points.size();
    }
    return count;
}

Json Landscape::toJson() const
{
    Json list = Json::array();
    for (const auto& [key, kernel] : kernels) {
        Json points = Json::array();
        for (const LandscapePoint& point : kernel.points) {
            int registers = 0;
            bool tensor = false;
            for (const KernelResources& one : point.build.kernels) {
                registers = std::max(registers, one.registers);
                for (const auto& [name, count] : one.instructions) {
                    tensor = tensor || (name.starts_with("tensor_") && count > 0);
                }
            }
            points.push_back({{"values", point.values},
                              {"outcome", nameOf(point.outcome)},
                              {"us", point.us},
                              {"speedup", point.speedup},
                              {"registers", registers},
                              {"tensor", tensor}});
        }
        list.push_back({{"key", key}, {"identity", kernel.identity}, {"points", points}});
    }
    return {{"schema", 1},      {"task", taskId},   {"task_hash", taskHash}, {"case", caseId},
            {"device", device}, {"driver", driver}, {"toolkit", toolkit},    {"kernels", list}};
}

Result<Landscape> Landscape::fromJson(const Json& json, const std::string& file)
{
    try { // a bench's own files: what is missing is one sentence
        Landscape landscape{json.at("task"),
                            json.at("task_hash"),
                            json.at("case"),
                            json.at("device"),
                            json.at("driver"),
                            json.at("toolkit"),
                            {}};
        for (const Json& entry : json.at("kernels")) {
            Kernel kernel{entry.at("identity"), {}};
            for (const Json& one : entry.at("points")) {
                LandscapePoint point;
                point.values = one.at("values").get<TunableValues>();
                point.outcome = outcomeNamed(one.at("outcome").get<std::string>()).value_or(Outcome::NotRun);
                point.us = one.at("us");
                point.speedup = one.at("speedup");
                KernelResources resources;
                resources.registers = one.at("registers");
                if (one.at("tensor").get<bool>()) {
                    resources.instructions["tensor_tf32"] = 1;
                }
                point.build.kernels.push_back(std::move(resources));
                kernel.points.push_back(std::move(point));
            }
            landscape.kernels.emplace(entry.at("key"), std::move(kernel));
        }
        return landscape;
    } catch (const Json::exception& error) {
        return fail(ErrorCode::InvalidInput, fmt::format("{} is no landscape: {}", file, error.what()));
    }
}

std::vector<LandscapeKernel> kernelsOf(const Task& task, std::size_t most)
{
    std::vector<LandscapeKernel> kernels;
    const auto add = [&](const std::string& key, const std::string& source) {
        const TuningSpace space(readMarks(source));
        LandscapeKernel kernel{key, source, {}};
        kernel.points.push_back(space.dimensions() == 0 ? TunableValues() : space.valuesAt(space.start()));
        std::vector<TuningPoint> rest = space.points();
        std::erase(rest, space.start());
        TuningRandom random(1, 1, 1);
        while (!rest.empty() && kernel.points.size() < most) {
            const std::size_t pick = random.below(rest.size());
            kernel.points.push_back(space.valuesAt(rest[pick]));
            rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(pick));
        }
        kernels.push_back(std::move(kernel));
    };
    add("root", task.root.text);
    for (const PlaybookIdea& idea : task.playbook) {
        add(idea.id, idea.source.text);
    }
    return kernels;
}

} // namespace espalier::bench
