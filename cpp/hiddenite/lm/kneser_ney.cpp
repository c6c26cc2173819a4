#include "hiddenite/lm/kneser_ney.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <stdlib.h>
#include <unistd.h>

#include "hiddenite/base/error.hpp"
#include "hiddenite/lm/windows.hpp"

namespace hiddenite::lm {

namespace {

// The n-grams of one order in the order of the sorted windows: all that share
// a suffix stand together, ordered by their first word. Level 1 is indexed by
// word id.
struct CountedLevel {
  std::vector<WordId> first;          // the first word
  std::vector<std::uint32_t> suffix;  // the n-gram without it, on the level below
  std::vector<std::uint32_t> count;   // adjusted
  std::vector<std::uint32_t> raw;     // occurrences; only if n-grams are pruned
  std::size_t size() const { return first.size(); }
};

void increase(std::uint32_t& count, std::uint64_t by) {
  const std::uint64_t sum = count + by;
  if (sum > std::numeric_limits<std::uint32_t>::max()) {
    throw ModelError("an n-gram occurs more than 4 billion times");
  }
  count = static_cast<std::uint32_t>(sum);
}

// Collects the n-grams of all orders from windows in sorted order.
class WindowScanner {
 public:
  WindowScanner(int order, bool keep_raw)
      : levels_(order), current_(order + 1), previous_(order, 0), keep_raw_(keep_raw) {}

  void add(WindowKeys keys, std::uint64_t count) {
    const std::size_t order = keys.size();
    std::size_t same = 0, depth = 0;
    while (depth < order && keys[depth] != 0) ++depth;
    while (same < depth && keys[same] == previous_[same]) ++same;
    for (std::size_t n = same + 1; n <= depth; ++n) {
      CountedLevel& level = levels_[n - 1];
      if (n > 1) increase(levels_[n - 2].count[current_[n - 1]], 1);
      current_[n] = static_cast<std::uint32_t>(level.size());
      level.first.push_back(keys[n - 1] - 1);
      level.suffix.push_back(current_[n - 1]);
      level.count.push_back(0);
      if (keep_raw_) level.raw.push_back(0);
    }
    increase(levels_[depth - 1].count[current_[depth]], count);
    if (keep_raw_) {
      for (std::size_t n = 1; n <= depth; ++n) increase(levels_[n - 1].raw[current_[n]], count);
    }
    std::copy(keys.begin(), keys.end(), previous_.begin());
  }

  std::vector<CountedLevel> finish(WordId num_words) {
    index_unigrams_by_word(num_words);
    return std::move(levels_);
  }

 private:
  void index_unigrams_by_word(WordId num_words) {
    CountedLevel& found = levels_[0];
    CountedLevel unigrams;
    unigrams.first.resize(num_words);
    unigrams.suffix.assign(num_words, 0);
    unigrams.count.assign(num_words, 0);
    if (keep_raw_) unigrams.raw.assign(num_words, 0);
    for (WordId w = 0; w < num_words; ++w) unigrams.first[w] = w;
    for (std::size_t i = 0; i < found.size(); ++i) {
      unigrams.count[found.first[i]] = found.count[i];
      if (keep_raw_) unigrams.raw[found.first[i]] = found.raw[i];
    }
    if (levels_.size() > 1) {
      for (std::uint32_t& suffix : levels_[1].suffix) suffix = found.first[suffix];
    }
    found = std::move(unigrams);
  }

