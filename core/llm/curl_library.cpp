// SPDX-License-Identifier: Apache-2.0
#include "core/llm/curl_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace espalier::llm {

namespace {

Result<CurlLibrary> loadCurl()
{
    void* handle = nullptr;
    for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"}) {
        handle = handle ? handle : ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    if (!handle) {
        return fail(ErrorCode::NotFound,
                    "libcurl is not installed, and language models are reached through it: install "
                    "the package libcurl4");
    }
    CurlLibrary library;
    bool complete = true;
    const auto find = [&](auto& into, const char* name) {
        into = reinterpret_cast<std::remove_reference_t<decltype(into)>>(::dlsym(handle, name));
        complete = complete && into;
    };
    decltype(&::curl_global_init) globalInit = nullptr;
    decltype(&::curl_version_info) versionInfo = nullptr;
    find(globalInit, "curl_global_init");
    find(versionInfo, "curl_version_info");
    find(library.easyInit, "curl_easy_init");
    find(library.easyCleanup, "curl_easy_cleanup");
    find(library.easySetopt, "curl_easy_setopt");
    find(library.easyGetinfo, "curl_easy_getinfo");
    find(library.easyStrerror, "curl_easy_strerror");
    find(library.multiInit, "curl_multi_init");
    find(library.multiCleanup, "curl_multi_cleanup");
    find(library.multiSetopt, "curl_multi_setopt");
    find(library.multiAdd, "curl_multi_add_handle");
    find(library.multiRemove, "curl_multi_remove_handle");
    find(library.multiSocketAction, "curl_multi_socket_action");
    find(library.multiInfoRead, "curl_multi_info_read");
    find(library.slistAppend, "curl_slist_append");
    find(library.slistFreeAll, "curl_slist_free_all");
    if (!complete || globalInit(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        return fail(ErrorCode::NotSupported, "the libcurl that was found cannot be used: install the package libcurl4");
    }
    const auto* version = versionInfo(CURLVERSION_NOW);
    if (version->version_num < 0x074400 || !(version->features & CURL_VERSION_ASYNCHDNS)) {
        return fail(ErrorCode::NotSupported,
                    fmt::format("libcurl {} is too old or resolves names without a thread of its own: Espalier needs "
                                "7.68 or later as Debian builds it (package libcurl4)",
                                version->version));
    }
    return library;
}

} // namespace

Result<const CurlLibrary*> CurlLibrary::load()
{
    static const Result<CurlLibrary> loaded = loadCurl();
    if (!loaded) {
        return std::unexpected(loaded.error());
    }
    return &*loaded;
}

} // namespace espalier::llm
