#!/usr/bin/env bash
# Keeps one comment on a pull request that says what it changes in the plans of the project.
# Ends with 3 where a policy failed.
#
# HAUL is the binary, BASE_SHA the commit to compare with, REPOSITORY `owner/name`, PULL_REQUEST
# the number; `gh` takes its token from GH_TOKEN.
set -euo pipefail

marker='<!-- haul plans -->'
longest=60000 # bytes; GitHub takes 65536 characters

body=$(mktemp)
trap 'rm -f "$body"' EXIT

git cat-file -e "$BASE_SHA^{commit}" 2>/dev/null || git fetch --quiet --depth=1 origin "$BASE_SHA"

status=0
changes=$("$HAUL" diff --base "$BASE_SHA" --format markdown) || status=$?
case $status in
  0 | 1 | 3) ;;
  # Where a pipeline has no plan, the comment says so; else there is nothing to say.
  *) [ -n "$changes" ] || exit "$status" ;;
esac

comments="repos/$REPOSITORY/issues/$PULL_REQUEST/comments"
comment=$(gh api --paginate "$comments" \
  --jq ".[] | select(.body | startswith(\"$marker\")) | .id" | sed -n 1p)

if [ -z "$changes" ]; then
  # What an earlier push changed, this one took back.
  if [ -n "$comment" ]; then
    gh api --silent --method DELETE "repos/$REPOSITORY/issues/comments/$comment"
  fi
else
  printf '%s\n%s\n' "$marker" "$changes" >"$body"
  if [ "$(wc -c <"$body")" -gt "$longest" ]; then
    head -c "$longest" "$body" | sed '$d' >"$body.cut"
    printf '\nThe rest is too long for a comment: see `haul diff --base %s`.\n' "$BASE_SHA" >>"$body.cut"
    mv "$body.cut" "$body"
  fi
  if [ -n "$comment" ]; then
    gh api --silent --method PATCH "repos/$REPOSITORY/issues/comments/$comment" --field body=@"$body"
  else
    gh api --silent --method POST "$comments" --field body=@"$body"
  fi
fi

if [ "$status" -gt 1 ]; then
  echo "the plans do not pass: see the comment, or run \`haul diff --base $BASE_SHA\`" >&2
  exit "$status"
fi
