#include "hiddenite/base/container.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/fold.hpp"
#include "hiddenite/base/interrupt.hpp"

namespace hiddenite::base {

namespace {

static_assert(std::endian::native == std::endian::little, "compiled models are little-endian");

constexpr std::size_t NAME_BYTES = 8;
constexpr std::uint32_t MOST_ARRAYS = 1u << 16;

struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t num_arrays;
  char kind[NAME_BYTES];
  std::uint64_t file_bytes;
  std::uint64_t reserved[3];  // zero
  std::uint64_t head_checksum;  // of header and directory, this field being zero
};
static_assert(sizeof(Header) == 64);

struct Entry {
  char name[NAME_BYTES];
  std::uint64_t element_bytes;
  std::uint64_t count;
  std::uint64_t checksum;
};
static_assert(sizeof(Entry) == 32);

std::size_t padded(std::size_t bytes) {
  return (bytes + CONTAINER_ALIGNMENT - 1) / CONTAINER_ALIGNMENT * CONTAINER_ALIGNMENT;
}

std::string_view trimmed(const char (&name)[NAME_BYTES]) {
  return {name, static_cast<std::size_t>(std::find(name, name + NAME_BYTES, '\0') - name)};
}

// What a file says, as part of a message of one line.
std::string printable(std::string_view name) {
  std::string result(name);
  for (char& c : result) {
    if (c < ' ' || c > '~') c = '?';
  }
  return result;
}

template <class T>
T load(std::string_view bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::size_t head_bytes(std::uint32_t num_arrays) { return sizeof(Header) + num_arrays * sizeof(Entry); }

std::uint64_t head_checksum(std::string_view bytes, std::uint32_t num_arrays) {
  std::string head(bytes.substr(0, head_bytes(num_arrays)));
  std::memset(head.data() + offsetof(Header, head_checksum), 0, sizeof(std::uint64_t));
  return checksum(head);
}

}  // namespace

// Four chains that do not wait for one another: as fast as memory is read.
std::uint64_t checksum(std::string_view bytes) {
  constexpr std::uint64_t k = 0x9E3779B97F4A7C15u;
  constexpr std::size_t lanes = 4, step = lanes * sizeof(std::uint64_t);
  std::array<std::uint64_t, lanes> h{k, 3 * k, 5 * k, 7 * k};
  std::size_t at = 0;
  while (at + step <= bytes.size()) {
    check_interrupt();
    const std::size_t piece = std::min(bytes.size(), at + (std::size_t{1} << 22));
    for (; at + step <= piece; at += step) {
      for (std::size_t i = 0; i < lanes; ++i) {
        h[i] = fold_product(h[i] ^ load<std::uint64_t>(bytes, at + 8 * i), k) + h[i];
      }
    }
  }
  std::array<char, step> rest{};
  if (at < bytes.size()) std::memcpy(rest.data(), bytes.data() + at, bytes.size() - at);
  for (std::size_t i = 0; i < lanes; ++i) h[i] ^= load<std::uint64_t>({rest.data(), step}, 8 * i);
  std::uint64_t result = fold_product(bytes.size() ^ k, h[0] ^ h[1]);
  for (std::size_t i = 0; i < lanes; ++i) result = fold_product(result ^ h[i], k + 2 * i);
  return result;
}

// ------------------------------------------------------------------- reading

Container::Container(std::string_view bytes, std::string_view kind, std::string name, Wording wording)
    : bytes_(bytes), name_(std::move(name)), wording_(std::move(wording)) {
  read_header(kind);
  read_directory();
}

void Container::fail(std::string_view what) const {
  throw FormatError(name_, 0, std::string(what) + "; " + wording_.advice);
}

void Container::read_header(std::string_view kind) {
  if (bytes_.size() < sizeof(Header)) fail("the " + wording_.noun + " is cut short");
  const auto header = load<Header>(bytes_, 0);
  if (std::string_view(header.magic, sizeof header.magic) != CONTAINER_MAGIC) {
    fail("found no " + wording_.noun);
  }
  if (header.version != CONTAINER_VERSION) {
    fail("found a " + wording_.noun + " of version " + std::to_string(header.version) + ", expected version " +
         std::to_string(CONTAINER_VERSION));
  }
  if (header.file_bytes != bytes_.size()) {
    fail("found " + std::to_string(bytes_.size()) + " bytes, expected the " + std::to_string(header.file_bytes) +
         " that the header announces: the file is cut short or damaged");
  }
  num_arrays_ = header.num_arrays;
  if (num_arrays_ > MOST_ARRAYS || head_bytes(num_arrays_) > bytes_.size() ||
      head_checksum(bytes_, num_arrays_) != header.head_checksum) {
    fail("the header of the " + wording_.noun + " is damaged");
  }
  if (trimmed(header.kind) != kind) {
    fail("found a file of the kind '" + printable(trimmed(header.kind)) + "', expected '" + std::string(kind) + "'");
  }
}

void Container::read_directory() {
  std::size_t at = padded(head_bytes(num_arrays_));
  for (std::uint32_t i = 0; i < num_arrays_; ++i) {
    const auto entry = load<Entry>(bytes_, sizeof(Header) + i * sizeof(Entry));
    if (at > bytes_.size() || entry.element_bytes == 0 || entry.count > (bytes_.size() - at) / entry.element_bytes) {
      fail("the directory of the " + wording_.noun + " announces more than the file holds");
    }
    const std::size_t size = entry.count * entry.element_bytes;
    const Array array{bytes_.substr(at, size), entry.element_bytes, entry.checksum};
    if (!arrays_.emplace(trimmed(entry.name), array).second) fail("the directory lists an array twice");
    at += padded(size);
  }
  if (at != bytes_.size()) fail("the directory of the " + wording_.noun + " does not fill the file");
}

std::string_view Container::find(std::string_view name, std::size_t element_bytes) const {
  const auto found = arrays_.find(name);
  if (found == arrays_.end()) fail("the " + wording_.noun + " lacks '" + std::string(name) + "'");
  if (found->second.element_bytes != element_bytes) fail("'" + std::string(name) + "' has elements of another size");
  return found->second.bytes;
}

void Container::verify() const {
  std::call_once(verified_, [&] {
    for (const auto& [name, array] : arrays_) {
      if (checksum(array.bytes) == array.checksum) continue;
      fail("the checksum of '" + printable(name) + "' differs: the file is damaged");
    }
  });
}

// ------------------------------------------------------------------- writing

void ContainerWriter::add_bytes(std::string_view name, std::string_view bytes, std::size_t element_bytes) {
  arrays_.push_back({name, bytes, element_bytes});
}

void ContainerWriter::write(const std::function<void(std::string_view)>& sink) const {
  const auto num_arrays = static_cast<std::uint32_t>(arrays_.size());
  std::string head(padded(head_bytes(num_arrays)), '\0');
  Header header{};
  std::memcpy(header.magic, CONTAINER_MAGIC.data(), sizeof header.magic);
  header.version = CONTAINER_VERSION;
  header.num_arrays = num_arrays;
  std::memcpy(header.kind, kind_.data(), std::min(kind_.size(), NAME_BYTES));
  header.file_bytes = head.size();
  for (std::uint32_t i = 0; i < num_arrays; ++i) {
    const Array& array = arrays_[i];
    Entry entry{{}, array.element_bytes, array.bytes.size() / array.element_bytes, checksum(array.bytes)};
    std::memcpy(entry.name, array.name.data(), std::min(array.name.size(), NAME_BYTES));
    std::memcpy(head.data() + sizeof(Header) + i * sizeof(Entry), &entry, sizeof entry);
    header.file_bytes += padded(array.bytes.size());
  }
  std::memcpy(head.data(), &header, sizeof header);
  repair_header_checksum(head);
  sink(head);
  const std::string zeros(CONTAINER_ALIGNMENT, '\0');
  for (const Array& array : arrays_) {
    constexpr std::size_t piece = std::size_t{1} << 24;  // so that a sink that copies needs little memory
    for (std::size_t at = 0; at < array.bytes.size(); at += piece) sink(array.bytes.substr(at, piece));
    sink({zeros.data(), padded(array.bytes.size()) - array.bytes.size()});
  }
}

void repair_header_checksum(std::span<char> bytes) {
  if (bytes.size() < sizeof(Header)) return;
  const std::string_view view(bytes.data(), bytes.size());
  const auto num_arrays = load<Header>(view, 0).num_arrays;
  if (num_arrays > MOST_ARRAYS || head_bytes(num_arrays) > bytes.size()) return;
  const std::uint64_t sum = head_checksum(view, num_arrays);
  std::memcpy(bytes.data() + offsetof(Header, head_checksum), &sum, sizeof sum);
}

}  // namespace hiddenite::base
