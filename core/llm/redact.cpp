// SPDX-License-Identifier: Apache-2.0
#include "core/llm/redact.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace espalier::llm {

namespace {

constexpr std::size_t shortestSecret = 6;

bool isTokenByte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           byte == '_' || byte == '-';
}

bool isValueByte(char byte)
{
    return isTokenByte(byte) || byte == '.' || byte == '%' || byte == '+' || byte == '/' || byte == '=' ||
           byte == '~' || byte == ':';
}

char lowered(char byte)
{
    return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte;
}

bool startsWithNoCase(std::string_view text, std::string_view word)
{
    return text.size() >= word.size() &&
           std::equal(word.begin(), word.end(), text.begin(), [](char a, char b) { return a == lowered(b); });
}

std::size_t countWhile(std::string_view text, bool (*holds)(char))
{
    return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), holds) - text.begin());
}

/// What a matcher found at the start of a text: bytes to keep, then bytes to replace. Nothing: {0, 0}.
struct Hit {
    std::size_t keep = 0, drop = 0;
};

/// Keys as the usual providers make them: a prefix and many token bytes, at least one of them a digit.
Hit knownKey(std::string_view text)
{
    constexpr std::array<std::string_view, 15> prefixes = {"sk-",    "AIza",  "gsk_", "hf_",     "xai-",
                                                           "nvapi-", "pplx-", "r8_",  "ghp_",    "github_pat_",
                                                           "glpat-", "AKIA",  "csk-", "tgp_v1_", "fw_"};
    for (const std::string_view prefix : prefixes) {
        if (prefix[0] != text[0] || !text.starts_with(prefix)) { // this runs at every word of every answer
            continue;
        }
        const std::size_t length = countWhile(text, isTokenByte);
        const std::string_view token = text.substr(0, length);
        if (length >= prefix.size() + 13 && token.find_first_of("0123456789") != std::string_view::npos) {
            return {0, length};
        }
    }
    return {};
}

/// "Authorization: Bearer x", "x-api-key": "x", api_key=x, key=x in a URL
Hit namedValue(std::string_view text, char before)
{
    constexpr std::array<std::string_view, 15> names = {"authorization",  "proxy-authorization",
                                                        "x-api-key",      "x-goog-api-key",
                                                        "api-key",        "api_key",
                                                        "apikey",         "access_token",
                                                        "auth_token",     "client_secret",
                                                        "openai_api_key", "anthropic_api_key",
                                                        "gemini_api_key", "espalier_api_key",
                                                        "google_api_key"};
    std::size_t at = 0;
    for (const std::string_view name : names) {
        if (at == 0 && name[0] == lowered(text[0]) && startsWithNoCase(text, name)) {
            at = name.size();
        }
    }
    if (at == 0 && (before == '?' || before == '&')) {
        for (const std::string_view name : {"key=", "token=", "sig=", "signature="}) {
            at = at == 0 && startsWithNoCase(text, name) ? name.size() - 1 : at;
        }
    }
    if (at == 0) {
        return {};
    }
    const auto skip = [&](std::string_view bytes) {
        while (at < text.size() && bytes.find(text[at]) != std::string_view::npos) {
            ++at;
        }
    };
    skip("\\\"' \t");
    if (at == text.size() || (text[at] != ':' && text[at] != '=')) {
        return {};
    }
    ++at;
    skip("\\\"' \t");
    for (const std::string_view scheme : {"bearer ", "basic ", "token "}) {
        at += startsWithNoCase(text.substr(at), scheme) ? scheme.size() : 0;
    }
    const std::size_t length = countWhile(text.substr(at), isValueByte);
    return length >= 4 ? Hit{at, length} : Hit{};
}

Hit bearer(std::string_view text)
{
    if (!startsWithNoCase(text, "bearer ")) {
        return {};
    }
    const std::size_t length = countWhile(text.substr(7), isValueByte);
    return length >= 12 ? Hit{7, length} : Hit{};
}

/// The password of scheme://user:password@host
Hit userInfo(std::string_view text)
{
    if (!text.starts_with("://")) {
        return {};
    }
    const std::size_t end = text.find_first_of("@/ \t\r\n\"'<>", 3);
    if (end == std::string_view::npos || text[end] != '@') {
        return {};
    }
    const std::size_t colon = text.find(':', 3);
    return colon < end ? Hit{colon + 1, end - colon - 1} : Hit{3, end - 3};
}

Hit hitAt(std::string_view text, char before)
{
    if (text[0] == ':') {
        return userInfo(text);
    }
    if (isTokenByte(before)) {
        return {};
    }
    Hit hit = knownKey(text);
    hit = hit.drop == 0 ? namedValue(text, before) : hit;
    return hit.drop == 0 ? bearer(text) : hit;
}

std::string percentEncoded(std::string_view text)
{
    std::string encoded;
    for (const char byte : text) {
        if (isTokenByte(byte) || byte == '.' || byte == '~') {
            encoded += byte;
        } else {
            encoded += fmt::format("%{:02X}", static_cast<unsigned char>(byte));
        }
    }
    return encoded;
}

void replaceAll(std::string& text, std::string_view what)
{
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + redactedMark.size())) {
        text.replace(at, what.size(), redactedMark);
    }
}

} // namespace

bool isSecretName(std::string_view name)
{
    std::string lower(name);
    std::transform(lower.begin(), lower.end(), lower.begin(), lowered);
    constexpr std::array words = {"auth", "key", "token", "secret", "cookie", "password", "credential", "signature"};
    return std::any_of(words.begin(), words.end(),
                       [&lower](const char* word) { return lower.find(word) != std::string::npos; });
}

void Redactor::add(std::string_view secret)
{
    const auto keep = [this](std::string word) {
        if (word.size() >= shortestSecret && std::find(m_secrets.begin(), m_secrets.end(), word) == m_secrets.end()) {
            m_secrets.push_back(std::move(word));
        }
    };
    keep(std::string(secret));
    keep(percentEncoded(secret));
    if (const auto space = secret.rfind(' '); space != std::string_view::npos) {
        keep(std::string(secret.substr(space + 1))); // "Bearer x": x alone, too
    }
    std::stable_sort(m_secrets.begin(), m_secrets.end(),
                     [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

std::string Redactor::cleanAnswer(std::string_view text) const
{
    std::string result(text);
    for (const std::string& secret : m_secrets) {
        replaceAll(result, secret);
    }
    return result;
}

std::string Redactor::clean(std::string_view text) const
{
    const std::string known = cleanAnswer(text);
    const std::string_view rest = known;
    std::string result;
    result.reserve(known.size());
    std::size_t at = 0;
    while (at < rest.size()) {
        const Hit hit = hitAt(rest.substr(at), at == 0 ? ' ' : rest[at - 1]);
        if (hit.drop == 0) {
            result += rest[at++];
            continue;
        }
        result.append(rest.substr(at, hit.keep)).append(redactedMark);
        at += hit.keep + hit.drop;
    }
    return result;
}

} // namespace espalier::llm
