#pragma once

// Puts a profile together from its parts: files, objects in place, objects on a base.

#include "sim/base/fields.h"
#include "sim/base/reader.h"
#include "sim/cost/part_files.h"

#include <set>

namespace trainyard {

class ProfileBuilder {
public:
    ProfileBuilder(const Folders& folders, Problems& problems)
        : files_(folders, problems), problems_(problems)
    {}

    // `name` is a file of `kind`; errors are placed at `where`.
    template <class Part>
    void from_file(const Reader& where, const PartKind& kind, const std::string& name, Part& out)
    {
        if (const auto path = files_.find(where, kind, name))
            from_path(*path, kind, out);
    }

    template <class Part>
    void from_path(const std::filesystem::path& path, const PartKind& kind, Part& out)
    {
        if (const auto file = files_.open(path, kind.format)) {
            const Reader reader(file->plain.json, file->path, problems_);
            read_part(reader, file->plain.provenance, out);
            check_part(reader, out);
            paths_[kind.key] = file->path;
        }
    }

    // The part `key` of `parent`: a name, an object, or an object on a "base".
    template <class Part>
    void part(const Reader& parent, const PartKind& kind, const ProvenanceMap& provenance,
              const std::map<std::string, std::string>& bases, Part& out)
    {
        const Reader reader = parent.member(kind.key);
        if (reader.node().is_string()) {
            from_file(reader, kind, reader.node().as_string(), out);
            return;
        }
        if (const auto base = bases.find(reader.pointer()); base != bases.end())
            from_file(reader, kind, base->second, out);
        read_part(reader, provenance, out);
        check_part(reader, out);
    }

    // Tables of a file of knots, appended.
    void knots_file(const Reader& where, const std::string& name, std::vector<KnotTable>& out)
    {
        if (const auto path = files_.find(where, knots_kind, name))
            knots_from_path(*path, out);
    }

    void knots_from_path(const std::filesystem::path& path, std::vector<KnotTable>& out)
    {
        if (const auto file = files_.open_raw(path, knots_kind.format)) {
            const Reader reader(file->json, file->path, problems_);
            if (!check_keys(reader, {{"tables", true}, {"description", false}}, "knots") ||
                file->json.find("tables") == nullptr)
                return;
            std::vector<KnotTable> tables;
            FieldValue<std::vector<KnotTable>>::read(reader.member("tables"), tables);
            out.insert(out.end(), tables.begin(), tables.end());
        }
    }

    // Reports kernels that were measured on another chip than the device's: at `kernels` of `where`
    // if it gives them, else in the file of the device that names them.
    void check_chip(const Reader& where, const Hardware& hardware);

private:
    std::map<std::string, std::string> paths_; // of files read, by kind
    PartFiles files_;
    Problems& problems_;
};

// What the device brings with it where `given` (keys of the hardware layer) does not say otherwise:
// its fabric, its measured collectives, NCCL's closed form, the other libraries.
void add_companions(ProfileBuilder& builder, const Reader& where,
                    const std::set<std::string>& given, Hardware& hardware);

// The profile in an open file. Problems go to the builder's.
Profile read_profile(const PartFile& file, ProfileBuilder& builder, Problems& problems);

} // namespace trainyard
