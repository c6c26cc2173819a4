#include "hiddenite/channel/confusion.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>

#include "hiddenite/base/characters.hpp"
#include "hiddenite/base/error.hpp"

namespace hiddenite::channel {

// ------------------------------------------------------------------- the model

namespace {

constexpr double TOLERANCE = 1e-6;  // of a sum of probabilities written in decimals

// What the entries take away from each character, and a character's own entry.
class Totals {
 public:
  Totals(const std::vector<Confusion>& confusions, const std::string& file) : file_(file) {
    for (const Confusion& c : confusions) {
      if (c.intended.empty()) add(inserted_, c, "inserted pieces");
    }
    for (const Confusion& c : confusions) {
      if (c.intended.empty()) continue;
      double& total = of_.try_emplace(c.intended.front(), inserted_).first->second;
      add(total, c, "inserted pieces and of all that can become of '" + to_utf8(c.intended.substr(0, 1)) + "'");
      if (is_own(c)) own_[c.intended.front()] = c.prob;
    }
    if (inserted_ >= 1.0 - TOLERANCE) {
      throw FormatError(file_, 0, "the probabilities of inserted pieces add up to 1: no word would ever end");
    }
  }

  static bool is_own(const Confusion& c) { return c.intended.size() == 1 && c.seen == c.intended; }
  double inserted() const { return inserted_; }
  std::unordered_map<char32_t, double> log_identities() const {
    std::unordered_map<char32_t, double> result;
    for (const auto& [c, total] : of_) {
      const auto own = own_.find(c);
      const double remains = 1.0 - total > TOLERANCE ? 1.0 - total : 0.0;
      result[c] = std::log(own != own_.end() ? own->second : remains);
    }
    return result;
  }

 private:
  void add(double& total, const Confusion& c, const std::string& what) const {
    total += c.prob;
    if (total > 1.0 + TOLERANCE) {
      throw FormatError(file_, c.line, "the probabilities of " + what + " add up to " + std::to_string(total) +
                                           " here, expected at most 1");
    }
  }

