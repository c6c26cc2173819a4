#include "hiddenite/correct/seen_words.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>

#include "hiddenite/base/characters.hpp"
#include "hiddenite/base/error.hpp"

namespace hiddenite::correct {

namespace {

constexpr std::size_t MAX_CACHED = 1u << 20;
constexpr std::size_t MAX_SPLITS = 6;
constexpr std::size_t LONGEST = 40;  // characters of a word that slips are looked for in

std::vector<std::string> split_phrase(const std::string& phrase) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= phrase.size();) {
    const std::size_t end = std::min(phrase.find(' ', begin), phrase.size());
    if (end > begin) words.push_back(phrase.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

}  // namespace

double MeantWords::left_out_of(std::size_t count) const {
  double most = left_out;
  for (std::size_t k = count; k < words.size(); ++k) most = std::max(most, words[k].score);
  return most;
}

SeenWords::SeenWords(const WordLexicon& lexicon, const EditModel& model, const SlipRates& rates,
                     const CandidateOptions& options, const PairMemory& memory)
    : lexicon_(lexicon), model_(model), rates_(rates), options_(options),
      tree_(model_.alphabet(), lexicon.characters(), lexicon.log_prior()),
      identity_(lexicon.words().size(), std::numeric_limits<float>::quiet_NaN()) {
  for (const double rate :
       {rates.word, rates.capital, rates.split, rates.merge, rates.hyphen, rates.glue, rates.spurious}) {
    if (rate > 0.0 && rate < 1.0) continue;
    throw ModelError("a rate of errors is " + std::to_string(rate) + ", expected more than 0 and less than 1");
  }
  for (std::size_t i = 0; i < memory.seen.size(); ++i) {
    memory_[memory.seen[i]].push_back({memory.meant[i], memory.counts[i]});
  }
  for (std::size_t i = 0; i < memory.meant_words.size(); ++i) {
    meant_totals_[memory.meant_words[i]] = memory.meant_totals[i];
  }
}

// ln of 1 - p_edit(w | w): whoever asks first works it out, and all get the same.
double SeenWords::log_identity(std::uint32_t word) const {
  std::atomic_ref<float> kept(identity_[word]);
  float value = kept.load(std::memory_order_relaxed);
  if (std::isnan(value)) {
    const Letters letters = model_.alphabet().letters(to_characters(lexicon_.words()[word].text));
    double prob = 1.0;  // of the alignment letter by letter, which is all but all of it
    Letter left = Alphabet::BEGIN;
    for (const Letter c : letters) {
      prob *= model_.prob(left, {c, 0, c, 0});
      left = c;
    }
    value = static_cast<float>(prob * model_.prob(left, {Alphabet::END, 0, 0, 0}));
    kept.store(value, std::memory_order_relaxed);
  }
  return std::log1p(-std::min(double{value}, 0.999));
}

double SeenWords::remembered(const std::string& seen, const std::string& meant) const {
  const auto found = memory_.find(seen);
  if (found == memory_.end()) return 0.0;
  for (const Remembered& pair : found->second) {
    if (pair.meant == meant) return pair.count;
  }
  return 0.0;
}

double SeenWords::log_channel(double log_p, double count, const std::string& meant) const {
  const double weight = options_.memory_weight;
  if (weight <= 0.0) return log_p;
  const auto total = meant_totals_.find(meant);
  if (total == meant_totals_.end()) return log_p;
  return std::log(count + weight * std::exp(log_p)) - std::log(total->second + weight);
}

void SeenWords::add_word(const std::string& seen, std::uint32_t word, double log_edit, MeantWords& out) const {
  const LexiconWord& entry = lexicon_.words()[word];
  const double log_wrong = log_edit - log_identity(word);
  const double count = remembered(seen, entry.text);
  out.words.push_back({entry.id, entry.text,
                       {log_channel(std::log(rates_.word) + log_wrong, count, entry.text) + entry.log_spell,
                        log_channel(std::log(rates_.capital) + log_wrong, count, entry.text) + entry.log_spell},
                       log_edit + lexicon_.log_prior()[word]});
}

void SeenWords::add_seen(const std::string& seen, MeantWords& out) const {
  const std::uint32_t place = lexicon_.find(seen);
  out.is_known = place != WordLexicon::ABSENT;
  const WordId id = lexicon_.model_word(seen);
  const double log_spell = out.is_known    ? lexicon_.words()[place].log_spell
                           : id == UNKNOWN ? lexicon_.log_spell(seen)
                                           : 0.0;
  const double count = remembered(seen, seen);
  out.words.push_back({id, seen, {log_channel(std::log1p(-rates_.word), count, seen) + log_spell,
                                  log_channel(std::log1p(-rates_.capital), count, seen) + log_spell}});
}

// Readings that were learnt and that the search has not found, phrases among them.
void SeenWords::add_remembered(const std::string& seen, MeantWords& out) const {
  const auto found = memory_.find(seen);
  if (found == memory_.end() || options_.memory_weight <= 0.0) return;
  for (const Remembered& pair : found->second) {
    const auto has_text = [&](const MeantWord& word) { return word.text == pair.meant; };
    if (std::any_of(out.words.begin(), out.words.end(), has_text)) continue;
    std::vector<std::string> words = split_phrase(pair.meant);
    const double log_p = log_channel(-40.0, pair.count, pair.meant);
    if (words.size() != 1) {
      if (!words.empty()) out.phrases.push_back({std::move(words), log_p});
      continue;
    }
    const WordId id = lexicon_.model_word(pair.meant);
    const double weight = log_p + (id == UNKNOWN ? lexicon_.log_spell(pair.meant) : 0.0);
    out.words.push_back({id, pair.meant, {weight, weight}});
  }
}

void SeenWords::add_mapped(const std::string& seen, MeantWords& out) const {
  const std::vector<Remembered>& pairs = memory_.at(seen);
  double total = 0.0;
  for (const Remembered& pair : pairs) total += pair.count;
  const auto weigh = [&](double count) { return options_.map_power * std::log((count + 0.01) / (total + 0.02)); };
  const auto log_prior = [&](const std::string& word) {
    return double{lexicon_.table().log_prob[1 + lexicon_.model_word(word)]};
  };
  const double own = weigh(remembered(seen, seen)) - log_prior(seen);
  out.words.push_back({lexicon_.model_word(seen), seen, {own, own}});
  for (const Remembered& pair : pairs) {
    if (pair.meant == seen) continue;
    const std::vector<std::string> words = split_phrase(pair.meant);
    double weight = weigh(pair.count);
    for (const std::string& word : words) weight -= log_prior(word);
    if (words.size() == 1) {
      out.words.push_back({lexicon_.model_word(words[0]), words[0], {weight, weight}});
    } else if (!words.empty()) {
      out.phrases.push_back({words, weight});
    }
  }
}

// Two or three known words in a row; a part of one letter is a or i.
void SeenWords::add_splits(const std::string& seen, MeantWords& out) const {
  const auto usable = [&](std::string_view part) {
    const std::uint32_t place = lexicon_.find(part);
    if (place == WordLexicon::ABSENT || lexicon_.words()[place].id == UNKNOWN) return false;
    return part.size() > 1 || part == "a" || part == "i";
  };
  const auto prior = [&](std::string_view part) { return lexicon_.words()[lexicon_.find(part)].log_prior; };
  struct Split {
    double prior;
    std::vector<std::string> words;
  };
  std::vector<Split> splits;
  const std::string_view all = seen;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (!usable(all.substr(0, i))) continue;
    const std::string_view rest = all.substr(i);
    const double first = prior(all.substr(0, i));
    if (usable(rest)) splits.push_back({first + prior(rest), {std::string(all.substr(0, i)), std::string(rest)}});
    for (std::size_t j = 2; all.size() >= 7 && j + 1 < rest.size(); ++j) {
      if (!usable(rest.substr(0, j)) || !usable(rest.substr(j))) continue;
      splits.push_back({first + prior(rest.substr(0, j)) + prior(rest.substr(j)) + std::log(rates_.split),
                        {std::string(all.substr(0, i)), std::string(rest.substr(0, j)), std::string(rest.substr(j))}});
    }
  }
  std::stable_sort(splits.begin(), splits.end(), [](const Split& a, const Split& b) { return a.prior > b.prior; });
  if (splits.size() > MAX_SPLITS) splits.resize(MAX_SPLITS);
  for (Split& split : splits) {
    const auto gaps = static_cast<double>(split.words.size() - 1);
    const auto same = [&](const MeantPhrase& phrase) { return phrase.words == split.words; };
    if (std::any_of(out.phrases.begin(), out.phrases.end(), same)) continue;
    out.phrases.push_back({std::move(split.words), gaps * std::log(rates_.split)});
  }
}

MeantWords SeenWords::find_meant(const std::string& seen, EditSearch& search) const {
  MeantWords result;
  if (options_.map_power > 0.0 && memory_.contains(seen)) {
    add_mapped(seen, result);
    result.is_known = true;
    return result;
  }
  add_seen(seen, result);
  const std::u32string characters = to_characters(seen);
  if (characters.size() <= LONGEST) {
    const FoundWords found = search.find(model_, tree_, lexicon_.log_prior(), model_.alphabet().letters(characters),
                                         result.is_known ? options_.known : options_.unknown);
    for (const FoundWord& word : found.words) {
      if (lexicon_.words()[word.word].text != seen) add_word(seen, word.word, word.log_edit, result);
    }
    result.left_out = found.left_out;
  } else if (!tree_.nodes().empty()) {
    result.left_out = std::log(tree_.nodes()[0].best);  // no word was looked at: p_edit is at most 1
  }
  add_remembered(seen, result);
  if (!result.is_known && characters.size() >= 3 && characters.size() <= LONGEST) add_splits(seen, result);
  return result;
}

std::shared_ptr<const MeantWords> SeenWords::meant(const std::string& seen, EditSearch& search) const {
  {
    const std::shared_lock lock(mutex_);
    const auto found = cache_.find(seen);
    if (found != cache_.end()) return found->second;
  }
  auto made = std::make_shared<const MeantWords>(find_meant(seen, search));
  const std::unique_lock lock(mutex_);
  if (cache_.size() < MAX_CACHED) return cache_.emplace(seen, std::move(made)).first->second;
  return made;
}

std::size_t SeenWords::num_cached() const {
  const std::shared_lock lock(mutex_);
  return cache_.size();
}

void SeenWords::clear_cache() const {
  const std::unique_lock lock(mutex_);
  cache_.clear();
}

}  // namespace hiddenite::correct
