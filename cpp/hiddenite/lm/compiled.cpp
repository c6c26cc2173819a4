#include "hiddenite/lm/compiled.hpp"

#include <array>
#include <cstdint>

#include "hiddenite/base/clones.hpp"
#include "hiddenite/base/error.hpp"
#include "hiddenite/lm/tools/compact.hpp"

namespace hiddenite::lm {

namespace {

constexpr std::string_view KIND = "ngram";
constexpr int MOST_LEVELS = 64;

// What is no array.
struct Facts {
  std::uint32_t order;
  std::uint32_t unknown_is_listed;
  double begin_log_prob;
};

// ------------------------------------------------------------- structure

// Loops without an early end, so that they run at the speed of memory.
HIDDENITE_CLONES bool all_within(const NodeId* values, std::size_t size, NodeId first, NodeId last) {
  NodeId worst = 0;
  for (std::size_t i = 0; i < size; ++i) worst = std::max(worst, values[i] - first);  // below `first` it is huge
  return size == 0 || (first < last && worst < last - first);
}

HIDDENITE_CLONES bool never_falls(const NodeId* values, std::size_t size) {
  std::uint32_t falls = 0;
  for (std::size_t i = 1; i < size; ++i) falls |= values[i] < values[i - 1];
  return falls == 0;
}

class StructureCheck {
 public:
  StructureCheck(const NgramTable& table, const Container& container) : t_(table), container_(container) {}

  void run() const {
    check_levels();
    check_sizes();
    check_children();
    check_suffixes();
    check_unigrams();
  }

 private:
  void require(bool holds, std::string_view what) const {
    if (!holds) container_.fail("the compiled model holds " + std::string(what));
  }

  void check_levels() const {
    const auto& begin = t_.level_begin;
    require(begin.size() == static_cast<std::size_t>(t_.order) + 2, "levels that do not fit its order");
    require(begin[0] == 0 && begin[1] == 1 && never_falls(begin.data(), begin.size()), "levels out of order");
    require(begin.back() < NO_NODE && t_.num_ngrams(1) == t_.vocabulary.size(), "other unigrams than words");
  }

  void check_sizes() const {
    const std::size_t nodes = t_.num_nodes(), contexts = t_.num_contexts();
    require(t_.word.size() == nodes && t_.suffix.size() == nodes && t_.log_prob.size() == nodes &&
                t_.log_max_prob.size() == nodes,
            "columns that are not as long as its n-grams are many");
    require(t_.log_backoff.size() == contexts && t_.log_max_backoff.size() == contexts &&
                t_.first_child.size() == contexts + 1,
            "columns that are not as long as its contexts are many");
    require(all_within(t_.implied.data(), t_.implied.size(), 1, t_.num_nodes()), "inserted n-grams that do not exist");
  }

  // The children of a level are the next level.
  void check_children() const {
    require(never_falls(t_.first_child.data(), t_.first_child.size()), "children that overlap");
    for (int n = 0; n < t_.order; ++n) {
      require(t_.first_child[t_.level_begin[n]] == t_.level_begin[n + 1], "children on another level");
    }
    require(t_.first_child.back() == t_.num_nodes(), "children that are no n-grams");
  }

  void check_suffixes() const {
    require(t_.suffix[ROOT] == ROOT, "a suffix of nothing");
    for (int n = 1; n <= t_.order; ++n) {
      const NodeId begin = t_.level_begin[n], size = t_.level_begin[n + 1] - begin;
      const bool fits = all_within(t_.suffix.data() + begin, size, t_.level_begin[n - 1], t_.level_begin[n]);
      require(fits, "suffixes on another level");
    }
  }

  // The scorer ends its search for a word at the word's own unigram.
  void check_unigrams() const {
    bool fits = t_.word[ROOT] == NO_WORD;
    for (WordId w = 0; w < t_.vocabulary.size(); ++w) fits &= t_.word[1 + w] == w;
    require(fits, "unigrams out of order");
  }

  const NgramTable& t_;
  const Container& container_;
};

template <class T>
Column<T> column(const Container& container, std::string_view name) {
  return Column<T>::view(container.array<T>(name));
}

Vocabulary open_vocabulary(const Container& container) {
  const Vocabulary::Parts parts{container.array<char>("text"), container.array<std::uint64_t>("wordbegn"),
                                container.array<Vocabulary::Slot>("hash")};
  const std::string_view fault = Vocabulary::first_fault(parts);
  if (!fault.empty()) container.fail("the compiled model holds " + std::string(fault));
  return Vocabulary(parts);
}

std::string_view index_name(std::string_view name, bool ends) {
  static constexpr std::array<std::array<std::string_view, 10>, 2> names{{
      {"O-start", "O-state", "O-arc", "O-head", "O-class", "O-upword", "O-upuni", "O-fall", "O-down", "O-tables"},
      {"E-start", "E-state", "E-arc", "E-head", "E-class", "E-upword", "E-upuni", "E-fall", "E-down", "E-tables"}}};
  for (const std::string_view candidate : names[ends]) {
    if (candidate.substr(2) == name) return candidate;
  }
  throw ModelError("an index has no such part");
}

}  // namespace

// ------------------------------------------------------------------- opening

NgramTable open_compiled(std::string_view bytes, std::string name) {
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % CONTAINER_ALIGNMENT != 0) {
    throw ModelError("a compiled model must lie at a multiple of 64 bytes");
  }
  const auto container = std::make_shared<const Container>(bytes, KIND, std::move(name));
  if (is_compact(*container)) return open_compact(*container);
  const auto facts = container->array<Facts>("facts");
  if (facts.size() != 1 || facts[0].order < 1 || facts[0].order > MOST_LEVELS) {
    container->fail("the compiled model has an impossible order");
  }
  NgramTable table;
  table.order = static_cast<int>(facts[0].order);
  table.unknown_is_listed = facts[0].unknown_is_listed != 0;
  table.begin_log_prob = facts[0].begin_log_prob;
  const auto levels = container->array<NodeId>("levels");
  table.level_begin.assign(levels.begin(), levels.end());
  table.vocabulary = open_vocabulary(*container);
  table.word = column<WordId>(*container, "word");
  table.suffix = column<NodeId>(*container, "suffix");
  table.first_child = column<NodeId>(*container, "child");
  table.log_prob = column<float>(*container, "prob");
  table.log_max_prob = column<float>(*container, "maxprob");
  table.log_backoff = column<float>(*container, "backoff");
  table.log_max_backoff = column<float>(*container, "maxback");
  table.implied = column<NodeId>(*container, "implied");
  StructureCheck(table, *container).run();
  table.container = container;
  return table;
}

