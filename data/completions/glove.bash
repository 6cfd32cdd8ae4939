# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# The options that take a path complete file names; what follows `--`, or the command of exec, completes as any command line.

_glove () {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]} i
  local launch='--workspace --read --write --env --allow-host --forward --allow-socket --mask-sockets --allow-git-config --limit
    --audit --backend --tty --no-tty --as-root-id --quiet --help --catalog'
  COMPREPLY=()
  if [ "$COMP_CWORD" = 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W 'exec run why doctor plugin --help --version' -- "$word")
    return
  fi
  for ((i = 2; i < COMP_CWORD; i++)); do
    if [ "${COMP_WORDS[i]}" = -- ]; then
      mapfile -t COMPREPLY < <(compgen -A command -A file -- "$word")
      return
    fi
  done
  case $before in
    --workspace | -w | --catalog | --search-path)
      mapfile -t COMPREPLY < <(compgen -d -- "$word")
      return ;;
    --read | -r | --write | --audit | --allow-socket | --prompt-file | -p | --executable)
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
      return ;;
    --env | -e)
      mapfile -t COMPREPLY < <(compgen -e -- "$word")
      return ;;
    --limit)
      mapfile -t COMPREPLY < <(compgen -S = -W 'memory pids cpus cpu-time wall-time output open-files file-size home-size tmp-size
        shm-size' -- "$word")
      return ;;
    --allow-host | --forward | --backend | --provider-url | --model)
      return ;;
  esac
  case $verb in
    exec) mapfile -t COMPREPLY < <(compgen -W "$launch" -A command -- "$word") ;;
    run)
      mapfile -t COMPREPLY < <(compgen -W "$launch --prompt-file --executable --search-path --provider-url --model
        $([ "$COMP_CWORD" = 2 ] && echo codex pi claude-code copilot opencode)" -- "$word") ;;
    why) mapfile -t COMPREPLY < <(compgen -W '--audit --json --help' -- "$word") ;;
    doctor) mapfile -t COMPREPLY < <(compgen -W '--backend --json --catalog --help' -- "$word") ;;
    plugin)
      mapfile -t COMPREPLY < <(compgen -W "--json --catalog --help $([ "$COMP_CWORD" = 2 ] && echo list info check)" -- "$word")
      if [ "$before" = check ]; then mapfile -t COMPREPLY < <(compgen -f -- "$word"); fi ;;
  esac
}

complete -o filenames -F _glove glove