  const std::string& file_;
  double inserted_ = 0.0;
  std::unordered_map<char32_t, double> of_, own_;
};

}  // namespace

ConfusionModel::ConfusionModel(const std::vector<Confusion>& confusions, const std::string& file) {
  const Totals totals(confusions, file);
  log_identity_ = totals.log_identities();
  log_identity_of_others_ = log_end_ = std::log1p(-totals.inserted());
  index_of_single_.fill(NONE);
  intended_index(U"");
  for (const Confusion& c : confusions) {
    if (!Totals::is_own(c)) add_piece(c);
  }
}

ConfusionModel::Key ConfusionModel::key(std::u32string_view piece) {
  Key result = 0;
  for (const char32_t c : piece) result = result << 21 | c;
  return result;
}

void ConfusionModel::add_piece(const Confusion& c) {
  const auto index = static_cast<std::uint32_t>(pieces_.size());
  const std::uint32_t intended = intended_index(c.intended);
  pieces_.push_back({c.seen, intended, static_cast<std::uint32_t>(c.intended.size()), c.prob, std::log(c.prob)});
  intended_[intended].pieces.push_back(index);
  pieces_by_seen_[key(c.seen)].push_back(index);
}

std::uint32_t ConfusionModel::intended_index(std::u32string_view piece) {
  const auto next = static_cast<std::uint32_t>(intended_.size());
  const auto [entry, is_new] = index_of_intended_.emplace(key(piece), next);
  const std::uint32_t index = entry->second;
  if (is_new) {
    intended_.emplace_back();
    if (piece.size() == 1 && piece[0] < 128) index_of_single_[piece[0]] = index;
    if (piece.size() > 1 && piece.back() < 128) continues_.set(piece.back());
    for (std::size_t size = 1; size < piece.size(); ++size) {
      const std::uint32_t prefix = intended_index(piece.substr(0, size));
      intended_[index].prefixes.push_back(prefix);
    }
  }
  return index;
}

std::uint32_t ConfusionModel::find_intended(std::u32string_view piece) const {
  const auto found = index_of_intended_.find(key(piece));
  return found == index_of_intended_.end() ? NONE : found->second;
}

std::uint32_t ConfusionModel::find_ending(std::u32string_view path, std::size_t size) const {
  const char32_t last = path.back();
  if (last < 128 && size == 1) return index_of_single_[last];
  if (last < 128 && !continues_[last]) return NONE;
  return find_intended(path.substr(path.size() - size));
}

const std::vector<std::uint32_t>& ConfusionModel::seen_as(std::u32string_view piece) const {
  static const std::vector<std::uint32_t> none;
  const auto found = pieces_by_seen_.find(key(piece));
  return found == pieces_by_seen_.end() ? none : found->second;
}

double ConfusionModel::log_identity(char32_t c) const {
  const auto found = log_identity_.find(c);
  return found == log_identity_.end() ? log_identity_of_others_ : found->second;
}

// A draw in [0, 1) falls on a piece that applies at the place, or else the
// character is seen as itself.
std::u32string ConfusionModel::draw(std::u32string_view word, Random& random) const {
  std::u32string seen;
  for (std::size_t t = 0; t <= word.size();) {
    double u = random.uniform();
    const Piece* drawn = nullptr;
    for (std::size_t size = 0; size <= std::min(MAX_PIECE, word.size() - t) && !drawn; ++size) {
      const std::uint32_t intended = find_intended(word.substr(t, size));
      if (intended == NONE) continue;
      for (const std::uint32_t p : intended_[intended].pieces) {
        if (u < pieces_[p].prob) {
          drawn = &pieces_[p];
          break;
        }
        u -= pieces_[p].prob;
      }
    }
    if (drawn) {
      seen += drawn->seen;
      t += drawn->intended_size;
    } else {
      if (t < word.size()) seen.push_back(word[t]);
      ++t;
    }
  }
  return seen;
}

void ConfusionModel::encode_word(std::string_view word, Random* random, std::string& out) const {
  if (!random) {
    out.append(word);
    return;
  }
  const std::u32string characters = to_characters(word);
  std::u32string seen = draw(characters, *random);
  while (seen.empty()) seen = draw(characters, *random);
  out += to_utf8(seen);
}

// ------------------------------------------------------------------- alignment

// Row i, cell j: the weight of the best alignment of the first i characters
// of a path through the trie with the first j characters seen.
class AlignmentRows {
 public:
  AlignmentRows(const ConfusionModel& model, std::u32string_view seen)
      : model_(model), seen_(seen), width_(seen.size() + 1) {
    for (const char32_t c : seen) log_identity_.push_back(model.log_identity(c));
    list_applicable();
    fill_future();
    make_room(0);
    row(0)[0] = 0.0;
    insert_pieces(row(0));
    bound_[0] = bound_of(row(0));
  }

  // What no alignment can exceed.
  double best_conceivable() const { return future_[0]; }

  // Fills the row of the prefix that ends in `label`; returns a bound on the
  // weight of all words that begin so.
  double enter(std::size_t depth, char32_t label) {
    make_room(depth);
    prefix_[depth - 1] = label;
    double* const cells = row(depth);
    std::fill(cells, cells + width_, LOG_ZERO);
    keep_character(label, row(depth - 1), cells);
    double pending = LOG_ZERO;  // pieces begun but not complete
    for (std::size_t size = 1; size <= std::min(MAX_PIECE, depth); ++size) {
      const std::uint32_t intended = model_.find_ending({prefix_.data(), depth}, size);
      if (intended == ConfusionModel::NONE) continue;
      apply(intended, row(depth - size), cells);
      if (is_begun_[intended]) pending = std::max(pending, bound_[depth - size]);
    }
    insert_pieces(cells);
    bound_[depth] = bound_of(cells);
    return std::max(bound_[depth], pending);
  }

  // The weight of the prefix as a whole word.
  double log_weight(std::size_t depth) const {
    return rows_[depth * width_ + seen_.size()] + model_.log_end_;
  }

