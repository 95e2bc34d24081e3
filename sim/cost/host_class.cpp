#include "sim/cost/host_class.h"

#include "sim/base/fields.h"
#include "sim/cost/field_kinds.h"

namespace trainyard {

template <>
std::vector<EnumName<Decoder>> enum_names<Decoder>()
{
    using enum Decoder;
    return {{pillow, "pillow"},
            {opencv, "opencv"},
            {torchvision, "torchvision"},
            {tensorflow, "tensorflow"},
            {simplejpeg, "simplejpeg"}};
}

double PerDecoder::at(Decoder decoder) const
{
    switch (decoder) {
    case Decoder::pillow:
        return pillow;
    case Decoder::opencv:
        return opencv;
    case Decoder::torchvision:
        return torchvision;
    case Decoder::tensorflow:
        return tensorflow;
    case Decoder::simplejpeg:
        return simplejpeg;
    }
    return 0;
}

template <>
const FieldTable<PerDecoder>& fields_of<PerDecoder>()
{
    using D = PerDecoder;
    const FieldInfo rate = not_negative("images per second and thread");
    static const auto table = FieldTable<D>("decoders", "JPEG decoding by library.")
                                  .field("pillow", &D::pillow, rate)
                                  .field("opencv", &D::opencv, rate)
                                  .field("torchvision", &D::torchvision, rate)
                                  .field("tensorflow", &D::tensorflow, rate)
                                  .field("simplejpeg", &D::simplejpeg, rate);
    return table;
}

template <>
const FieldTable<HostClass>& fields_of<HostClass>()
{
    using H = HostClass;
    static const auto table =
        FieldTable<H>("host", "A node's processors as a data loader sees them.")
            .field("name", &H::name, {.help = "as scenarios name it"})
            .field("aliases", &H::aliases, {.help = "other names"})
            .field("decode", &H::decode, {.help = "ImageNet's JPEGs, by library"})
            .field("contention", &H::contention,
                   share("w workers do the work of w / (1 + contention (w - 1))"))
            .field("hyper_thread_gain", &H::hyper_thread_gain,
                   share("of a core's second thread / of its first"))
            .field("collate", &H::collate, not_negative("one thread copying samples into a batch"))
            .field("pageable_copy", &H::pageable_copy,
                   {.help = "copy of pageable memory / of pinned memory", .min = 0.01, .max = 1});
    return table;
}

void check(const Reader& reader, const HostClass& host)
{
    need_positive(reader, "host", {{"collate", host.collate.value()}});
    for (const EnumName<Decoder>& decoder : enum_names<Decoder>())
        if (host.decode.at(decoder.value) > 1e5)
            reader.warn("\"decode\" is implausibly fast", "a thread decodes 300 to 900 images/s");
}

} // namespace trainyard
