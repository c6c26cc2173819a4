# Restore text by a map of what was seen to what may be meant: sh before.sh LM MAP < TEXT
disambig -lm "$1" -order 3 -map "$2" -keep-unk -text /dev/stdin
