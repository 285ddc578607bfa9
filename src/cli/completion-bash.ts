import type { CompletionNode, Values } from './completion-tree.ts';

/** Returns the completion script for bash 3.2 and later. */
export function writeBashCompletion(name: string, nodes: readonly CompletionNode[]): string {
  const places = nodes.map(({ place }) => `'${place}'`).slice(1);
  const options = nodes.flatMap(({ place, options: own }) =>
    own.flatMap(({ word, values }) =>
      values === null ? [] : [`'${place} ${word}') ${offerValues(values)} ;;`],
    ),
  );
  const rest = nodes.map((node) => `'${node.place}') ${offerAll(node)} ;;`);
  return `# Completion of ${name} for bash: source it from ~/.bashrc.
_animal_store() {
  local current=$COMP_CWORD stem='' place='' words='' files='' index
  local word=\${COMP_WORDS[current]}
  # bash splits a word at each : and =, and replaces only the part after the last one.
  if [[ $word == : ]]; then
    stem=\${COMP_WORDS[current-1]}: word='' current=$((current - 1))
  elif [[ \${COMP_WORDS[current-1]} == : ]]; then
    stem=\${COMP_WORDS[current-2]}: current=$((current - 2))
  fi
  if [[ $word == = ]]; then
    word=''
  elif [[ \${COMP_WORDS[current-1]} == = ]]; then
    current=$((current - 1))
  fi
  local before=\${COMP_WORDS[current-1]}
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$place \${COMP_WORDS[index]}" in
      ${places.join(' | ')}) place="$place \${COMP_WORDS[index]}" ;;
    esac
  done
  case "$place $before" in
    ${options.join('\n    ')}
    *)
      case "$place" in
        ${rest.join('\n        ')}
      esac
      ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$stem$word"))
  COMPREPLY=("\${COMPREPLY[@]#"$stem"}")
  if [[ -n $files && $word != -* ]]; then
    # bash completes files only if there are no other words.
    COMPREPLY=()
    compopt -o default 2>/dev/null || COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -F _animal_store ${name}
`;
}

function offerValues(values: Values): string {
  if (values === 'file') return 'files=1';
  return values === 'text' ? ':' : `words='${values.join(' ')}'`;
}

function offerAll({ commands, options, values }: CompletionNode): string {
  const choices = Array.isArray(values) ? values : [];
  const words = [...commands, ...options].map(({ word }) => word);
  return `words='${[...choices, ...words].join(' ')}'${values === 'file' ? ' files=1' : ''}`;
}
