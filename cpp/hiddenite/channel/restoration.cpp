#include "hiddenite/channel/restoration.hpp"

#include <algorithm>
#include <tuple>

#include "hiddenite/base/characters.hpp"
#include "hiddenite/base/error.hpp"
#include "hiddenite/base/text.hpp"

namespace hiddenite::channel {

namespace {

// The capital of a letter of the Latin, Greek and Cyrillic alphabets; any other character as it is.
char32_t capital(char32_t c) {
  const auto within = [&](char32_t first, char32_t last) { return c >= first && c <= last; };
  if (within(U'a', U'z') || (within(0xE0, 0xFE) && c != 0xF7) || within(0x3B1, 0x3C1) || within(0x3C3, 0x3C9) ||
      within(0x430, 0x44F)) {
    return c - 32;
  }
  if (within(0x450, 0x45F)) return c - 80;
  const bool is_small_even = (within(0x139, 0x148) || within(0x179, 0x17E)) && c % 2 == 0;
  const bool is_small_odd = (within(0x100, 0x137) || within(0x14A, 0x177)) && c % 2 == 1 && c != 0x131;
  return is_small_even || is_small_odd ? c - 1 : c;
}

// The first `count` letters as capitals.
std::string with_capitals(std::string_view word, std::size_t count) {
  std::string result;
  while (!word.empty()) {
    const char32_t c = next_character(word);
    append_utf8(result, count > 0 ? capital(c) : c);
    count -= count > 0;
  }
  return result;
}

std::string written(std::string_view seen, RestorationChannel::Kind::Letters letters) {
  using Letters = RestorationChannel::Kind::Letters;
  if (letters == Letters::AS_SEEN) return std::string(seen);
  return with_capitals(seen, letters == Letters::TITLE ? 1 : seen.size());
}

}  // namespace

RestorationChannel::RestorationChannel(const NgramTable& table, std::vector<Entry> entries, std::vector<Kind> kinds,
                                       const RestorationOptions& options)
    : table_(table), kinds_(std::move(kinds)), options_(options) {
  for (const Entry& entry : entries) {
    if (entry.word >= table.vocabulary.size()) throw ModelError("an entry of the lexicon has no word of the model");
  }
  for (Entry& entry : entries) (entry.form.empty() ? events_ : entries_).push_back(std::move(entry));
  // Slots whose words ascend are what inference likes best.
  const auto key = [](const Entry& entry) { return std::tie(entry.form, entry.word); };
  std::sort(entries_.begin(), entries_.end(), [&](const Entry& a, const Entry& b) { return key(a) < key(b); });
  std::sort(events_.begin(), events_.end(), [](const Entry& a, const Entry& b) { return a.word < b.word; });
  std::sort(kinds_.begin(), kinds_.end(), [](const Kind& a, const Kind& b) { return a.word < b.word; });
  std::vector<std::string_view> forms;
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    const bool is_new = i == 0 || entries_[i].form != entries_[i - 1].form;
    if (!is_new && entries_[i].word == entries_[i - 1].word) {
      throw ModelError("the lexicon has the form \"" + entries_[i].form + "\" twice for one word");
    }
    if (!is_new) continue;
    forms.push_back(entries_[i].form);
    first_entry_.push_back(i);
  }
  first_entry_.push_back(static_cast<std::uint32_t>(entries_.size()));
  forms_.build(forms);
  if (events_.empty()) options_.most_events = 0;
}

void RestorationChannel::add_entries(Reading& reading, std::uint32_t form) const {
  for (std::uint32_t i = first_entry_[form]; i < first_entry_[form + 1]; ++i) {
    const Entry& entry = entries_[i];
    if (entry.spelling != table_.vocabulary.word(entry.word)) {
      reading.spellings.emplace_back(reading.words.size(), entry.spelling);
    }
    reading.add(entry.word, entry.log_weight);
  }
}

void RestorationChannel::add_unknown_kinds(Reading& reading, std::string_view seen, double log_weight) const {
  for (const Kind& kind : kinds_) {
    reading.spellings.emplace_back(reading.words.size(), written(seen, kind.letters));
    reading.add(kind.word, kind.log_weight + log_weight);
  }
}

void RestorationChannel::add_events(Reading& reading) const {
  for (const Entry& event : events_) reading.add(event.word, event.log_weight);
}

Reading RestorationChannel::read_text(std::string_view line) const {
  return options_.joins ? read_joined(line) : read_words(line);
}

namespace {

// Joints are numbered by place and by the events that are still to come there.
struct Joints {
  std::uint32_t events;  // most in a row
  // `left` events lead from here to the place's own joint.
  std::uint32_t at(std::size_t place, std::uint32_t left) const {
    return static_cast<std::uint32_t>(place) * (events + 1) + events - left;
  }
};

}  // namespace