  std::vector<CountedLevel> levels_;
  std::vector<std::uint32_t> current_;  // [n]: the n-gram of the last window
  std::vector<std::uint32_t> previous_;
  bool keep_raw_;
};

// How often n-gram i of order n occurs: what its left extensions occur, added up.
std::uint64_t occurrences(const std::vector<CountedLevel>& levels, std::size_t n, std::uint32_t i) {
  if (n == levels.size() || levels[n - 1].first[i] == SENTENCE_BEGIN) return levels[n - 1].count[i];
  const auto& suffix = levels[n].suffix;
  const auto [begin, end] = std::equal_range(suffix.begin(), suffix.end(), i);
  std::uint64_t total = 0;
  for (auto j = begin; j != end; ++j) {
    total += occurrences(levels, n + 1, static_cast<std::uint32_t>(j - suffix.begin()));
  }
  return total;
}

// lmplz sorts words by first appearance, and into the statistics of each lower
// order it enters the n-gram that comes last with its occurrences instead of
// its adjusted count. Doing the same keeps the two models equal: in a text of a
// million words, that one n-gram moves probabilities by 1e-3.
struct LastNgrams {
  std::vector<std::uint32_t> ngram;         // [n - 1]
  std::vector<std::uint64_t> occurrences;   // [n - 1]
};

LastNgrams find_last_ngrams(const std::vector<CountedLevel>& levels, const std::vector<WordId>& appearance) {
  const auto later = [&](WordId a, WordId b) { return appearance[a] < appearance[b]; };
  LastNgrams last;
  const CountedLevel& words = levels[0];
  WordId last_word = SENTENCE_END;
  for (const WordId w : words.first) {
    if (words.count[w] > 0 && later(last_word, w)) last_word = w;
  }
  last.ngram.push_back(last_word);
  for (std::size_t n = 1; n < levels.size(); ++n) {
    last.occurrences.push_back(occurrences(levels, n, last.ngram.back()));
    if (levels[n - 1].first[last.ngram.back()] == SENTENCE_BEGIN) break;
    const CountedLevel& above = levels[n];
    const auto [begin, end] = std::equal_range(above.suffix.begin(), above.suffix.end(), last.ngram.back());
    const auto first = above.first.begin();
    const auto extension = std::max_element(first + (begin - above.suffix.begin()),
                                            first + (end - above.suffix.begin()), later);
    last.ngram.push_back(static_cast<std::uint32_t>(extension - first));
  }
  last.ngram.resize(last.occurrences.size());
  return last;
}

Discounts estimate_discounts(const std::vector<CountedLevel>& levels, std::size_t n, const LastNgrams& last) {
  std::array<double, 5> counts{};
  const auto enter = [&](std::uint64_t count, double times) {
    if (count >= 1 && count <= 4) counts[count] += times;
  };
  for (const std::uint32_t c : levels[n - 1].count) enter(c, 1);
  if (n <= last.ngram.size()) {
    enter(levels[n - 1].count[last.ngram[n - 1]], -1);
    enter(last.occurrences[n - 1], 1);
  }
  Discounts result;
  if (counts[1] == 0 || counts[2] == 0 || counts[3] == 0) return result;
  const double y = counts[1] / (counts[1] + 2 * counts[2]);
  std::array<double, 3> d{};
  for (int k = 1; k <= 3; ++k) {
    d[k - 1] = k - (k + 1) * y * counts[k + 1] / counts[k];
    if (d[k - 1] < 0 || d[k - 1] > k) return result;
  }
  result.d = d;
  result.closed_form = true;
  return result;
}

// Turns counted levels into probabilities and back-off weights, from below.
class Interpolator {
 public:
  Interpolator(std::vector<CountedLevel>& counted, const std::vector<Discounts>& discounts,
               const std::vector<std::uint64_t>& prune)
      : counted_(counted), discounts_(discounts), prune_(prune) {}

  void run(TableBuilder& builder) {
    interpolate_unigrams();
    for (std::size_t n = 2; n <= counted_.size(); ++n) {
      find_contexts(n);
      interpolate(n);
      builder.add(emit(n - 1));
      release(n);
      lower_prob_ = std::move(prob_);
    }
    gamma_.assign(counted_.back().size(), 1.0);
    builder.add(emit(counted_.size()));
  }

 private:
  bool is_pruned(std::size_t n, std::size_t i) const {
    if (prune_.empty() || n == 1) return false;
    const std::uint64_t threshold = prune_[std::min(n, prune_.size()) - 1];
    return threshold > 0 && counted_[n - 1].raw[i] <= threshold;
  }

  void interpolate_unigrams() {
    const CountedLevel& level = counted_[0];
    double total = 0, discounted = 0;
    for (const std::uint32_t c : level.count) {
      total += c;
      discounted += discounts_[0].of(c);
    }
    const double uniform = discounted / total / static_cast<double>(level.size() - 1);
    lower_prob_.resize(level.size());
    for (std::size_t w = 0; w < level.size(); ++w) {
      lower_prob_[w] = (level.count[w] - discounts_[0].of(level.count[w])) / total + uniform;
    }
  }

