// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

namespace espalier::llm {

/// What was learned about one model at one endpoint from its refusals. A value; the defaults are what is tried first.
struct ModelLimits {
    enum class TokenField { Usual, MaxTokens, MaxCompletionTokens, None }; ///< Usual: by the endpoint's host
    TokenField tokenField = TokenField::Usual;
    std::int64_t mostOutput = 0; ///< tokens; 0: no limit is known
    std::int64_t context = 0;    ///< tokens; 0: unknown
    bool temperature = true, streamOptions = true, stream = true, systemRole = true;
    int effort = 0;    ///< 0: the dialect's present way of asking for reasoning, 1: its older one, 2: not at all
    int schema = 0;    ///< 0: structured output, 1: the schema in words
    int urlChoice = 0; ///< index into baseUrls()
    bool operator==(const ModelLimits&) const = default;
};

/// ModelLimits by endpoint and model, remembered for the process and, with a file, beyond it. Thread: one. A file that
/// cannot be read or written is no failure: what is in it is learned again.
class ModelKnowledge
{
public:
    /// In memory alone.
    ModelKnowledge() = default;
    /// Read from `file` now, written atomically on each learn() that changes something (rare: a few milliseconds).
    explicit ModelKnowledge(std::filesystem::path file);

    ModelLimits of(const std::string& endpoint, const std::string& model) const;
    void learn(const std::string& endpoint, const std::string& model, const ModelLimits& limits);

    /// $XDG_CACHE_HOME/espalier/model_limits.json
    static std::filesystem::path usualFile();

private:
    void save() const;
    std::filesystem::path m_file;
    std::map<std::string, ModelLimits> m_limits; ///< "endpoint model"
};

} // namespace espalier::llm
