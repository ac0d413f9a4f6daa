// SPDX-License-Identifier: Apache-2.0
#include "core/llm/base_url.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace espalier::llm {

namespace {

struct Parts {
    std::string scheme, host; ///< host with port and user
    std::vector<std::string> path;
    std::string query; ///< with its ?
};

/// v1, v1beta, v2, v1alpha1
bool isVersion(std::string_view segment)
{
    if (segment.size() < 2 || segment[0] != 'v' || segment[1] < '0' || segment[1] > '9') {
        return false;
    }
    return std::all_of(segment.begin(), segment.end(),
                       [](char byte) { return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9'); });
}

bool isNear(std::string_view host)
{
    const std::string_view name = host.substr(0, host.rfind(':'));
    return name == "localhost" || host.starts_with("[::1]") || host.starts_with("127.") || host.starts_with("10.") ||
           host.starts_with("192.168.") || name.ends_with(".local") || name.find('.') == std::string_view::npos;
}

void dropEndpoint(std::vector<std::string>& path)
{
    constexpr std::array<std::string_view, 6> last = {"completions", "responses", "messages",
                                                      "models",      "chat",      "count_tokens"};
    while (!path.empty()) {
        const std::string& segment = path.back();
        const bool method = segment.find(':') != std::string::npos; // model:generateContent
        if (!method && std::find(last.begin(), last.end(), segment) == last.end()) {
            return;
        }
        path.pop_back();
    }
}

Result<Parts> partsOf(std::string_view written)
{
    const std::string_view text = trimmed(written);
    const auto bad = [&](std::string_view why) {
        return fail(
            ErrorCode::InvalidInput,
            fmt::format("the base URL \"{}\" {}; write it like https://api.example.com/v1", printable(text, 200), why));
    };
    Parts parts;
    std::string_view rest = text;
    if (const auto scheme = rest.find("://"); scheme != std::string_view::npos) {
        parts.scheme = rest.substr(0, scheme);
        std::transform(parts.scheme.begin(), parts.scheme.end(), parts.scheme.begin(), [](char byte) {
            return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte;
        });
        rest.remove_prefix(scheme + 3);
        if (parts.scheme != "http" && parts.scheme != "https") {
            return bad("has a scheme that is neither http nor https");
        }
    }
    rest = rest.substr(0, rest.find('#'));
    if (const auto query = rest.find('?'); query != std::string_view::npos) {
        parts.query = rest.substr(query);
        rest = rest.substr(0, query);
    }
    const auto slash = rest.find('/');
    parts.host = rest.substr(0, slash);
    if (parts.host.empty() || std::any_of(text.begin(), text.end(), [](char byte) {
            return static_cast<unsigned char>(byte) <= ' ' || byte == 0x7f || byte == '"' || byte == '\\';
        })) {
        return bad("names no host or holds a space");
    }
    if (parts.scheme.empty()) {
        parts.scheme = isNear(parts.host) ? "http" : "https";
    }
    if (slash != std::string_view::npos) {
        for (const std::string_view segment : splitOn(rest.substr(slash), '/')) {
            if (!segment.empty()) {
                parts.path.emplace_back(segment);
            }
        }
    }
    return parts;
}

std::string textOf(const Parts& parts, const std::vector<std::string>& path)
{
    std::string url = parts.scheme + "://" + parts.host;
    for (const std::string& segment : path) {
        url += "/" + segment;
    }
    return url + parts.query;
}

} // namespace

Result<std::vector<std::string>> baseUrls(std::string_view written, std::string_view version)
{
    ESPALIER_TRY(Parts parts, partsOf(written));
    dropEndpoint(parts.path);
    const auto twice = [](const std::string& a, const std::string& b) { return isVersion(a) && isVersion(b); };
    parts.path.erase(std::unique(parts.path.begin(), parts.path.end(), twice), parts.path.end());
    const bool versioned =
        std::any_of(parts.path.begin(), parts.path.end(), [](const auto& each) { return isVersion(each); });
    std::vector<std::string> other = parts.path;
    if (!versioned) {
        other.emplace_back(version);
        return std::vector{textOf(parts, other), textOf(parts, parts.path)};
    }
    if (!isVersion(parts.path.back())) {
        return std::vector{textOf(parts, parts.path)}; // …/v1beta/openai
    }
    other.pop_back();
    return std::vector{textOf(parts, parts.path), textOf(parts, other)};
}

std::string joinUrl(std::string_view base, std::string_view path)
{
    const auto query = base.find('?');
    std::string url(base.substr(0, query));
    url += path;
    if (query != std::string_view::npos) {
        url += path.find('?') == std::string_view::npos ? '?' : '&';
        url += base.substr(query + 1);
    }
    return url;
}

std::string hostOf(std::string_view url)
{
    const auto scheme = url.find("://");
    if (scheme == std::string_view::npos) {
        return {};
    }
    std::string_view host = url.substr(scheme + 3);
    host = host.substr(0, host.find_first_of("/?#"));
    if (const auto at = host.rfind('@'); at != std::string_view::npos) {
        host.remove_prefix(at + 1);
    }
    return std::string(host.starts_with('[') ? host.substr(0, host.find(']') + 1) : host.substr(0, host.find(':')));
}

} // namespace espalier::llm