  // context_[i]: the n-gram i of level n without its last word, on level n - 1.
  // It begins with the same word as i, and without that word it is the context
  // of i's suffix: one of the left extensions of that context, which stand
  // together and in order.
  void find_contexts(std::size_t n) {
    const CountedLevel& level = counted_[n - 1];
    if (n == 2) {
      context_ = level.first;
      return;
    }
    const CountedLevel& below = counted_[n - 2];
    std::vector<std::uint32_t> extensions(counted_[n - 3].size() + 1, 0);
    for (const std::uint32_t s : below.suffix) ++extensions[s + 1];
    for (std::size_t s = 1; s < extensions.size(); ++s) extensions[s] += extensions[s - 1];
    std::vector<std::uint32_t> context(level.size());
    std::size_t place = 0;
    for (std::size_t i = 0; i < level.size(); ++i) {
      const std::uint32_t shared = context_[level.suffix[i]];
      if (i == 0 || level.suffix[i] != level.suffix[i - 1]) place = extensions[shared];
      const auto end = below.first.begin() + extensions[shared + 1];
      const auto found = std::lower_bound(below.first.begin() + static_cast<std::ptrdiff_t>(place),
                                          end, level.first[i]);
      place = static_cast<std::size_t>(found - below.first.begin());
      context[i] = static_cast<std::uint32_t>(place);
    }
    context_ = std::move(context);
  }

  void interpolate(std::size_t n) {
    const CountedLevel& level = counted_[n - 1];
    const std::size_t num_contexts = counted_[n - 2].size();
    std::vector<double> total(num_contexts, 0.0);
    gamma_.assign(num_contexts, 0.0);
    for (std::size_t i = 0; i < level.size(); ++i) {
      total[context_[i]] += level.count[i];
      gamma_[context_[i]] += is_pruned(n, i) ? level.count[i] : discounts_[n - 1].of(level.count[i]);
    }
    for (std::size_t s = 0; s < num_contexts; ++s) gamma_[s] = total[s] > 0 ? gamma_[s] / total[s] : 1.0;
    prob_.resize(level.size());
    for (std::size_t i = 0; i < level.size(); ++i) {
      const std::uint32_t s = context_[i];
      prob_[i] = (level.count[i] - discounts_[n - 1].of(level.count[i])) / total[s] +
                 gamma_[s] * lower_prob_[level.suffix[i]];
    }
  }

  // Level n, whose probabilities are in lower_prob_ and back-off weights in gamma_.
  NgramLevel emit(std::size_t n) const {
    NgramLevel result;
    result.n = static_cast<int>(n);
    const bool top = n == counted_.size();
    const std::size_t size = counted_[n - 1].size();
    result.words.reserve(size * n);
    result.log_prob.reserve(size);
    if (!top) result.log_backoff.reserve(size);
    for (std::size_t i = 0; i < size; ++i) {
      if (is_pruned(n, i)) continue;
      std::size_t j = i;
      for (std::size_t k = n; k >= 1; --k) {
        result.words.push_back(counted_[k - 1].first[j]);
        j = counted_[k - 1].suffix[j];
      }
      // A sum that is 1 on paper may come out above it.
      result.log_prob.push_back(static_cast<float>(std::log(std::min(lower_prob_[i], 1.0))));
      if (!top) result.log_backoff.push_back(static_cast<float>(std::log(gamma_[i])));
    }
    return result;
  }

  // The counts of level n are no longer needed; its words are.
  void release(std::size_t n) { std::vector<std::uint32_t>().swap(counted_[n - 1].count); }

