#!/usr/bin/env bash
# Keeps one comment on a pull request that says what it changes in the plans of the project.
# Ends with the status of `haul diff`: 3 where a policy failed, 2 where something cannot be read; with
# 1 where a pipeline has no plan. Changes alone pass.
#
# HAUL is the binary, BASE_SHA the commit to compare with, REPOSITORY `owner/name`, PULL_REQUEST
# the number; `gh` takes its token from GH_TOKEN. Where that only reads, as on a pull request from a
# fork, what the comment would say goes to GITHUB_STEP_SUMMARY.
set -euo pipefail

marker='<!-- haul plans -->'

body=$(mktemp)
trap 'rm -f "$body"' EXIT

git cat-file -e "$BASE_SHA^{commit}" 2>/dev/null || git fetch --quiet --depth=1 origin "$BASE_SHA"

status=0
changes=$("$HAUL" diff --base "$BASE_SHA" --format markdown) || status=$?
case $status in
  0 | 1 | 3) ;;
  # What could be told is in the comment; else there is nothing to say.
  *) [ -n "$changes" ] || exit "$status" ;;
esac

comments="repos/$REPOSITORY/issues/$PULL_REQUEST/comments"
printf '%s\n%s\n' "$marker" "$changes" >"$body"

comment() {
  local id
  id=$(gh api --paginate "$comments" \
    --jq ".[] | select(.body | startswith(\"$marker\")) | .id" | sed -n 1p) || return
  if [ -n "$changes" ]; then
    if [ -n "$id" ]; then
      gh api --silent --method PATCH "repos/$REPOSITORY/issues/comments/$id" --field body=@"$body"
    else
      gh api --silent --method POST "$comments" --field body=@"$body"
    fi
  elif [ -n "$id" ]; then
    # What an earlier push changed, this one took back.
    gh api --silent --method DELETE "repos/$REPOSITORY/issues/comments/$id"
  fi
}

if ! comment; then
  echo "could not write the comment, which takes a token that may: it is in the summary" >&2
  if [ -n "$changes" ]; then
    cat "$body" >>"${GITHUB_STEP_SUMMARY:-/dev/stdout}"
  fi
fi

# A change passes, a pipeline without a plan does not; both are 1.
no_plan=$'\n**No plan**\n'
if [ "$status" -gt 1 ] || [[ $changes == *"$no_plan"* ]]; then
  echo "the plans do not pass: \`haul diff --base $BASE_SHA\` says why" >&2
  exit "$status"
fi
