#include "hiddenite/lm/tools/compact.hpp"

#include <cstring>

#include "hiddenite/base/container.hpp"
#include "hiddenite/base/error.hpp"
#include "hiddenite/base/interrupt.hpp"
#include "hiddenite/base/memory.hpp"

namespace hiddenite::lm {

namespace {

constexpr int MOST_ORDERS = 64;
constexpr std::size_t MOST_CODES = std::size_t{1} << 16;

struct CompactFacts {
  std::uint32_t order;
  std::uint32_t unknown_is_listed;
  double begin_log_prob;
};

std::size_t bytes_for(std::size_t number) {
  std::size_t bytes = 1;
  while (bytes < 4 && number > std::size_t{1} << (8 * bytes)) ++bytes;
  return bytes;
}

// Numbers of a fixed number of bytes, one after the other.
void put_number(std::vector<std::uint8_t>& out, std::uint32_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

std::uint32_t get_number(const std::uint8_t* in, std::size_t bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value |= std::uint32_t{in[i]} << (8 * i);
  return value;
}

// The numbers of one order: a book and codes, or the floats themselves with an empty book.
struct Coded {
  std::vector<float> book;
  std::vector<std::uint8_t> codes;
};

Coded encode_level(const Column<float>& column, NodeId begin, NodeId end) {
  Coded result;
  std::vector<float> distinct(column.begin() + begin, column.begin() + end);
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (distinct.size() > MOST_CODES) {
    const auto* raw = reinterpret_cast<const std::uint8_t*>(column.data() + begin);
    result.codes.assign(raw, raw + (end - begin) * sizeof(float));
    return result;
  }
  result.book = std::move(distinct);
  const std::size_t bytes = bytes_for(result.book.size());
  for (NodeId a = begin; a < end; ++a) {
    check_interrupt_at(a);
    const auto place = std::lower_bound(result.book.begin(), result.book.end(), column[a]) - result.book.begin();
    put_number(result.codes, static_cast<std::uint32_t>(place), bytes);
  }
  return result;
}

// Columns of all orders one behind the other, with the sizes of their books.
struct CodedColumn {
  std::vector<std::uint32_t> sizes;
  std::vector<float> books;
  std::vector<std::uint8_t> codes;

  CodedColumn(const NgramTable& table, const Column<float>& column, int last_level) {
    for (int n = 1; n <= last_level; ++n) {
      const Coded coded = encode_level(column, table.level_begin[n], table.level_begin[n + 1]);
      sizes.push_back(static_cast<std::uint32_t>(coded.book.size()));
      books.insert(books.end(), coded.book.begin(), coded.book.end());
      codes.insert(codes.end(), coded.codes.begin(), coded.codes.end());
    }
  }
};

class CompactReader {
 public:
  explicit CompactReader(const Container& container) : c_(container) {}

  NgramTable run() {
    c_.verify();
    read_facts();
    read_words();
    allocate();
    read_ngrams();
    read_column("qpsizes", "qpbooks", "qpcodes", t_.order, t_.log_prob);
    read_column("qbsizes", "qbbooks", "qbcodes", t_.order - 1, t_.log_backoff);
    link();
    fill_max_columns(t_);
    return std::move(t_);
  }

 private:
  void require(bool holds, std::string_view what) const {
    if (!holds) c_.fail("the compact model holds " + std::string(what));
  }

  void read_facts() {
    const auto facts = c_.array<CompactFacts>("facts");
    require(facts.size() == 1 && facts[0].order >= 1 && facts[0].order <= MOST_ORDERS, "an impossible order");
    t_.order = static_cast<int>(facts[0].order);
    t_.unknown_is_listed = facts[0].unknown_is_listed != 0;
    t_.begin_log_prob = facts[0].begin_log_prob;
    const auto levels = c_.array<NodeId>("levels");
    t_.level_begin.assign(levels.begin(), levels.end());
    require(levels.size() == static_cast<std::size_t>(t_.order) + 2 && levels[0] == 0 && levels[1] == 1 &&
                std::is_sorted(levels.begin(), levels.end()) && levels.back() < NO_NODE,
            "levels out of order");
  }

  void read_words() {
    const auto text = c_.array<char>("text");
    const auto begin = c_.array<std::uint64_t>("wordbegn");
    require(begin.size() > NUM_SPECIAL_WORDS && begin[0] == 0 && begin.back() == text.size() &&
                std::is_sorted(begin.begin(), begin.end()),
            "words out of order");
    for (std::size_t w = 0; w + 1 < begin.size(); ++w) {
      const WordId id = t_.vocabulary.add({text.data() + begin[w], begin[w + 1] - begin[w]});
      require(id == w, "a word twice");
    }
    require(t_.num_ngrams(1) == t_.vocabulary.size(), "other unigrams than words");
  }

  void allocate() {
    assign_large(t_.word, t_.num_nodes(), NO_WORD);
    assign_large(t_.log_prob, t_.num_nodes(), 0.0f);
    assign_large(t_.suffix, t_.num_nodes(), ROOT);
    assign_large(t_.log_backoff, t_.num_contexts(), 0.0f);
    assign_large(t_.first_child, t_.num_contexts() + std::size_t{1}, t_.num_nodes());
  }

  // Words of the n-grams from order 2 on, and of each context how many it lists, seven bits a byte.
  void read_ngrams() {
    for (WordId w = 0; w < t_.vocabulary.size(); ++w) t_.word[1 + w] = w;
    const auto words = c_.array<std::uint8_t>("qword");
    const std::size_t bytes = bytes_for(t_.vocabulary.size()), first = t_.level_begin[2];
    require(words.size() == (t_.num_nodes() - first) * bytes, "another number of words than of n-grams");
    for (std::size_t a = first; a < t_.num_nodes(); ++a) t_.word[a] = get_number(&words[(a - first) * bytes], bytes);
    const auto counts = c_.array<std::uint8_t>("qchild");
    std::size_t at = 0;
    std::uint64_t next = first;
    t_.first_child[ROOT] = 1;
    for (NodeId s = 1; s < t_.num_contexts(); ++s) {
      t_.first_child[s] = static_cast<NodeId>(next);
      std::uint64_t count = 0;
      for (int shift = 0;; shift += 7) {
        require(at < counts.size() && shift < 35, "numbers of children that end too early");
        count |= std::uint64_t{counts[at] & 127u} << shift;
        if (counts[at++] < 128) break;
      }
      next += count;
      require(next <= t_.num_nodes(), "more children than n-grams");
    }
    require(next == t_.num_nodes() && at == counts.size(), "another number of children than of n-grams");
    for (int n = 0; n < t_.order; ++n) {
      require(t_.first_child[t_.level_begin[n]] == t_.level_begin[n + 1], "children on another level");
    }
  }

  void read_column(std::string_view sizes_name, std::string_view books_name, std::string_view codes_name,
                   int last_level, Column<float>& column) const {
    const auto sizes = c_.array<std::uint32_t>(sizes_name);
    const auto books = c_.array<float>(books_name);
    const auto codes = c_.array<std::uint8_t>(codes_name);
    require(sizes.size() == static_cast<std::size_t>(last_level), "numbers of other orders");
    std::size_t book = 0, at = 0;
    for (int n = 1; n <= last_level; ++n) {
      const std::size_t size = sizes[n - 1], count = t_.num_ngrams(n);
      const std::size_t bytes = size == 0 ? sizeof(float) : bytes_for(size);
      require(size <= MOST_CODES && book + size <= books.size() && count <= (codes.size() - at) / bytes,
              "fewer numbers than n-grams");
      if (size == 0) {
        if (count > 0) std::memcpy(&column[t_.level_begin[n]], &codes[at], count * bytes);
      } else {
        for (std::size_t i = 0; i < count; ++i) {
          const std::uint32_t code = get_number(&codes[at + i * bytes], bytes);
          require(code < size, "a code that means nothing");
          column[t_.level_begin[n] + i] = books[book + code];
        }
      }
      book += size;
      at += count * bytes;
    }
    require(at == codes.size() && book == books.size(), "more numbers than n-grams");
    for (const float x : column) require(x < INFINITY, "numbers that are none");
  }

  void link() {
    for (NodeId s = 1; s < t_.num_contexts(); ++s) {
      check_interrupt_at(s);
      for (NodeId a = t_.first_child[s]; a < t_.first_child[s + 1]; ++a) {
        require(t_.word[a] < t_.vocabulary.size() && (a == t_.first_child[s] || t_.word[a - 1] < t_.word[a]),
                "n-grams out of order");
        t_.suffix[a] = t_.child(t_.suffix[s], t_.word[a]);
        require(t_.suffix[a] != NO_NODE, "an n-gram without its suffix");
      }
    }
  }

  const Container& c_;
  NgramTable t_;
};

}  // namespace

bool is_compact(const Container& container) { return container.has("qword"); }

NgramTable open_compact(const Container& container) { return CompactReader(container).run(); }

void write_compact(const NgramTable& table, const std::function<void(std::string_view)>& sink) {
  const CompactFacts facts{static_cast<std::uint32_t>(table.order), table.unknown_is_listed, table.begin_log_prob};
  const Vocabulary::Parts words = table.vocabulary.parts();
  std::vector<std::uint8_t> ids, counts;
  const std::size_t bytes = bytes_for(table.vocabulary.size());
  for (NodeId a = table.level_begin[2]; a < table.num_nodes(); ++a) put_number(ids, table.word[a], bytes);
  for (NodeId s = 1; s < table.num_contexts(); ++s) {
    NodeId count = table.first_child[s + 1] - table.first_child[s];
    for (; count >= 128; count >>= 7) counts.push_back(static_cast<std::uint8_t>(count | 128));
    counts.push_back(static_cast<std::uint8_t>(count));
  }
  const CodedColumn probs(table, table.log_prob, table.order), backoffs(table, table.log_backoff, table.order - 1);
  ContainerWriter writer("ngram");
  writer.add("facts", std::span<const CompactFacts>(&facts, 1));
  writer.add("levels", std::span<const NodeId>(table.level_begin));
  writer.add("text", words.text);
  writer.add("wordbegn", words.begin);
  writer.add("qword", std::span<const std::uint8_t>(ids));
  writer.add("qchild", std::span<const std::uint8_t>(counts));
  writer.add("qpsizes", std::span<const std::uint32_t>(probs.sizes));
  writer.add("qpbooks", std::span<const float>(probs.books));
  writer.add("qpcodes", std::span<const std::uint8_t>(probs.codes));
  writer.add("qbsizes", std::span<const std::uint32_t>(backoffs.sizes));
  writer.add("qbbooks", std::span<const float>(backoffs.books));
  writer.add("qbcodes", std::span<const std::uint8_t>(backoffs.codes));
  writer.write(sink);
}

}  // namespace hiddenite::lm
