// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace espalier::llm {

/// The one place where secrets are taken out of what is stored, shown, logged or put into a message. Everything that
/// leaves core/llm has been through it. A value; thread: any, one at a time. Never fails.
class Redactor
{
public:
    /// A secret known word for word: a key, a header's value, a proxy's password. Shorter than 6 bytes: not taken, as
    /// it would blot out ordinary words. Its percent-encoded form is covered as well.
    void add(std::string_view secret);

    /// For records and messages: known secrets, then everything of a known shape: Authorization and key headers, bearer
    /// tokens, key= in URLs, passwords in URLs, key fields of JSON, keys of the usual providers.
    std::string clean(std::string_view text) const;
    /// For a model's answer, which may be source code: known secrets only.
    std::string cleanAnswer(std::string_view text) const;

private:
    std::vector<std::string> m_secrets; ///< longest first
};

/// A header or field whose value is likely a secret: its name speaks of auth, key, token, secret, cookie, password, …
bool isSecretName(std::string_view name);

/// What stands in place of a secret.
inline constexpr std::string_view redactedMark = "[redacted]";

} // namespace espalier::llm
