#include "calibrate/import/nccl_xml.h"

#include <fmt/core.h>
#include <pugixml.hpp>

#include <algorithm>
#include <sstream>

namespace trainyard {
namespace {

constexpr std::size_t most_xml_bytes = std::size_t{16} << 20;
constexpr int deepest = 64;
constexpr std::size_t most_elements = 100'000;

struct Walk {
    std::size_t elements = 0;
    bool too_much = false;

    XmlElement copy(const pugi::xml_node& node, int depth)
    {
        XmlElement out;
        out.name = node.name();
        for (const pugi::xml_attribute& attribute : node.attributes())
            out.attributes.emplace_back(attribute.name(), attribute.value());
        if (++elements > most_elements || depth >= deepest) {
            too_much = true;
            return out;
        }
        for (const pugi::xml_node& child : node.children())
            if (child.type() == pugi::node_element && !too_much)
                out.children.push_back(copy(child, depth + 1));
        return out;
    }
};

int line_at(std::string_view text, std::ptrdiff_t offset)
{
    const auto end = static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0));
    return 1 + static_cast<int>(std::count(
                   text.begin(),
                   text.begin() + static_cast<std::ptrdiff_t>(std::min(end, text.size())), '\n'));
}

void append(pugi::xml_node parent, const XmlElement& element)
{
    pugi::xml_node node = parent.append_child(element.name.c_str());
    for (const auto& [name, value] : element.attributes)
        node.append_attribute(name.c_str()).set_value(value.c_str());
    for (const XmlElement& child : element.children)
        append(node, child);
}

} // namespace

std::string XmlElement::attribute(std::string_view key) const
{
    for (const auto& [known, value] : attributes)
        if (known == key)
            return value;
    return {};
}

PciKind pci_kind(const XmlElement& pci)
{
    const std::string cls = pci.attribute("class");
    if (cls.starts_with("0x0302") || cls.starts_with("0x0300") || cls.starts_with("0x12"))
        return PciKind::gpu;
    if (cls.starts_with("0x02"))
        return PciKind::nic;
    if (cls.starts_with("0x0604"))
        return PciKind::bridge;
    if (cls.starts_with("0x0680"))
        return PciKind::nvswitch;
    const auto has = [&pci](std::string_view name) {
        return std::any_of(pci.children.begin(), pci.children.end(),
                           [name](const XmlElement& child) { return child.name == name; });
    };
    if (has("gpu"))
        return PciKind::gpu;
    if (has("nic"))
        return PciKind::nic;
    if (has("pci"))
        return PciKind::bridge;
    return cls.empty() ? PciKind::unknown : PciKind::other;
}

Checked<XmlElement> read_nccl_xml(std::string_view text, const std::string& file)
{
    const auto refuse = [&file](int line, std::string message, std::string hint = {}) {
        return tl::make_unexpected(
            Problems{{file, line, "", std::move(message), std::move(hint), Severity::error}});
    };
    if (text.size() > most_xml_bytes)
        return refuse(0, fmt::format("more than {} MiB of XML", most_xml_bytes >> 20));
    pugi::xml_document document;
    const pugi::xml_parse_result result = document.load_buffer(text.data(), text.size());
    if (!result)
        return refuse(line_at(text, result.offset), result.description());
    const pugi::xml_node system = document.child("system");
    if (!system)
        return refuse(0, "no <system> element", "wanted: a file that NCCL_TOPO_FILE could name");
    Walk walk;
    XmlElement out = walk.copy(system, 0);
    if (walk.too_much)
        return refuse(0, fmt::format("more than {} elements, or nested deeper than {}",
                                     most_elements, deepest));
    return out;
}

std::string to_xml(const XmlElement& element)
{
    pugi::xml_document document;
    append(document, element);
    std::ostringstream out;
    document.save(out, "  ", pugi::format_default | pugi::format_no_declaration);
    return out.str();
}

} // namespace trainyard
