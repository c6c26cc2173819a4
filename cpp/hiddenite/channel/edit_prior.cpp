#include "hiddenite/channel/edit_prior.hpp"

#include <algorithm>

#include "hiddenite/base/error.hpp"

namespace hiddenite::channel {

Alphabet::Alphabet(std::u32string characters) : characters_(std::move(characters)) {
  if (characters_.size() > 250) {
    throw ModelError("the alphabet has " + std::to_string(characters_.size()) + " characters, expected at most 250");
  }
  ascii_.fill(OTHER);
  for (std::size_t i = 0; i < characters_.size(); ++i) {
    const char32_t c = characters_[i];
    if (letter(c) != OTHER) throw ModelError("the alphabet has a character twice");
    const auto number = static_cast<Letter>(i + FIRST);
    if (c < ascii_.size()) {
      ascii_[c] = number;
    } else {
      others_.emplace(c, number);
    }
  }
}

Letter Alphabet::letter(char32_t c) const {
  if (c < ascii_.size()) return ascii_[c];
  const auto found = others_.find(c);
  return found == others_.end() ? OTHER : found->second;
}

std::vector<Letter> Alphabet::letters(std::u32string_view word) const {
  std::vector<Letter> result;
  result.reserve(word.size());
  for (const char32_t c : word) result.push_back(letter(c));
  return result;
}

// Of ERROR_MASS; the rest of a hundredth goes to pieces that are listed by name.
struct EditPrior::Shares {
  double deletion, substitution, insertion, doubling;  // doubling: of the insertions
  double transposition, two_for_one, one_for_two, two_for_two;
  double both_deleted, listed;
  double group_weight;  // of a substitution by a letter of the same group, against any other
};

EditPrior::Shares EditPrior::shares_of(SlipKind kind) {
  if (kind == SlipKind::TYPING) return {.25, .40, .20, .40, .08, .02, .02, .01, .003, .05, 12.0};
  return {.15, .60, .12, .05, .003, .03, .03, .02, .01, .06, 20.0};
}

namespace {

constexpr double ROOM = 0.25;  // of ERROR_MASS: for the listed pieces, several of which may begin alike
constexpr double NUM_COMMON = 30.0;  // characters that a slip comes from

struct Rewriting {
  std::u32string_view intended, seen;
};

const std::vector<std::u32string_view>& groups(SlipKind kind) {
  static const std::vector<std::u32string_view> typing = {
      U"aeiouy", U"cks", U"sz", U"gj", U"mn", U"bp", U"dt", U"fv", U"vw", U"qwas", U"wesd", U"erdf", U"rtfg",
      U"tygh", U"yuhj", U"uijk", U"iokl", U"opl", U"aszx", U"sdxc", U"dfcv", U"fgvb", U"ghbn", U"hjnm", U"'-."};
  static const std::vector<std::u32string_view> ocr = {
      U"ceo", U"il1tfjr!|", U"hbk", U"nuri", U"uvn", U"mnw", U"s8a", U"yvg", U"da", U"s5", U"z2", U"gq9", U"pr",
      U"aeo", U"bh6", U"oqd0", U"tl", U"xz", U"'-.,"};
  return kind == SlipKind::TYPING ? typing : ocr;
}

const std::vector<Rewriting>& rewritings(SlipKind kind) {
  static const std::vector<Rewriting> typing = {
      {U"ph", U"f"}, {U"f", U"ph"},  {U"gh", U""},   {U"gh", U"f"},  {U"ck", U"k"},  {U"k", U"ck"},  {U"c", U"ck"},
      {U"ck", U"c"}, {U"kn", U"n"},  {U"wh", U"w"},  {U"w", U"wh"},  {U"wr", U"r"},  {U"ea", U"ee"}, {U"ee", U"ea"},
      {U"ie", U"y"}, {U"y", U"ie"},  {U"ai", U"ay"}, {U"ou", U"ow"}, {U"ow", U"ou"}, {U"au", U"or"}, {U"or", U"au"},
      {U"x", U"cs"}, {U"x", U"ks"},  {U"qu", U"kw"}, {U"ti", U"sh"}, {U"ci", U"sh"}, {U"tu", U"ch"}, {U"dg", U"j"},
      {U"ea", U"e"}, {U"ei", U"a"},  {U"oo", U"u"},  {U"ou", U"u"},  {U"se", U"ce"}, {U"ce", U"se"}, {U"sc", U"s"},
      {U"s", U"sc"}, {U"ey", U"y"},  {U"y", U"ey"},  {U"oi", U"oy"}, {U"eu", U"u"},  {U"ch", U"k"},  {U"er", U"a"}};
  static const std::vector<Rewriting> ocr = {
      {U"m", U"rn"}, {U"rn", U"m"},  {U"d", U"cl"},  {U"cl", U"d"},  {U"h", U"li"},  {U"li", U"h"},  {U"u", U"ii"},
      {U"ii", U"u"}, {U"w", U"vv"},  {U"vv", U"w"},  {U"m", U"in"},  {U"in", U"m"},  {U"m", U"ni"},  {U"ni", U"m"},
      {U"n", U"ri"}, {U"ri", U"n"},  {U"u", U"li"},  {U"n", U"ii"},  {U"fi", U"h"},  {U"h", U"ii"},  {U"b", U"li"},
      {U"th", U"ib"}, {U"h", U"lh"}, {U"k", U"lc"},  {U"fl", U"f"},  {U"ff", U"f"},  {U"tt", U"u"},  {U"ll", U"u"}};
  return kind == SlipKind::TYPING ? typing : ocr;
}

}  // namespace

EditPrior::EditPrior(const Alphabet& alphabet, SlipKind kind) : kind_(kind), num_letters_(alphabet.size()) {
  substitution_.assign(num_letters_ * num_letters_, 0.0);
  const Shares shares = shares_of(kind);
  for (std::size_t a = Alphabet::OTHER; a < num_letters_; ++a) {
    double* const row = &substitution_[a * num_letters_];
    const char32_t c = alphabet.character(static_cast<Letter>(a));
    double total = 0.0;
    for (std::size_t x = Alphabet::OTHER; x < num_letters_; ++x) {
      if (x == a && a != Alphabet::OTHER) continue;
      const char32_t d = alphabet.character(static_cast<Letter>(x));
      row[x] = 1.0;
      if (c == 0 || d == 0) {
        total += row[x];
        continue;
      }
      for (const std::u32string_view group : groups(kind)) {
        if (group.find(c) != group.npos && group.find(d) != group.npos) row[x] = shares.group_weight;
      }
      total += row[x];
    }
    for (std::size_t x = Alphabet::OTHER; total > 0.0 && x < num_letters_; ++x) row[x] /= total;
  }
  add_pieces(alphabet);
}

void EditPrior::add_pieces(const Alphabet& alphabet) {
  const double share = ERROR_MASS * shares_of(kind_).listed;
  const auto at = [&](std::u32string_view piece, std::size_t i) {
    return i < piece.size() ? alphabet.letter(piece[i]) : Alphabet::NOTHING;
  };
  for (const Rewriting& r : rewritings(kind_)) {
    const Edit edit{at(r.intended, 0), at(r.intended, 1), at(r.seen, 0), at(r.seen, 1)};
    const bool is_known = edit.a != Alphabet::OTHER && edit.b != Alphabet::OTHER && edit.x != Alphabet::OTHER &&
                          edit.y != Alphabet::OTHER;
    if (is_known) listed_[edit.key()] = share;
  }
}

double EditPrior::prob_of_form(Edit edit) const {
  const Shares shares = shares_of(kind_);
  if (edit.a == Alphabet::END) return prob_of_end(edit, shares);
  return edit.b == Alphabet::NOTHING ? prob_of_one(edit, shares) : prob_of_two(edit, shares);
}

double EditPrior::prob(Edit edit) const {
  const auto found = listed_.find(edit.key());
  return prob_of_form(edit) + (found == listed_.end() ? 0.0 : found->second);
}

std::vector<std::uint32_t> EditPrior::listed_pieces() const {
  std::vector<std::uint32_t> keys;
  for (const auto& [key, _] : listed_) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

double EditPrior::prob_of_one(Edit edit, const Shares& shares) const {
  if (edit.x == Alphabet::NOTHING) return ERROR_MASS * shares.deletion;
  if (edit.y == Alphabet::NOTHING) {
    if (edit.x == edit.a && edit.a != Alphabet::OTHER) return 1.0 - ERROR_MASS * (1.0 + ROOM);
    const double other = ERROR_MASS * shares.substitution * substitution_[edit.a * num_letters_ + edit.x];
    return edit.x == edit.a ? 1.0 - ERROR_MASS * (1.0 + ROOM) : other;
  }
  if (edit.x == edit.a && edit.y == edit.a) return ERROR_MASS * shares.insertion * shares.doubling;
  if (edit.x == edit.a || edit.y == edit.a) {
    return ERROR_MASS * shares.insertion * (1.0 - shares.doubling) * 0.5 / NUM_COMMON;
  }
  return ERROR_MASS * shares.one_for_two / (NUM_COMMON * NUM_COMMON);
}

double EditPrior::prob_of_two(Edit edit, const Shares& shares) const {
  const bool at_end = edit.b == Alphabet::END;
  if (edit.x == Alphabet::NOTHING) return ERROR_MASS * (at_end ? 0.05 : shares.both_deleted);
  if (edit.y == Alphabet::NOTHING) {
    // The end after a letter as itself is no piece of its own.
    return at_end && edit.x == edit.a ? 0.0 : ERROR_MASS * shares.two_for_one / NUM_COMMON;
  }
  if (!at_end && edit.x == edit.b && edit.y == edit.a) {
    return edit.a == edit.b ? 0.0 : ERROR_MASS * shares.transposition;
  }
  if (!at_end && edit.x == edit.a && edit.y == edit.b) return 0.0;
  return prob_of_two_others(shares);
}

double EditPrior::prob_of_two_others(const Shares& shares) {
  return ERROR_MASS * shares.two_for_two / (NUM_COMMON * NUM_COMMON);
}

double EditPrior::prob_of_two_others() const { return prob_of_two_others(shares_of(kind_)); }

double EditPrior::prob_of_end(Edit edit, const Shares& shares) const {
  if (edit.b != Alphabet::NOTHING) return 0.0;
  if (edit.x == Alphabet::NOTHING) return 1.0 - ERROR_MASS * 0.5;
  if (edit.y == Alphabet::NOTHING) return ERROR_MASS * shares.insertion / NUM_COMMON;
  return ERROR_MASS * 0.05 / (NUM_COMMON * NUM_COMMON);
}

}  // namespace hiddenite::channel
