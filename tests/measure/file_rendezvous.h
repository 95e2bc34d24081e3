#pragma once

// Ranks of one host meet in a folder: a file per value.

#include "calibrate/measure/backend/backend.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace trainyard {

class FileRendezvous : public Rendezvous {
public:
    explicit FileRendezvous(std::filesystem::path folder) : folder_(std::move(folder))
    {
        std::filesystem::create_directories(folder_);
    }

    void put(const std::string& key, const std::string& value) override
    {
        const std::filesystem::path aside = file(key).string() + "." + std::to_string(getpid());
        std::ofstream(aside, std::ios::binary) << value;
        std::filesystem::rename(aside, file(key)); // whole or not at all
    }

    std::string get(const std::string& key, std::chrono::milliseconds limit) override
    {
        const auto end = std::chrono::steady_clock::now() + limit;
        while (!std::filesystem::exists(file(key))) {
            if (std::chrono::steady_clock::now() > end)
                throw MeasureFailure{FailureKind::timed_out, "nobody put " + key, ""};
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        std::ostringstream text;
        text << std::ifstream(file(key), std::ios::binary).rdbuf();
        return text.str();
    }

private:
    std::filesystem::path file(const std::string& key) const
    {
        std::string name = key;
        for (char& c : name)
            if (c == '/')
                c = '_';
        return folder_ / name;
    }

    std::filesystem::path folder_;
};

} // namespace trainyard
