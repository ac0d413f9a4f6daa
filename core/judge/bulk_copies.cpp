// SPDX-License-Identifier: Apache-2.0
#include "core/judge/bulk_copies.h"

#include <algorithm>
#include <cctype>

namespace espalier::judge {

namespace {

bool isOfAName(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$';
}

/// "tiles" of "void part::tiles<64>(float*)".
std::string plainName(std::string_view function)
{
    std::string name(function);
    for (const std::string_view unnamed :
         {std::string_view("(anonymous namespace)::"), std::string_view("<unnamed>::")}) {
        for (std::size_t at = name.find(unnamed); at != std::string::npos; at = name.find(unnamed)) {
            name.erase(at, unnamed.size());
        }
    }
    name.resize(std::min(name.find_first_of("<("), name.size()));
    const auto begin = std::find_if_not(name.rbegin(), name.rend(), isOfAName).base();
    return {begin, name.end()};
}

/// Of the function whose head `text` begins in: from its first brace to the one that closes it.
std::string_view bodyOf(std::string_view text)
{
    const std::size_t begin = text.find('{');
    int depth = 0;
    for (std::size_t i = begin; i < text.size(); ++i) {
        depth += text[i] == '{' ? 1 : text[i] == '}' ? -1 : 0;
        if (depth == 0) {
            return text.substr(begin, i - begin);
        }
    }
    return {};
}

bool hasBoth(std::string_view ptx)
{
    return ptx.find("cp.async.bulk") != std::string_view::npos && ptx.find("mbarrier.") != std::string_view::npos;
}

} // namespace

bool copiesEndAtBarriers(std::string_view library, std::string_view function)
{
    const std::string name = plainName(function);
    const std::string mangled = std::to_string(name.size()) + name; // within _Z…
    constexpr std::string_view mark = ".entry ";
    int found = 0;
    for (std::size_t at = library.find(mark); at != std::string_view::npos; at = library.find(mark, at)) {
        at += mark.size();
        const std::string_view rest = library.substr(at);
        const std::string_view entry(rest.begin(), std::find_if_not(rest.begin(), rest.end(), isOfAName));
        if (name.empty() || (entry != name && entry.find(mangled) == std::string_view::npos)) {
            continue;
        }
        if (!hasBoth(bodyOf(rest))) {
            return false;
        }
        ++found;
    }
    return found > 0 ||
           (!name.empty() && hasBoth(library)); // a name that is written in a way of its own: the library as a whole
}

} // namespace espalier::judge
