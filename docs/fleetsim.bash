# SPDX-License-Identifier: GPL-3.0-or-later
# bash completion for fleetsim
_fleetsim() {
    local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}
    local commands="run check report compare explain regress audit import conform schema hash --help --version"
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
        return
    fi
    local words=
    case $command in
    run) words="--output --set --jobs --replications --seed --record --format --by --skip-bad --policy --baseline --tolerance --junit --markdown --no-progress --help" ;;
    check) words="--set --strict --help" ;;
    report) words="--output --help" ;;
    compare) words="--format --force --help" ;;
    regress) words="--tolerance --arbiter --strict --top --junit --markdown --format --help" ;;
    explain) words="--queue --at --arbiter --replication --limit --format --help" ;;
    audit) words="--arbiter --tenant --strict --format --help" ;;
    import) words="philly servegen azure-llm genai-lora openb csv --output --list --strict --skip-bad --help" ;;
    conform) words="kueue hpa keda hami --help" ;;
    schema) words="--reference --help" ;;
    esac
    case $current in
    -*) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current") ;;
    *) mapfile -t COMPREPLY < <(compgen -f -W "$words" -- "$current") ;;
    esac
}
complete -o filenames -F _fleetsim fleetsim
