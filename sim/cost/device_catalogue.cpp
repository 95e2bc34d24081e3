#include "sim/cost/device_catalogue.h"

#include "sim/base/reader.h"
#include "sim/base/spelling.h"
#include "sim/cost/profile_builder.h"

#include <algorithm>
#include <cctype>

namespace trainyard {
namespace {

bool is_digit(char letter)
{
    return std::isdigit(static_cast<unsigned char>(letter)) != 0;
}

bool is_alphanumeric(char letter)
{
    return std::isalnum(static_cast<unsigned char>(letter)) != 0;
}

// Letters and digits of each word, in small letters. An x after a number multiplies where more
// follows: "8xH100", "h100x8", but "MI300X".
std::vector<std::string> words_of(std::string_view text)
{
    std::vector<std::string> out(1);
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool times = (text[i] == 'x' || text[i] == 'X') && i > 0 && is_digit(text[i - 1]) &&
                           i + 1 < text.size() && is_alphanumeric(text[i + 1]);
        if (is_alphanumeric(text[i]) && !times)
            out.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(text[i])));
        else if (!out.back().empty())
            out.emplace_back();
    }
    return out;
}

// Everything that the words could spell: runs of neighbours, and any word with "pcie" after it,
// since drivers write the memory between the two ("A100 80GB PCIe").
std::vector<std::string> spellings(const std::vector<std::string>& words)
{
    std::vector<std::string> out;
    const bool pcie = std::find(words.begin(), words.end(), "pcie") != words.end();
    for (std::size_t i = 0; i < words.size(); ++i) {
        std::string run;
        for (std::size_t j = i; j < words.size(); ++j) {
            run += words[j];
            out.push_back(run);
            if (pcie && i + 1 == j) {
                out.push_back(words[i] + "pcie" + words[j]);
                out.push_back(words[i] + "pcie");
            }
        }
    }
    return out;
}

KnownDevice known(Device device, const std::string& stem)
{
    std::vector<std::string> names;
    for (const std::string& alias : device.aliases)
        names.push_back(plain_name(alias));
    names.push_back(plain_name(device.name));
    std::string key = device.name;
    if (answers_to(device.name, device.aliases, stem)) {
        key = stem;
        std::replace(key.begin(), key.end(), '-', '_');
    }
    return {std::move(key), std::move(device), std::move(names)};
}

} // namespace

DeviceCatalogue::DeviceCatalogue(const Folders& folders)
{
    for (const std::filesystem::path& path : files_of(folders, device_kind)) {
        Problems problems;
        Device device;
        ProfileBuilder(folders, problems).from_path(path, device_kind, device);
        if (!has_errors(problems))
            devices_.push_back(known(std::move(device), path.stem().string()));
    }
    std::stable_sort(devices_.begin(), devices_.end(),
                     [](const auto& a, const auto& b) { return a.device.name < b.device.name; });
    const auto same = [](const auto& a, const auto& b) { return a.device.name == b.device.name; };
    devices_.erase(std::unique(devices_.begin(), devices_.end(), same), devices_.end());
}

const KnownDevice* DeviceCatalogue::named_in(std::string_view text) const
{
    const std::vector<std::string> spelt = spellings(words_of(text));
    const KnownDevice* best = nullptr;
    std::size_t longest = 0;
    for (const KnownDevice& one : devices_)
        for (const std::string& name : one.plain_names)
            if (name.size() > longest && std::find(spelt.begin(), spelt.end(), name) != spelt.end())
            {
                longest = name.size();
                best = &one;
            }
    return best;
}

std::string DeviceCatalogue::name_in(std::string_view text) const
{
    const KnownDevice* const known = named_in(text);
    return known != nullptr ? known->device.name : std::string();
}

int DeviceCatalogue::nvlink_domain_of(std::string_view text) const
{
    const KnownDevice* const known = named_in(text);
    return known != nullptr ? known->device.usual_node.nvlink_domain : 0;
}

const KnownDevice* DeviceCatalogue::with_pci_id(std::string_view number) const
{
    for (const KnownDevice& one : devices_)
        if (std::find(one.device.pci_ids.begin(), one.device.pci_ids.end(), number) !=
            one.device.pci_ids.end())
            return &one;
    return nullptr;
}

const KnownDevice*
DeviceCatalogue::oldest_typical(const std::function<bool(const Device&)>& fits) const
{
    const KnownDevice* best = nullptr;
    for (const KnownDevice& one : devices_)
        if (one.device.typical && fits(one.device) &&
            (best == nullptr || one.device.compute_capability < best->device.compute_capability))
            best = &one;
    return best;
}

const DeviceCatalogue& shipped_devices()
{
    static const DeviceCatalogue devices(shipped_profiles());
    return devices;
}

} // namespace trainyard