  std::vector<CountedLevel>& counted_;
  const std::vector<Discounts>& discounts_;
  const std::vector<std::uint64_t>& prune_;
  std::vector<std::uint32_t> context_;
  std::vector<double> lower_prob_, prob_;
  std::vector<double> gamma_;  // per context of the level being interpolated
};

}  // namespace

// ----------------------------------------------------------------- trainer

KneserNeyTrainer::KneserNeyTrainer(TrainOptions options)
    : options_(std::move(options)),
      // Per token in memory: itself, its depth, two entries of the sort, slack.
      tokens_in_memory_(std::max<std::size_t>(options_.memory_bytes / 16, 1024)) {
  if (options_.vocabulary) {
    for (const std::string& word : *options_.vocabulary) vocabulary_.add(word);
  }
  occurrences_.assign(vocabulary_.size(), 0);
}

KneserNeyTrainer::~KneserNeyTrainer() = default;

void KneserNeyTrainer::add(LineReader& lines) {
  std::string_view line;
  while (lines.next(line)) {
    if (lines.line_number() == 1) line = without_bom(line);
    check_text(line, lines.name(), lines.line_number());
    add_sentence(line, lines);
    if (tokens_.size() >= tokens_in_memory_) spool();
  }
}

void KneserNeyTrainer::add_sentence(std::string_view line, const LineReader& lines) {
  tokens_.push_back(SENTENCE_BEGIN);
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
    const WordId id = options_.vocabulary ? vocabulary_.id_or_unknown(word) : vocabulary_.add(word);
    if (id == SENTENCE_BEGIN || id == SENTENCE_END) {
      throw FormatError(lines.name(), lines.line_number(),
                        "found the word " + std::string(word) +
                            ", expected none: sentence boundaries are added to each line; remove it");
    }
    if (id >= occurrences_.size()) occurrences_.resize(id + std::size_t{1}, 0);
    ++occurrences_[id];
    tokens_.push_back(id);
    ++num_tokens_;
  }
  tokens_.push_back(SENTENCE_END);
  ++num_tokens_;
  ++num_sentences_;
}

KneserNeyTrainer::TemporaryFile KneserNeyTrainer::temporary_file() const {
  std::string name = options_.temporary_directory + "/hiddenite-XXXXXX";
  const int descriptor = mkstemp(name.data());
  std::FILE* file = descriptor < 0 ? nullptr : fdopen(descriptor, "w+b");
  if (!file) {
    throw ModelError("no temporary file can be made in " + options_.temporary_directory + ": " +
                     std::strerror(errno) + "; give another directory");
  }
  unlink(name.c_str());  // gone with the process, however it ends
  return TemporaryFile(file);
}

void KneserNeyTrainer::spool() {
  if (!spool_) spool_ = temporary_file();
  if (std::fwrite(tokens_.data(), sizeof(WordId), tokens_.size(), spool_.get()) != tokens_.size()) {
    throw ModelError(std::string("the text cannot be kept on disk: ") + std::strerror(errno));
  }
  spooled_.push_back(tokens_.size());
  tokens_.clear();
}

// Fixes the vocabulary: rare words become <unk>, the others are numbered by length.
void KneserNeyTrainer::renumber_words() {
  if (num_sentences_ == 0) throw ModelError("the text is empty: expected at least one sentence");
  Vocabulary kept;
  for (WordId w = NUM_SPECIAL_WORDS; w < vocabulary_.size(); ++w) {
    if (occurrences_[w] >= options_.unknown_below) kept.add(vocabulary_.word(w));
  }
  kept = kept.reordered(kept.order_by_length());
  final_id_.resize(vocabulary_.size());
  for (WordId w = 0; w < vocabulary_.size(); ++w) final_id_[w] = kept.id_or_unknown(vocabulary_.word(w));
  vocabulary_ = std::move(kept);
}

Estimate KneserNeyTrainer::finish() {
  renumber_words();
  return estimate([&](const WindowVisitor& visit) { visit_windows(visit); });
}

// The windows of the text, from memory or by runs on disk.
void KneserNeyTrainer::visit_windows(const WindowVisitor& visit) {
  const auto renumber = [&](std::vector<WordId>& tokens) {
    for (WordId& w : tokens) w = final_id_[w];
  };
  const WordId num_words = vocabulary_.size();
  renumber(tokens_);
  if (spooled_.empty()) {
    visit_sorted_windows(tokens_, options_.order, num_words, visit);
    std::vector<WordId>().swap(tokens_);
    return;
  }
  std::vector<TemporaryFile> files;
  std::vector<WindowRun> runs;
  const auto add_run = [&](std::span<const WordId> tokens) {
    files.push_back(temporary_file());
    runs.emplace_back(files.back().get(), options_.order).write(tokens, num_words);
  };
  add_run(tokens_);
  std::fseek(spool_.get(), 0, SEEK_SET);
  for (const std::size_t size : spooled_) {
    tokens_.resize(size);
    if (std::fread(tokens_.data(), sizeof(WordId), size, spool_.get()) != size) {
      throw ModelError("the text kept on disk cannot be read again");
    }
    renumber(tokens_);
    add_run(tokens_);
  }
  std::vector<WordId>().swap(tokens_);
  merge_runs(runs, visit);
}