 private:
  // A piece that can be seen at from .. to.
  struct Applicable {
    std::uint32_t from, to;
    double log_prob;
  };

  double* row(std::size_t depth) { return rows_.data() + depth * width_; }

  void make_room(std::size_t depth) {
    if (bound_.size() > depth) return;
    const std::size_t size = 2 * depth + 8;
    rows_.resize(size * width_, LOG_ZERO);
    bound_.resize(size, LOG_ZERO);
    prefix_.resize(size);
  }

  template <class Visit>
  void for_each_applicable(Visit visit) const {
    for (std::size_t from = 0; from <= seen_.size(); ++from) {
      for (std::size_t size = 0; size <= std::min(MAX_PIECE, seen_.size() - from); ++size) {
        for (const std::uint32_t p : model_.seen_as(seen_.substr(from, size))) {
          visit(model_.pieces_[p], static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(from + size));
        }
      }
    }
  }

  // Sorts the pieces that occur in `seen` by what was intended: a counting sort,
  // so that those of one intention stay in order of place.
  void list_applicable() {
    begin_.assign(model_.intended_.size() + 1, 0);
    is_begun_.assign(model_.intended_.size(), false);
    for_each_applicable([&](const ConfusionModel::Piece& p, std::uint32_t, std::uint32_t) {
      ++begin_[p.intended + 1];
      for (const std::uint32_t prefix : model_.intended_[p.intended].prefixes) is_begun_[prefix] = true;
    });
    for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    applicable_.resize(begin_.back());
    std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
    for_each_applicable([&](const ConfusionModel::Piece& p, std::uint32_t from, std::uint32_t to) {
      applicable_[next[p.intended]++] = {from, to, p.log_prob};
    });
  }

  // future_[j]: the best weight that any intended text gives to seen[j ..].
  void fill_future() {
    future_.assign(width_, LOG_ZERO);
    future_.back() = model_.log_end_;
    std::vector<std::vector<Applicable>> at(width_);
    for (const Applicable& a : applicable_) {
      if (a.to > a.from) at[a.from].push_back(a);
    }
    for (std::size_t j = seen_.size(); j-- > 0;) {
      future_[j] = log_identity_[j] + future_[j + 1];
      for (const Applicable& a : at[j]) future_[j] = std::max(future_[j], a.log_prob + future_[a.to]);
    }
  }

  void keep_character(char32_t label, const double* from, double* to) const {
    for (std::size_t j = 0; j < seen_.size(); ++j) {
      if (seen_[j] == label) to[j + 1] = from[j] + log_identity_[j];
    }
  }

  void apply(std::uint32_t intended, const double* from, double* to) const {
    for (std::uint32_t i = begin_[intended]; i < begin_[intended + 1]; ++i) {
      const Applicable& a = applicable_[i];
      to[a.to] = std::max(to[a.to], from[a.from] + a.log_prob);
    }
  }

  // Pieces out of nothing; in order of place, so that one can follow another.
  void insert_pieces(double* cells) const { apply(ConfusionModel::INSERTED, cells, cells); }

  double bound_of(const double* cells) const {
    double bound = LOG_ZERO;
    for (std::size_t j = 0; j < width_; ++j) bound = std::max(bound, cells[j] + future_[j]);
    return bound;
  }

  const ConfusionModel& model_;
  std::u32string_view seen_;
  std::size_t width_;
  std::vector<double> log_identity_, future_;  // by place
  std::vector<std::uint32_t> begin_;           // by intention: its range of applicable_
  std::vector<Applicable> applicable_;
  std::vector<bool> is_begun_;                 // by intention: a longer applicable piece begins so
  std::vector<double> rows_, bound_;           // by depth
  std::u32string prefix_;
};

double ConfusionModel::log_weight(std::u32string_view intended, std::u32string_view seen) const {
  AlignmentRows rows(*this, seen);
  for (std::size_t i = 0; i < intended.size(); ++i) rows.enter(i + 1, intended[i]);
  return rows.log_weight(intended.size());
}

// ------------------------------------------------------------------ the channel

namespace {

constexpr double SLACK = 1e-9;  // bounds and weights add the same numbers in different orders

struct Found {
  WordId word;
  double log_weight;
};

// The words whose weight is at least `threshold`, within the beam of the best
// one and not below the keep-th best.
class TrieSearch {
 public:
  TrieSearch(const Trie& trie, AlignmentRows& rows, const ConfusionOptions& options)
      : trie_(trie), rows_(rows), options_(options) {}

