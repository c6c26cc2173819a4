#include "hiddenite/channel/keypad.hpp"

#include <cmath>

#include "hiddenite/base/characters.hpp"
#include "hiddenite/base/error.hpp"
#include "hiddenite/base/text.hpp"

namespace hiddenite::channel {

namespace {

constexpr std::string_view LETTER_KEYS = "22233344455566677778889999";  // a .. z

// The keys of U+00C0 .. U+024F and U+1E00 .. U+1EFF: a letter's base by Unicode's
// compatibility decomposition, or by its name ("O with stroke"), or, for the few
// that have neither, the letter it is sorted under.
constexpr std::string_view LATIN_KEYS =
    "2222222233334444366666606888898722222222333344443666666068888989"
    "2222222222222233333333333333444444444444444444444444555555555555"
    "5556666666666666666677777777777777888888888888888888999999999997"
    "2222000220333000033400045550066666007700000888888089999000000000"
    "0000333555666224466888888888802222224444556666005333440066222266"
    "2222333344446666777788887788004463009922336666666699568000222587"
    "9002003355077799";
constexpr std::string_view LATIN_ADDITIONAL_KEYS =
    "2222222222333333333333333333333344444444444444445555555555555566"
    "6666666666666666666677777777777777777777778888888888888888888888"
    "9999999999999999999999489927007022222222222222222222222233333333"
    "3333333344446666666666666666666666668888888888888899999999000099";
static_assert(LATIN_KEYS.size() == 0x250 - 0xC0 && LATIN_ADDITIONAL_KEYS.size() == 0x100);

struct Point {
  int x, y;
};

Point centre(int key) { return key == 0 ? Point{1, 3} : Point{(key - 1) % 3, (key - 1) / 3}; }

double distance(int a, int b) {
  const Point p = centre(a), q = centre(b);
  return std::sqrt(static_cast<double>((p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y)));
}

constexpr std::size_t GROUP = 3;       // keys to a code
constexpr std::size_t NUM_CODES = 1000;

// The weights of all codes of up to three intended keys, given those observed.
class GroupWeights {
 public:
  GroupWeights(const KeypadNoise& noise, const int* observed, std::size_t num_keys) {
    size_ = NUM_KEYS;
    const auto& first = noise.log_probs(observed[0]);
    std::copy(first.begin(), first.end(), sums_[0].begin());
    for (std::size_t t = 1; t < num_keys; ++t) append(noise.log_probs(observed[t]));
  }
  const double* data() const { return sums_[current_].data(); }

 private:
  void append(const std::array<double, NUM_KEYS>& key) {
    const std::array<double, NUM_CODES>& from = sums_[current_];
    std::array<double, NUM_CODES>& to = sums_[1 - current_];
    for (std::size_t code = 0; code < size_; ++code) {
      for (std::size_t b = 0; b < NUM_KEYS; ++b) to[code * NUM_KEYS + b] = from[code] + key[b];
    }
    size_ *= NUM_KEYS;
    current_ = 1 - current_;
  }