// The place before the first word is joint 0 with all its events to come, so that all paths begin there: words
// leave from every joint of it.
Reading RestorationChannel::read_words(std::string_view line) const {
  Reading reading;
  const Joints joints{static_cast<std::uint32_t>(options_.most_events)};
  std::vector<std::string_view> tokens;
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) tokens.push_back(word);
  if (tokens.empty()) return reading;
  const auto close = [&](std::uint32_t from, std::uint32_t to) {
    reading.spans.push_back({from, to});
    reading.close_slot();
  };
  for (std::uint32_t left = joints.events; left-- > 0;) {
    add_events(reading);
    close(joints.at(0, left + 1), joints.at(0, left));
  }
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    const std::uint32_t form = forms_.find(tokens[k]);
    for (std::uint32_t left = joints.events + 1; left-- > 0;) {
      const std::uint32_t to = joints.at(k + 1, left);
      for (std::uint32_t begun = k == 0 ? joints.events + 1 : 1; begun-- > 0;) {
        if (form == FormTree::ABSENT) {
          add_unknown_kinds(reading, tokens[k], 0.0);
        } else {
          add_entries(reading, form);
        }
        close(joints.at(k, begun), to);
      }
      if (left == joints.events) continue;
      add_events(reading);
      close(joints.at(k + 1, left + 1), to);
    }
  }
  return reading;
}

std::vector<RestorationChannel::Match> RestorationChannel::find_forms(
    std::string_view text, const std::vector<std::uint32_t>& places) const {
  std::vector<std::uint32_t> place_of(text.size() + 1, 0);  // [byte]
  for (std::uint32_t p = 0; p < places.size(); ++p) place_of[places[p]] = p;
  std::vector<Match> found;
  std::vector<std::uint32_t> first(places.size() + 1, 0);  // [place]: of the matches that end there
  for (std::uint32_t p = 0; p + 1 < places.size(); ++p) {
    forms_.for_each_prefix(text.substr(places[p]), [&](std::size_t length, std::uint32_t form) {
      found.push_back({p, place_of[places[p] + length], form});
      ++first[found.back().end + 1];
    });
  }
  for (std::size_t q = 1; q < first.size(); ++q) first[q] += first[q - 1];
  std::vector<Match> sorted(found.size());
  for (const Match& match : found) sorted[first[match.end]++] = match;
  return sorted;
}

Reading RestorationChannel::read_joined(std::string_view line) const {
  Reading reading;
  const Joints joints{static_cast<std::uint32_t>(options_.most_events)};
  std::string text;
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) text += word;
  std::vector<std::uint32_t> places;  // bytes where characters begin, and the end
  for (std::uint32_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) places.push_back(i);
  }
  if (text.empty()) return reading;
  const auto close = [&](std::uint32_t from, std::uint32_t to) {
    reading.spans.push_back({from, to});
    reading.close_slot();
  };
  for (std::uint32_t left = joints.events; left-- > 0;) {
    add_events(reading);
    close(joints.at(0, left + 1), joints.at(0, left));
  }
  const auto longest_unknown = static_cast<std::size_t>(options_.longest_unknown);
  const std::vector<Match> matches = find_forms(text, places);
  auto first = matches.begin(), last = first;  // those that end at q
  for (std::size_t q = 1; q < places.size(); ++q, first = last) {
    while (last != matches.end() && last->end == q) ++last;
    for (std::uint32_t left = joints.events + 1; left-- > 0;) {
      const std::uint32_t to = joints.at(q, left);
      const std::size_t first_unknown = q > longest_unknown ? q - longest_unknown : 0;
      auto match = first;
      std::size_t p = match == last ? first_unknown : std::min<std::size_t>(match->begin, first_unknown);
      for (; p < q; ++p) {
        const bool is_listed = match != last && match->begin == p;
        if (!is_listed && p < first_unknown) continue;
        for (std::uint32_t begun = p == 0 ? joints.events + 1 : 1; begun-- > 0;) {
          if (is_listed) {
            add_entries(reading, match->form);
          } else {
            const std::string_view form = std::string_view(text).substr(places[p], places[q] - places[p]);
            add_unknown_kinds(reading, form, -options_.unknown_cost * static_cast<double>(q - p));
          }
          close(joints.at(p, begun), to);
        }
        match += is_listed;
      }
      if (left == joints.events) continue;
      add_events(reading);
      close(joints.at(q, left + 1), to);
    }
  }
  return reading;
}

}  // namespace hiddenite::channel