void verify(const NgramTable& table) {
  if (table.container) table.container->verify();
}

std::unique_ptr<StateIndex> compiled_index(const NgramTable& table, bool ends) {
  if (!table.container || !table.container->has(index_name("start", ends))) return nullptr;
  const Container& container = *table.container;
  container.verify();
  const auto start = container.array<NodeId>(index_name("start", ends));
  const StateIndex::Parts parts{
      container.array<StateIndex::State>(index_name("state", ends)),
      container.array<StateIndex::Arc>(index_name("arc", ends)),
      container.array<StateIndex::ArcHead>(index_name("head", ends)),
      container.array<std::uint8_t>(index_name("class", ends)),
      container.array<float>(index_name("upword", ends)),
      container.array<float>(index_name("upuni", ends)),
      container.array<float>(index_name("fall", ends)),
      container.array<float>(index_name("down", ends)),
      container.array<StateIndex::ClassOfArcs>(index_name("tables", ends)),
      start.size() == 1 ? start[0] : NO_NODE};
  const std::size_t words = table.vocabulary.size();
  std::size_t num_classes = 1;
  for (const std::uint8_t c : parts.word_class) num_classes = std::max<std::size_t>(num_classes, c + 1);
  if (parts.states.size() != table.num_contexts() + std::size_t{1} || parts.arcs.size() != table.num_nodes() ||
      parts.heads.size() != table.num_nodes() || parts.fall_after_word.size() != num_classes * words ||
      parts.down_after_word.size() != num_classes * words ||
      parts.word_class.size() != words || parts.up_of_word.size() != words ||
      parts.unigram_up_to_root.size() != words || parts.start >= table.num_contexts()) {
    container.fail("the index of the compiled model does not fit its table");
  }
  return std::make_unique<StateIndex>(table, ends, parts);
}

// ------------------------------------------------------------------- writing

namespace {

void add_table(ContainerWriter& writer, const NgramTable& table) {
  const Vocabulary::Parts words = table.vocabulary.parts();
  writer.add("levels", std::span<const NodeId>(table.level_begin));
  writer.add("text", words.text);
  writer.add("wordbegn", words.begin);
  writer.add("hash", words.slots);
  writer.add("word", table.word.span());
  writer.add("suffix", table.suffix.span());
  writer.add("child", table.first_child.span());
  writer.add("prob", table.log_prob.span());
  writer.add("maxprob", table.log_max_prob.span());
  writer.add("backoff", table.log_backoff.span());
  writer.add("maxback", table.log_max_backoff.span());
  writer.add("implied", table.implied.span());
}

void add_index(ContainerWriter& writer, const StateIndex& index, const NodeId& start) {
  const StateIndex::Parts parts = index.parts();
  const bool ends = index.ends();
  writer.add(index_name("start", ends), std::span<const NodeId>(&start, 1));
  writer.add(index_name("state", ends), parts.states);
  writer.add(index_name("arc", ends), parts.arcs);
  writer.add(index_name("head", ends), parts.heads);
  writer.add(index_name("class", ends), parts.word_class);
  writer.add(index_name("upword", ends), parts.up_of_word);
  writer.add(index_name("upuni", ends), parts.unigram_up_to_root);
  writer.add(index_name("fall", ends), parts.fall_after_word);
  writer.add(index_name("down", ends), parts.down_after_word);
  writer.add(index_name("tables", ends), parts.class_tables);
}

}  // namespace

void write_compiled(const NgramTable& table, bool with_index, const std::function<void(std::string_view)>& sink) {
  verify(table);
  const Facts facts{static_cast<std::uint32_t>(table.order), table.unknown_is_listed, table.begin_log_prob};
  ContainerWriter writer(KIND);
  writer.add("facts", std::span<const Facts>(&facts, 1));
  add_table(writer, table);
  std::unique_ptr<StateIndex> index;
  NodeId start = ROOT;
  if (with_index) {
    index = std::make_unique<StateIndex>(table, true);
    start = index->start();
    add_index(writer, *index, start);
  }
  writer.write(sink);
}

}  // namespace hiddenite::lm
