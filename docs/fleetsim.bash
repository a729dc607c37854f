# SPDX-License-Identifier: GPL-3.0-or-later
# bash completion for fleetsim: options and kinds are those that the program itself names.
_fleetsim() {
    local program=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words=
    local commands="run check report compare explain regress audit import conform schema hash"
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands --help --version" -- "$current")
        return
    fi
    case " $commands " in
    *" $command "*) words=$("$program" "$command" --help 2>/dev/null | grep -o -e '--[a-z][a-z-]*' | sort -u) ;;
    esac
    case $current in
    -*)
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
        return
        ;;
    esac
    words=
    case $command in
    import) words=$("$program" import --list 2>/dev/null | cut -d ' ' -f 1) ;;
    conform) words=$("$program" conform --help 2>/dev/null | sed -n 's/^  \([a-z][a-z]*\)  *[a-z].*/\1/p' | grep -v fleetsim) ;;
    esac
    mapfile -t COMPREPLY < <(compgen -f -W "$words" -- "$current")
}
complete -o filenames -F _fleetsim fleetsim
