// SPDX-License-Identifier: Apache-2.0
#include "core/llm/keys.h"

#include "core/base/subprocess.h"
#include "core/base/text.h"
#include "core/llm/base_url.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier::llm {

namespace {

struct HostVariable {
    std::string_view host, variable;
};
/// OpenAI-compatible services with keys of their own: OpenAI's key is not for them.
constexpr std::array hostVariables = {
    HostVariable{"openrouter.ai", "OPENROUTER_API_KEY"},
    HostVariable{"api.deepseek.com", "DEEPSEEK_API_KEY"},
    HostVariable{"api.mistral.ai", "MISTRAL_API_KEY"},
    HostVariable{"api.groq.com", "GROQ_API_KEY"},
    HostVariable{"api.together.xyz", "TOGETHER_API_KEY"},
    HostVariable{"api.x.ai", "XAI_API_KEY"},
    HostVariable{"api.fireworks.ai", "FIREWORKS_API_KEY"},
    HostVariable{"api.cerebras.ai", "CEREBRAS_API_KEY"},
    HostVariable{"integrate.api.nvidia.com", "NVIDIA_API_KEY"},
    HostVariable{"generativelanguage.googleapis.com", "GEMINI_API_KEY"},
};

std::string hostOfProfile(const ModelProfile& profile, const Dialect& dialect)
{
    const auto bases = baseUrls(profile.baseUrl.empty() ? dialect.usualBaseUrl() : profile.baseUrl, dialect.version());
    return bases ? hostOf(bases->front()) : std::string();
}

/// The variable of a service that wants a key of its own; empty: it is none of those.
std::string_view ownVariable(std::string_view host)
{
    const auto* const known = std::find_if(hostVariables.begin(), hostVariables.end(),
                                           [host](const HostVariable& each) { return each.host == host; });
    return known == hostVariables.end() ? std::string_view() : known->variable;
}

std::string fromKeychain(const std::string& name)
{
    if (findProgram("secret-tool").empty()) {
        return {};
    }
    const auto ran = runToEnd({.argv = {"secret-tool", "lookup", "server", "espalier", "user", name}}, "",
                              std::chrono::seconds(3), 4096);
    return ran && ran->status.success() ? std::string(trimmed(ran->out)) : std::string();
}

} // namespace

std::vector<std::string> keyVariables(const ModelProfile& profile, const Dialect& dialect)
{
    if (!profile.keyVariable.empty()) {
        return {profile.keyVariable};
    }
    std::vector<std::string> names = {"ESPALIER_API_KEY"};
    const std::string host = hostOfProfile(profile, dialect);
    if (const auto own = ownVariable(host); !own.empty() && host != hostOf(dialect.usualBaseUrl())) {
        names.emplace_back(own);
        return names;
    }
    for (const std::string& name : dialect.keyVariables()) {
        names.push_back(name);
    }
    return names;
}

Result<FoundKey> findKey(const ModelProfile& profile, const Dialect& dialect)
{
    const std::vector<std::string> names = keyVariables(profile, dialect);
    for (const std::string& name : names) {
        const char* value = std::getenv(name.c_str());
        if (const auto key = trimmed(value ? value : ""); !key.empty()) {
            return FoundKey{std::string(key), name};
        }
    }
    if (std::string key = fromKeychain(profile.name.empty() ? profile.provider : profile.name); !key.empty()) {
        return FoundKey{std::move(key), "the keychain"};
    }
    const std::string host = hostOfProfile(profile, dialect);
    const bool needed = host == hostOf(dialect.usualBaseUrl()) || !ownVariable(host).empty();
    if (needed) {
        return fail(
            ErrorCode::NotFound,
            fmt::format("{} wants a key and none was found: set {} (or store it in the keychain: secret-tool store "
                        "--label Espalier server espalier user {})",
                        host, fmt::join(names, " or "), profile.name.empty() ? profile.provider : profile.name));
    }
    return FoundKey{};
}

} // namespace espalier::llm
