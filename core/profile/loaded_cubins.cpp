// SPDX-License-Identifier: Apache-2.0
#include "core/profile/loaded_cubins.h"

#include "core/profile/cupti_error.h"

namespace espalier::profile {

namespace {

constexpr std::size_t mostCubins = 64;

struct Watched {
    const CuptiApi* api = nullptr;
    std::map<std::uint64_t, std::string> byCrc; ///< one copy each: a module is announced at every launch
} watched;

void CUPTIAPI onResource(void*, CUpti_CallbackDomain, CUpti_CallbackId id, const void* data)
{
    if (id != CUPTI_CBID_RESOURCE_MODULE_LOADED && id != CUPTI_CBID_RESOURCE_MODULE_PROFILED) {
        return;
    }
    const auto* resource = static_cast<const CUpti_ResourceData*>(data);
    const auto* module = static_cast<const CUpti_ModuleResourceData*>(resource->resourceDescriptor);
    if (!module || !module->pCubin || watched.byCrc.size() >= mostCubins) {
        return;
    }
    CUpti_GetCubinCrcParams crc;
    std::memset(&crc, 0, sizeof crc);
    crc.size = CUpti_GetCubinCrcParamsSize;
    crc.cubin = module->pCubin;
    crc.cubinSize = module->cubinSize;
    if (watched.api->cuptiGetCubinCrc(&crc) == CUPTI_SUCCESS) {
        watched.byCrc.try_emplace(crc.cubinCrc, module->pCubin, module->cubinSize);
    }
}

} // namespace

Result<void> LoadedCubins::watch(const CuptiApi& api)
{
    watched.api = &api;
    CUpti_SubscriberHandle subscriber = nullptr;
    ESPALIER_CUPTI(api, "Watching for modules",
                   api.cuptiSubscribe(&subscriber, reinterpret_cast<CUpti_CallbackFunc>(onResource), nullptr));
    for (const std::uint32_t id : {CUPTI_CBID_RESOURCE_MODULE_LOADED, CUPTI_CBID_RESOURCE_MODULE_PROFILED}) {
        ESPALIER_CUPTI(api, "Watching for modules",
                       api.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, id));
    }
    return {};
}

LoadedCubins::LoadedCubins()
{
    for (const auto& [crc, cubin] : watched.byCrc) {
        m_lines.emplace(crc, LineTable::read(cubin));
    }
}

SourceChain LoadedCubins::find(std::uint64_t crc, std::string_view function, std::uint64_t offset) const
{
    for (const auto& [known, table] : m_lines) {
        if (crc == 0 || crc == known) {
            if (SourceChain chain = table.find(function, offset); !chain.empty()) {
                return chain;
            }
        }
    }
    return {};
}

} // namespace espalier::profile
