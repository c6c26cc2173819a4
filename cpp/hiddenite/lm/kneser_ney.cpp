#include "hiddenite/lm/kneser_ney.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <stdlib.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <unistd.h>
#endif

#include "hiddenite/base/error.hpp"

namespace hiddenite::lm {

KneserNeyTrainer::KneserNeyTrainer(TrainOptions options)
    : options_(std::move(options)),
      // Per token in memory: itself, its depth, two entries of the sort, slack.
      tokens_in_memory_(std::max<std::size_t>(options_.memory_bytes / 16, 1024)),
      counts_(options_.order) {
  if (options_.vocabulary) {
    for (const std::string& word : *options_.vocabulary) vocabulary_.add(word);
  }
  occurrences_.assign(vocabulary_.size(), 0);
  first_outside_ = vocabulary_.size();
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

void KneserNeyTrainer::add_counts(LineReader& lines) {
  counts_.add(lines, vocabulary_);
  occurrences_ = counts_.occurrences(vocabulary_.size());
  num_sentences_ = occurrences_[SENTENCE_END];
  num_tokens_ = std::accumulate(occurrences_.begin(), occurrences_.end(), std::uint64_t{0}) -
                occurrences_[SENTENCE_BEGIN];
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

namespace {

// A new file of a directory that is gone with the process, however it ends; null if there can be none.
#ifdef _WIN32
std::FILE* passing_file(const std::string& directory) {
  std::string name(MAX_PATH, '\0');
  if (GetTempFileNameA(directory.c_str(), "hid", 0, name.data()) == 0) return nullptr;
  return std::fopen(name.c_str(), "w+bD");
}
#else
std::FILE* passing_file(const std::string& directory) {
  std::string name = directory + "/hiddenite-XXXXXX";
  const int descriptor = mkstemp(name.data());
  if (descriptor < 0) return nullptr;
  unlink(name.c_str());
  return fdopen(descriptor, "w+b");
}
#endif

}  // namespace

KneserNeyTrainer::TemporaryFile KneserNeyTrainer::temporary_file() const {
  std::FILE* file = passing_file(options_.temporary_directory);
  if (!file) {
    throw ModelError("no temporary file can be made in " + options_.temporary_directory + ": " +
                     std::strerror(errno) + "; give another directory");
  }
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
  if (num_sentences_ == 0) {
    throw ModelError(counts_.is_empty() ? "the text is empty, expected at least one sentence"
                                        : "the counts have no </s>, expected n-grams of whole sentences");
  }
  Vocabulary kept;
  for (WordId w = NUM_SPECIAL_WORDS; w < vocabulary_.size(); ++w) {
    if (options_.vocabulary && w >= first_outside_) break;
    if (occurrences_[w] >= options_.unknown_below) kept.add(vocabulary_.word(w));
  }
  kept = kept.reordered(kept.order_by_length());
  final_id_.resize(vocabulary_.size());
  for (WordId w = 0; w < vocabulary_.size(); ++w) final_id_[w] = kept.id_or_unknown(vocabulary_.word(w));
  vocabulary_ = std::move(kept);
}

Estimate KneserNeyTrainer::finish() {
  if (!counts_.is_empty()) {
    const bool cut_off = options_.smoothing != NgramSmoothing::KNESER_NEY;
    const CountReader::Windows windows = counts_.windows(vocabulary_, cut_off);
    renumber_words();
    return estimate([&](const WindowVisitor& visit) { visit_renumbered(windows, final_id_, options_.order, visit); });
  }
  renumber_words();
  return estimate([&](const WindowVisitor& visit) { visit_windows(visit); });
}

void KneserNeyTrainer::finish_counts(const std::function<void(std::string_view)>& write) {
  renumber_words();
  const std::vector<CountedLevel> levels = scan([&](const WindowVisitor& visit) { visit_windows(visit); }, true);
  std::vector<WordId> by_appearance{UNKNOWN, SENTENCE_BEGIN, SENTENCE_END};
  for (const WordId w : final_id_) {
    if (w >= NUM_SPECIAL_WORDS) by_appearance.push_back(w);
  }
  write_counts(levels, vocabulary_, by_appearance, num_sentences_, write);
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

std::vector<CountedLevel> KneserNeyTrainer::scan(const std::function<void(const WindowVisitor&)>& visit_all,
                                                 bool keep_raw) {
  WindowScanner scanner(options_.order, keep_raw);
  visit_all([&](WindowKeys keys, std::uint64_t count) { scanner.add(keys, count); });
  return scanner.finish(vocabulary_.size());
}

Estimate KneserNeyTrainer::estimate(const std::function<void(const WindowVisitor&)>& visit_all) {
  std::vector<WordId> appearance(vocabulary_.size(), UNKNOWN);  // [final id]: words in order of appearance
  for (WordId w = SENTENCE_BEGIN; w < final_id_.size(); ++w) {
    if (final_id_[w] != UNKNOWN) appearance[final_id_[w]] = w;
  }
  const bool is_adjusted = options_.smoothing == NgramSmoothing::KNESER_NEY;
  std::vector<CountedLevel> counted = scan(visit_all, !is_adjusted || !options_.prune.empty());
  if (!is_adjusted) {
    for (CountedLevel& level : counted) level.count = level.raw;
  }
  Estimate result;
  result.num_sentences = num_sentences_;
  result.num_tokens = num_tokens_;
  const LastNgrams last = is_adjusted ? find_last_ngrams(counted, appearance) : LastNgrams();
  const std::vector<OrderRule> rules = make_rules(counted, options_.smoothing, options_.added, last);
  if (is_adjusted || options_.smoothing == NgramSmoothing::ABSOLUTE) {
    for (const OrderRule& rule : rules) result.discounts.push_back(rule.discounts);
  }
  TableBuilder builder(std::move(vocabulary_));
  interpolate(counted, rules, options_.prune, builder);
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