  std::array<double, NUM_CODES> sums_[2];
  std::size_t size_ = 0;
  int current_ = 0;
};

}  // namespace

int key_of(char32_t c) {
  const auto digit = [](char key) { return key - '0'; };
  if (c >= 'a' && c <= 'z') return digit(LETTER_KEYS[c - 'a']);
  if (c >= 'A' && c <= 'Z') return digit(LETTER_KEYS[c - 'A']);
  if (c >= '0' && c <= '9') return static_cast<int>(c - '0');
  if (c >= 0xC0 && c < 0x250) return digit(LATIN_KEYS[c - 0xC0]);
  if (c >= 0x1E00 && c < 0x1F00) return digit(LATIN_ADDITIONAL_KEYS[c - 0x1E00]);
  return 0;
}

KeypadNoise::KeypadNoise(double ambiguity) {
  if (!(ambiguity >= 0.0) || !std::isfinite(ambiguity)) {
    throw ModelError("the keypad's ambiguity is " + std::to_string(ambiguity) +
                     ", expected a finite number of at least 0; the paper's is 64");
  }
  for (int intended = 0; intended < NUM_KEYS; ++intended) {
    double total = 0.0;
    for (int observed = 0; observed < NUM_KEYS; ++observed) {
      total += 1.0 / (ambiguity * distance(observed, intended) + 1.0);
      cumulative_[intended][observed] = total;
    }
    for (int observed = 0; observed < NUM_KEYS; ++observed) {
      log_prob_[observed][intended] =
          -std::log(ambiguity * distance(observed, intended) + 1.0) - std::log(total);
    }
  }
}

void KeypadNoise::encode_word(std::string_view word, Random* random, std::string& out) const {
  while (!word.empty()) {
    const int key = key_of(next_character(word));
    const std::size_t typed = random ? random->draw(cumulative_[key]) : static_cast<std::size_t>(key);
    out.push_back(static_cast<char>('0' + typed));
  }
}

KeypadChannel::KeypadChannel(const NgramTable& table, const KeypadNoise& noise, std::size_t keep)
    : table_(table), noise_(noise), keep_(keep) {
  const Vocabulary& vocabulary = table.vocabulary;
  WordId begin = NUM_SPECIAL_WORDS;
  while (begin < vocabulary.size()) {
    const std::size_t length = count_characters(vocabulary.word(begin));
    WordId end = begin + 1;
    while (end < vocabulary.size() && count_characters(vocabulary.word(end)) == length) ++end;
    if (length < classes_.size()) throw std::logic_error("the vocabulary is not in order of length");
    classes_.resize(length + 1);
    classes_[length] = {begin, end, codes_.size()};
    add_codes(classes_[length], length);
    begin = end;
  }
}

void KeypadChannel::add_codes(LengthClass& words, std::size_t length) {
  codes_.resize(codes_.size() + words.size() * ((length + GROUP - 1) / GROUP));
  for (WordId w = words.begin; w < words.end; ++w) {
    std::string_view rest = table_.vocabulary.word(w);
    for (std::size_t t = 0; t < length; ++t) {
      std::uint16_t& code = codes_[words.first_code + t / GROUP * words.size() + (w - words.begin)];
      code = static_cast<std::uint16_t>(code * NUM_KEYS + key_of(next_character(rest)));
    }
  }
}

Reading KeypadChannel::read_text(std::string_view line) const {
  Reading reading;
  std::vector<int> keys;
  std::string_view rest = line;
  for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
    keys.clear();
    for (const char& c : word) {
      if ((c < '0' || c > '9') && c != '*') {
        std::string_view found(&c, static_cast<std::size_t>(line.end() - &c));
        std::string shown;
        append_utf8(shown, next_character(found));
        throw ModelError(column(line, static_cast<std::size_t>(&c - line.data())) + "found '" + shown +
                         "', expected the keys 0 to 9 and white space between words");
      }
      keys.push_back(c == '*' ? 0 : c - '0');
    }
    read_word(keys, reading);
    keep_best(reading, keep_, table_);
    reading.close_slot();
  }
  return reading;
}

void KeypadChannel::read_word(const std::vector<int>& keys, Reading& reading) const {
  if (keys.size() >= classes_.size()) return;
  const LengthClass& words = classes_[keys.size()];
  const std::size_t size = words.size(), first = reading.words.size();
  reading.words.resize(first + size);
  reading.log_weights.resize(first + size);
  for (std::size_t i = 0; i < size; ++i) reading.words[first + i] = words.begin + static_cast<WordId>(i);
  const std::uint16_t* codes = codes_.data() + words.first_code;
  double* const log_weights = reading.log_weights.data() + first;
  for (std::size_t t = 0; t < keys.size(); t += GROUP, codes += size) {
    const GroupWeights group(noise_, keys.data() + t, std::min(GROUP, keys.size() - t));
    const double* const sums = group.data();
    for (std::size_t i = 0; i < size; ++i) log_weights[i] += sums[codes[i]];
  }
}

}  // namespace hiddenite::channel