  std::vector<Found> run(double threshold) {
    threshold_ = threshold;
    best_ = LOG_ZERO;
    found_.clear();
    top_ = {};
    trie_.walk([&](const Trie::Node& node) {
      const double bound = rows_.enter(node.depth, node.label);
      if (bound == LOG_ZERO || bound < threshold_ - SLACK) return false;
      if (node.word != NO_WORD) consider(node.word, rows_.log_weight(node.depth));
      return true;
    });
    std::erase_if(found_, [&](const Found& f) { return f.log_weight < best_ - options_.beam; });
    return std::move(found_);
  }

  double best() const { return best_; }

 private:
  void consider(WordId word, double log_weight) {
    if (log_weight == LOG_ZERO || log_weight < threshold_ - SLACK) return;
    found_.push_back({word, log_weight});
    best_ = std::max(best_, log_weight);
    threshold_ = std::max(threshold_, best_ - options_.beam);
    if (options_.keep == KEEP_ALL) return;
    top_.push(log_weight);
    if (top_.size() > options_.keep) top_.pop();
    if (top_.size() == options_.keep) threshold_ = std::max(threshold_, top_.top());
  }

  const Trie& trie_;
  AlignmentRows& rows_;
  const ConfusionOptions& options_;
  double threshold_ = LOG_ZERO, best_ = LOG_ZERO;
  std::vector<Found> found_;
  std::priority_queue<double, std::vector<double>, std::greater<>> top_;  // the keep best weights
};

// The best weight is not known beforehand, and a walk without a threshold sees
// too much. So the first walk hopes that the best word is read almost perfectly;
// where that finds too little, the next one looks further. A walk finds every
// word above its threshold, so that enough of them, or one that is so good that
// the threshold was below the beam, end the search.
std::vector<Found> search(const Trie& trie, AlignmentRows& rows, const ConfusionOptions& options) {
  constexpr double FIRST_LOSS = 12.0, LAST_LOSS = 60.0;
  TrieSearch search(trie, rows, options);
  const double perfect = rows.best_conceivable();
  if (perfect == LOG_ZERO) return {};
  double loss = options.keep == KEEP_ALL ? options.beam : std::min(options.beam, FIRST_LOSS);
  for (;;) {
    std::vector<Found> found = search.run(perfect - loss);
    const double needed = perfect - search.best() + options.beam;
    if (loss >= needed || loss == std::numeric_limits<double>::infinity()) return found;
    if (found.size() >= options.keep) return found;
    const double next = std::max(2.0 * loss, FIRST_LOSS);
    loss = std::min(next > LAST_LOSS ? std::numeric_limits<double>::infinity() : next, needed);
  }
}

}  // namespace

ConfusionChannel::ConfusionChannel(const NgramTable& table, ConfusionModel model, const ConfusionOptions& options)
    : table_(table), model_(std::move(model)), options_(options), trie_(table.vocabulary) {
  if (!(options.beam >= 0.0)) {
    throw ModelError("the confusion channel's beam is " + std::to_string(options.beam) +
                     ", expected at least 0");
  }
  options.unknown.check();
}

Reading ConfusionChannel::read_text(std::string_view line) const {
  Reading reading;
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
    const std::u32string seen = to_characters(word);
    AlignmentRows rows(model_, seen);
    options_.unknown.add(reading, table_.vocabulary, word, model_.log_weight(seen, seen));
    std::vector<Found> found = search(trie_, rows, options_);
    std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.word < b.word; });
    for (const Found& f : found) reading.add(f.word, f.log_weight);
    keep_best(reading, options_.keep, table_);
    reading.close_slot();
  }
  return reading;
}

}  // namespace hiddenite::channel
