import type { CompletionNode, Offer, Values } from './completion-tree.ts';

export function writeZshCompletion(name: string, nodes: readonly CompletionNode[]): string {
  const places = nodes.map(({ place }) => `'${place}'`).slice(1);
  const options = nodes.flatMap(({ place, options: own }) =>
    own.flatMap(({ word, values }) =>
      values === null ? [] : [`'${place} ${word}') ${offerValues(values)} ;;`],
    ),
  );
  const rest = nodes.map((node) => `'${node.place}') ${offerAll(node)} ;;`);
  return `#compdef ${name}
# Completion of ${name} for zsh: source it from ~/.zshrc after compinit, or put it as _${name} into a folder of $fpath.
_animal_store() {
  local place='' files='' before=$words[CURRENT-1] index
  local -a offers
  for ((index = 2; index < CURRENT; index++)); do
    case "$place $words[index]" in
      ${places.join(' | ')}) place="$place $words[index]" ;;
    esac
  done
  if [[ $words[CURRENT] == --*=* ]]; then
    before=\${words[CURRENT]%%=*}
    compset -P '*='
  fi
  case "$place $before" in
    ${options.join('\n    ')}
    *)
      case "$place" in
        ${rest.join('\n        ')}
      esac
      ;;
  esac
  if [[ -n $files && $words[CURRENT] != -* ]]; then offers=(); fi
  if (( $#offers )); then _describe '${name}' offers; fi
  if [[ -n $files ]]; then _files; fi
}
if [[ $funcstack[1] == _animal_store || $funcstack[1] == _${name} ]]; then _animal_store "$@"; else compdef _animal_store ${name}; fi
`;
}

function offerValues(values: Values): string {
  if (values === 'file') return 'files=1';
  return values === 'text' ? ':' : `offers=(${values.map(escapeColons).map(quote).join(' ')})`;
}

function offerAll({ commands, options, values }: CompletionNode): string {
  const choices = Array.isArray(values) ? values.map(escapeColons).map(quote) : [];
  const offers = [...choices, ...[...commands, ...options].map(describe)];
  return `offers=(${offers.join(' ')})${values === 'file' ? ' files=1' : ''}`;
}

/** zsh shows the text after a colon as the description. */
function describe({ word, description }: Offer): string {
  return quote(`${word}:${escapeColons(description)}`);
}

function escapeColons(text: string): string {
  return text.replaceAll(':', '\\:');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
