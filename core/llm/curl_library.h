// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <curl/curl.h>

namespace espalier::llm {

/// libcurl, found when the first model over HTTP is wanted: espalierctl and the worker stay programs that need nothing
/// but libc, and a copy of them runs where libcurl is missing. Entry points as in curl/curl.h. Thread: any, after
/// load().
struct CurlLibrary {
    decltype(&::curl_easy_init) easyInit = nullptr;
    decltype(&::curl_easy_cleanup) easyCleanup = nullptr;
    decltype(&::curl_easy_setopt) easySetopt = nullptr;
    decltype(&::curl_easy_getinfo) easyGetinfo = nullptr;
    decltype(&::curl_easy_strerror) easyStrerror = nullptr;
    decltype(&::curl_multi_init) multiInit = nullptr;
    decltype(&::curl_multi_cleanup) multiCleanup = nullptr;
    decltype(&::curl_multi_setopt) multiSetopt = nullptr;
    decltype(&::curl_multi_add_handle) multiAdd = nullptr;
    decltype(&::curl_multi_remove_handle) multiRemove = nullptr;
    decltype(&::curl_multi_socket_action) multiSocketAction = nullptr;
    decltype(&::curl_multi_info_read) multiInfoRead = nullptr;
    decltype(&::curl_slist_append) slistAppend = nullptr;
    decltype(&::curl_slist_free_all) slistFreeAll = nullptr;

    /// The one loaded library; stays loaded. Errors: NotFound naming the package to install; NotSupported when it is
    /// older than 7.68 or has no resolver that leaves the caller running.
    static Result<const CurlLibrary*> load();
};

} // namespace espalier::llm