Estimate KneserNeyTrainer::estimate(const std::function<void(const WindowVisitor&)>& visit_all) {
  const WordId num_words = vocabulary_.size();
  std::vector<WordId> appearance(num_words, UNKNOWN);  // [final id]: words in order of appearance
  for (WordId w = SENTENCE_BEGIN; w < final_id_.size(); ++w) {
    if (final_id_[w] != UNKNOWN) appearance[final_id_[w]] = w;
  }
  WindowScanner scanner(options_.order, !options_.prune.empty());
  visit_all([&](WindowKeys keys, std::uint64_t count) { scanner.add(keys, count); });

  Estimate result;
  result.num_sentences = num_sentences_;
  result.num_tokens = num_tokens_;
  std::vector<CountedLevel> counted = scanner.finish(num_words);
  while (counted.size() > 1 && counted.back().size() == 0) counted.pop_back();
  const LastNgrams last = find_last_ngrams(counted, appearance);
  for (std::size_t n = 1; n <= counted.size(); ++n) {
    result.discounts.push_back(estimate_discounts(counted, n, last));
  }
  TableBuilder builder(std::move(vocabulary_));
  Interpolator(counted, result.discounts, options_.prune).run(builder);
  std::vector<CountedLevel>().swap(counted);
  result.table = builder.finish();
  return result;
}

// ------------------------------------------------------------------ shards

WordCounts KneserNeyTrainer::word_counts() const {
  WordCounts result{{}, {}, num_sentences_, num_tokens_};
  for (WordId w = NUM_SPECIAL_WORDS; w < vocabulary_.size(); ++w) {
    result.words.emplace_back(vocabulary_.word(w));
    result.occurrences.push_back(occurrences_[w]);
  }
  return result;
}

void KneserNeyTrainer::add_words(const WordCounts& counts) {
  for (std::size_t k = 0; k < counts.words.size(); ++k) {
    const WordId id = vocabulary_.add(counts.words[k]);
    if (id >= occurrences_.size()) occurrences_.resize(id + std::size_t{1}, 0);
    occurrences_[id] += counts.occurrences[k];
  }
  num_sentences_ += counts.num_sentences;
  num_tokens_ += counts.num_tokens;
}

std::vector<std::string> KneserNeyTrainer::fix_vocabulary() {
  renumber_words();
  std::vector<std::string> words;
  for (WordId w = NUM_SPECIAL_WORDS; w < vocabulary_.size(); ++w) words.emplace_back(vocabulary_.word(w));
  return words;
}

Estimate KneserNeyTrainer::finish(const std::vector<std::string>& run_files) {
  std::vector<TemporaryFile> files;
  std::vector<WindowRun> runs;
  for (const std::string& name : run_files) {
    files.emplace_back(std::fopen(name.c_str(), "rb"));
    if (!files.back()) throw ModelError(name + " cannot be read: " + std::strerror(errno));
    runs.emplace_back(files.back().get(), options_.order);
  }
  return estimate([&](const WindowVisitor& visit) { merge_runs(runs, visit); });
}

std::string count_windows(LineReader& lines, const std::vector<std::string>& words, int order) {
  Vocabulary vocabulary;
  for (const std::string& word : words) vocabulary.add(word);
  std::vector<WordId> tokens;
  for (std::string_view line; lines.next(line);) {
    if (lines.line_number() == 1) line = without_bom(line);
    tokens.push_back(SENTENCE_BEGIN);
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
      tokens.push_back(vocabulary.id_or_unknown(word));
    }
    tokens.push_back(SENTENCE_END);
  }
  char* memory = nullptr;
  std::size_t size = 0;
  {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(open_memstream(&memory, &size), &std::fclose);
    if (!file) throw ModelError(std::string("no memory for the windows: ") + std::strerror(errno));
    WindowRun(file.get(), order).write(tokens, vocabulary.size());
  }
  const std::unique_ptr<char, void (*)(void*)> owned(memory, &std::free);
  return std::string(memory, size);
}

}  // namespace hiddenite::lm
