#include "hiddenite/induce/spelling.hpp"

#include <algorithm>
#include <stdexcept>

#include "hiddenite/base/flat_map.hpp"

namespace hiddenite::induce {

namespace {

constexpr std::size_t MOST_FACTORS = 24;  // of a product that does not underflow

}  // namespace

TagSpelling::TagSpelling(unsigned num_tags, const Spellings& spellings, SpellingKind kind)
    : num_tags_(num_tags), kind_(kind), uniform_(1.0 / (spellings.num_characters + 1)) {
  const std::int32_t edge = spellings.num_characters;  // BEGIN as previous, END as next
  FlatMap ids;
  word_begin_.push_back(0);
  for (std::size_t w = 0; w + 1 < spellings.offsets.size(); ++w) {
    std::int32_t before = edge;
    for (std::int64_t i = spellings.offsets[w]; i <= spellings.offsets[w + 1]; ++i) {
      const std::int32_t character = i < spellings.offsets[w + 1] ? spellings.characters[i] : edge;
      const std::uint64_t key = static_cast<std::uint64_t>(before) << 32 | static_cast<std::uint32_t>(character);
      std::uint32_t id = ids.find(key);
      if (id == FlatMap::ABSENT) {
        id = static_cast<std::uint32_t>(next_.size());
        ids.insert(key, id);
        previous_.push_back(before);
        next_.push_back(character);
      }
      word_bigrams_.push_back(id);
      before = character;
    }
    word_begin_.push_back(static_cast<std::int64_t>(word_bigrams_.size()));
  }
  const std::size_t characters = static_cast<std::size_t>(edge) + 1;
  bigrams_.resize(next_.size() * num_tags);
  contexts_.resize(characters * num_tags);
  unigrams_.resize(characters * num_tags);
  totals_.resize(num_tags);
  seen1_.resize(bigrams_.size());
  share1_.resize(contexts_.size());
  rest1_.resize(contexts_.size());
  seen0_.resize(unigrams_.size());
  share0_.resize(num_tags);
  rest0_.resize(num_tags);
  if (kind == SpellingKind::DIRICHLET) bigram_.set(0.0, 1.0);
  write_all();
}

void TagSpelling::spell(std::uint32_t word, double* log_prob) const {
  const std::size_t width = num_tags_;
  double product[512];
  std::fill(product, product + width, 1.0);
  std::fill(log_prob, log_prob + width, 0.0);
  const auto uniform = static_cast<float>(uniform_);
  const bool flat = kind_ == SpellingKind::DIRICHLET;
  std::size_t factors = 0;
  const auto flush = [&] {
    for (std::size_t t = 0; t < width; ++t) {
      log_prob[t] += std::log(product[t]);
      product[t] = 1.0;
    }
  };
  for (const std::uint32_t bigram : bigrams_of(word)) {
    const float* seen1 = seen1_.data() + bigram * width;
    const float* share1 = share1_.data() + previous_[bigram] * width;
    const float* rest1 = rest1_.data() + previous_[bigram] * width;
    const float* seen0 = seen0_.data() + next_[bigram] * width;
    if (flat) {
      for (std::size_t t = 0; t < width; ++t) product[t] *= seen1[t] * share1[t] + rest1[t] * uniform;
    } else {
      for (std::size_t t = 0; t < width; ++t) {
        const float below = seen0[t] * share0_[t] + rest0_[t] * uniform;
        product[t] *= seen1[t] * share1[t] + rest1[t] * below;
      }
    }
    if (++factors % MOST_FACTORS == 0) flush();
  }
  flush();
}

double TagSpelling::spell(std::uint32_t word, Tag tag) const {
  double log_prob = 0.0, product = 1.0;
  const auto uniform = static_cast<float>(uniform_);
  const bool flat = kind_ == SpellingKind::DIRICHLET;
  std::size_t factors = 0;
  for (const std::uint32_t bigram : bigrams_of(word)) {
    const std::size_t context = static_cast<std::size_t>(previous_[bigram]) * num_tags_ + tag;
    const float seen0 = seen0_[static_cast<std::size_t>(next_[bigram]) * num_tags_ + tag];
    const float below = flat ? uniform : seen0 * share0_[tag] + rest0_[tag] * uniform;
    product *= seen1_[std::size_t{bigram} * num_tags_ + tag] * share1_[context] + rest1_[context] * below;
    if (++factors % MOST_FACTORS != 0) continue;
    log_prob += std::log(product);
    product = 1.0;
  }
  return log_prob + std::log(product);
}

inline TagSpelling::Values TagSpelling::values(std::uint32_t bigram, Tag tag) const {
  const std::size_t context = static_cast<std::size_t>(previous_[bigram]) * num_tags_ + tag;
  Values v{};
  v.p0 = uniform_;
  if (kind_ == SpellingKind::HIERARCHICAL) {
    v.joined0 = double{seen0_[static_cast<std::size_t>(next_[bigram]) * num_tags_ + tag]} * share0_[tag];
    v.p0 = v.joined0 + rest0_[tag] * uniform_;
  }
  v.joined = double{seen1_[std::size_t{bigram} * num_tags_ + tag]} * share1_[context];
  v.p = v.joined + rest1_[context] * v.p0;
  return v;
}

void TagSpelling::apply(std::uint32_t bigram, Tag tag, std::uint8_t opened, int sign) {
  change(bigram, tag, sign, opened > 0 ? sign : 0);
  if (opened > 0 && kind_ == SpellingKind::HIERARCHICAL) {
    change_unigram(next_[bigram], tag, sign, opened > 1 ? sign : 0);
  }
}

double TagSpelling::seat(std::uint32_t word, Tag tag, Random& random, Trail& trail) {
  LogWeight weight;
  for (const std::uint32_t bigram : bigrams_of(word)) {
    const Values v = values(bigram, tag);
    weight.multiply(v.p);
    std::uint8_t opened = 0;
    if (random.uniform() * v.p >= v.joined) {
      opened = 1;
      if (kind_ == SpellingKind::HIERARCHICAL && random.uniform() * v.p0 >= v.joined0) opened = 2;
    }
    apply(bigram, tag, opened, 1);
    trail.push_back(opened);
  }
  return weight.log();
}

double TagSpelling::replay(std::uint32_t word, Tag tag, Trail& trail) {
  LogWeight weight;
  for (const std::uint32_t bigram : bigrams_of(word)) {
    weight.multiply(values(bigram, tag).p);
    apply(bigram, tag, trail.back(), 1);
    trail.pop_back();
  }
  return weight.log();
}

void TagSpelling::redo(std::uint32_t word, Tag tag, Trail& trail) {
  for (const std::uint32_t bigram : bigrams_of(word)) {
    apply(bigram, tag, trail.back(), 1);
    trail.pop_back();
  }
}

double TagSpelling::unseat(std::uint32_t word, Tag tag, Random& random, Trail& trail) {
  LogWeight weight;
  const auto bigrams = bigrams_of(word);
  for (std::size_t i = bigrams.size(); i-- > 0;) {
    const std::uint32_t bigram = bigrams[i];
    const Seats seats = bigrams_[std::size_t{bigram} * num_tags_ + tag];
    std::uint8_t opened = random.uniform() < bigram_.stirling.opened(seats.customers, seats.tables);
    if (opened > 0 && kind_ == SpellingKind::HIERARCHICAL) {
      const Seats below = unigrams_[static_cast<std::size_t>(next_[bigram]) * num_tags_ + tag];
      if (random.uniform() < unigram_.stirling.opened(below.customers, below.tables)) opened = 2;
    }
    apply(bigram, tag, opened, -1);
    weight.multiply(values(bigram, tag).p);
    trail.push_back(opened);
  }
  return weight.log();
}

void TagSpelling::undo(std::uint32_t word, Tag tag, Trail& trail) {
  const auto bigrams = bigrams_of(word);
  for (std::size_t i = bigrams.size(); i-- > 0;) {
    apply(bigrams[i], tag, trail.back(), -1);
    trail.pop_back();
  }
}

void TagSpelling::change(std::uint32_t bigram, Tag tag, int customers, int tables) {
  const std::size_t dish = std::size_t{bigram} * num_tags_ + tag;
  const std::size_t context = static_cast<std::size_t>(previous_[bigram]) * num_tags_ + tag;
  bigrams_[dish].customers += customers;
  bigrams_[dish].tables += tables;
  contexts_[context].customers += customers;
  contexts_[context].tables += tables;
  const double a = bigram_.discount, b = bigram_.strength;
  seen1_[dish] = static_cast<float>(bigrams_[dish].customers - a * bigrams_[dish].tables);
  const double share = 1.0 / (b + contexts_[context].customers);
  share1_[context] = static_cast<float>(share);
  rest1_[context] = static_cast<float>((b + a * contexts_[context].tables) * share);
}

void TagSpelling::change_unigram(std::int32_t character, Tag tag, int customers, int tables) {
  const std::size_t dish = static_cast<std::size_t>(character) * num_tags_ + tag;
  unigrams_[dish].customers += customers;
  unigrams_[dish].tables += tables;
  totals_[tag].customers += customers;
  totals_[tag].tables += tables;
  const double a = unigram_.discount, b = unigram_.strength;
  seen0_[dish] = static_cast<float>(unigrams_[dish].customers - a * unigrams_[dish].tables);
  const double share = 1.0 / (b + totals_[tag].customers);
  share0_[tag] = static_cast<float>(share);
  rest0_[tag] = static_cast<float>((b + a * totals_[tag].tables) * share);
}

// All copies, and the sums over contexts and tags, from the counts.
void TagSpelling::write_all() {
  std::fill(contexts_.begin(), contexts_.end(), Seats{});
  std::fill(totals_.begin(), totals_.end(), Seats{});
  for (std::size_t i = 0; i < bigrams_.size(); ++i) {
    Seats& context = contexts_[static_cast<std::size_t>(previous_[i / num_tags_]) * num_tags_ + i % num_tags_];
    context.customers += bigrams_[i].customers;
    context.tables += bigrams_[i].tables;
  }
  for (std::size_t i = 0; i < unigrams_.size(); ++i) {
    totals_[i % num_tags_].customers += unigrams_[i].customers;
    totals_[i % num_tags_].tables += unigrams_[i].tables;
  }
  for (std::uint32_t bigram = 0; bigram < next_.size(); ++bigram) {
    for (unsigned t = 0; t < num_tags_; ++t) change(bigram, static_cast<Tag>(t), 0, 0);
  }
  // BEGIN is never followed by nothing: contexts without a bigram need no copies.
  for (std::size_t c = 0; c < unigrams_.size() / num_tags_; ++c) {
    for (unsigned t = 0; t < num_tags_; ++t) change_unigram(static_cast<std::int32_t>(c), static_cast<Tag>(t), 0, 0);
  }
}

void TagSpelling::set_process(unsigned level, double discount, double strength) {
  process(level).set(discount, strength);
  write_all();
}

void TagSpelling::restore(std::span<const Seats> bigrams, std::span<const Seats> unigrams) {
  std::copy(bigrams.begin(), bigrams.end(), bigrams_.begin());
  std::copy(unigrams.begin(), unigrams.end(), unigrams_.begin());
  write_all();
}

SeatingSummary TagSpelling::summary(unsigned level) const {
  SeatingSummary summary;
  for (const Seats& seats : level == 1 ? contexts_ : totals_) summary.add_restaurant(seats);
  for (const Seats& seats : level == 1 ? bigrams_ : unigrams_) summary.add_dish(seats);
  return summary;
}

double TagSpelling::log_base() const {
  std::int64_t tables = 0;
  for (const Seats& seats : kind_ == SpellingKind::HIERARCHICAL ? unigrams_ : bigrams_) tables += seats.tables;
  return static_cast<double>(tables) * std::log(uniform_);
}

void TagSpelling::check() const {
  std::vector<std::int64_t> below(unigrams_.size());
  for (std::size_t i = 0; i < bigrams_.size(); ++i) {
    const Seats seats = bigrams_[i];
    if (seats.tables < 0 || seats.customers < seats.tables || (seats.customers > 0) != (seats.tables > 0)) {
      throw std::logic_error("broken counts of character bigrams");
    }
    below[static_cast<std::size_t>(next_[i / num_tags_]) * num_tags_ + i % num_tags_] += seats.tables;
  }
  for (std::size_t i = 0; kind_ == SpellingKind::HIERARCHICAL && i < below.size(); ++i) {
    if (below[i] != unigrams_[i].customers) throw std::logic_error("broken counts of characters");
  }
}

}  // namespace hiddenite::induce
