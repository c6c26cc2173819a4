#include "hiddenite/channel/words/weighted.hpp"

#include <cmath>

#include "hiddenite/base/error.hpp"

namespace hiddenite::channel {

WeightedChannel::WeightedChannel(const Channel& channel, double channel_weight, double word_penalty)
    : channel_(channel), channel_weight_(channel_weight), word_penalty_(word_penalty) {
  if (!(channel_weight >= 0.0 && std::isfinite(channel_weight))) {
    throw ModelError("the channel's weight is " + std::to_string(channel_weight) + ", expected a number of at least 0");
  }
  if (!std::isfinite(word_penalty)) {
    throw ModelError("the penalty of a word is " + std::to_string(word_penalty) + ", expected a finite number");
  }
}

Reading WeightedChannel::read_text(std::string_view line) const {
  Reading reading = channel_.read(line);
  for (double& log_weight : reading.log_weights) {
    if (log_weight != LOG_ZERO) log_weight = channel_weight_ * log_weight + word_penalty_;
  }
  return reading;
}

}  // namespace hiddenite::channel
