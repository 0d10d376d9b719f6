#!/usr/bin/env bash
# Makes targets one after the other, up to the first that fails, and prints how long each took.
#     tests/timed.sh TARGET...
set -eu
rows=()
trap 'rows+=("$(printf "%6d s  %s" "$SECONDS" total)"); printf "%s\n" "" "${rows[@]}"' EXIT
for target in "$@"; do
  begin=$SECONDS code=0
  "${MAKE:-make}" --no-print-directory "$target" || code=$?
  rows+=("$(printf '%6d s  %s' $((SECONDS - begin)) "$target$( ((code)) && echo ', which failed')")")
  ((code == 0)) || exit "$code"
done
