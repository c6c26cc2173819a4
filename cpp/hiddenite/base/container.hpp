// A file of arrays that is mapped into memory: the form of all model files. In a compiled n-gram model the arrays
// are the table's own; in the others each holds one member (header, words, array) of an archive.
//
//   header      64 bytes: magic, version, kind, sizes, checksum of all that follows up to the first array
//   directory   32 bytes an array: name, bytes per element, number of elements, checksum
//   arrays      each at a multiple of 64 bytes, in the order of the directory, padded with zeros
//
// Numbers are little-endian. Where an array lies follows from the sizes of
// those before it, so there is no offset that could point astray. Opening reads
// header and directory alone and compares the sizes with the file's; the
// arrays' checksums are for verify(), which reads everything once.
//
// The checksum is a 64-bit hash. It finds damage, not forgery: a compiled file
// is a copy of a text model that the user made, not a format to exchange.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hiddenite/rooms.hpp"

namespace hiddenite::base {

inline constexpr std::string_view CONTAINER_MAGIC = "\x89HLM\r\n\x1a\n";  // is spoilt by whatever changes line ends
inline constexpr std::uint32_t CONTAINER_VERSION = 1;
inline constexpr std::size_t CONTAINER_ALIGNMENT = 64;

std::uint64_t checksum(std::string_view bytes);

// An open container. The bytes belong to the caller and stay as they are.
class Container {
 public:
  // What errors call the file, and what they advise.
  struct Wording {
    std::string noun = "compiled model", advice = "compile the model again";
  };
  // Throws FormatError, with `name` as the file, for whatever is no such container of this kind.
  Container(std::string_view bytes, std::string_view kind, std::string name, Wording wording);
  Container(std::string_view bytes, std::string_view kind, std::string name)
      : Container(bytes, kind, std::move(name), Wording()) {}

  bool has(std::string_view name) const { return arrays_.contains(name); }
  // The array of that name, which must exist and hold elements of that size.
  template <class T>
  std::span<const T> array(std::string_view name) const {
    const std::string_view bytes = find(name, sizeof(T));
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

  // Reads every byte once and compares the checksums; throws FormatError. Cheap when it has been done before.
  void verify() const;

  [[noreturn]] void fail(std::string_view what) const;

 private:
  struct Array {
    std::string_view bytes;
    std::size_t element_bytes;
    std::uint64_t checksum;
  };
  void read_header(std::string_view kind);
  void read_directory();
  std::string_view find(std::string_view name, std::size_t element_bytes) const;

  std::string_view bytes_;
  std::string name_;
  Wording wording_;
  std::uint32_t num_arrays_ = 0;
  std::map<std::string, Array, std::less<>> arrays_;
  mutable std::once_flag verified_;
};

// Collects arrays, which stay where they are, and writes them from front to back.
class ContainerWriter {
 public:
  // Kind and names are cut at eight bytes.
  explicit ContainerWriter(std::string_view kind) : kind_(kind) {}
  template <class T>
  void add(std::string_view name, std::span<const T> values) {
    add_bytes(name, {reinterpret_cast<const char*>(values.data()), values.size_bytes()}, sizeof(T));
  }
  void write(const std::function<void(std::string_view)>& sink) const;

 private:
  struct Array {
    std::string_view name, bytes;
    std::size_t element_bytes;
  };
  void add_bytes(std::string_view name, std::string_view bytes, std::size_t element_bytes);

  std::string_view kind_;
  std::vector<Array> arrays_;
};

// The header of bytes that begin like a container, made to fit them: for tests that damage what lies behind it.
void repair_header_checksum(std::span<char> bytes);

}  // namespace hiddenite::base
