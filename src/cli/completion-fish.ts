import type { CompletionNode, OfferedOption, Values } from './completion-tree.ts';

export function writeFishCompletion(name: string, nodes: readonly CompletionNode[]): string {
  const places = nodes.map(({ place }) => quote(place)).slice(1);
  const complete = (place: string, ...parts: string[]) =>
    ['complete -c', name, '-n', quote(`__animal_store_at ${quote(place)}`), ...parts].join(' ');
  const lines = nodes.flatMap(({ place, commands, options, values }) => [
    ...(values === null ? [] : [complete(place, ...offerValues(values))]),
    ...commands.map(({ word, description }) => complete(place, '-a', word, '-d', quote(description))),
    ...options.map((option) => complete(place, ...offerOption(option))),
  ]);
  return `# Completion of ${name} for fish: put it into ~/.config/fish/completions/${name}.fish.
function __animal_store_at
  set -l place ''
  for word in (commandline -opc)[2..-1]
    switch "$place $word"
      case ${places.join(' ')}
        set place "$place $word"
    end
  end
  test "$place" = "$argv[1]"
end
complete -c ${name} -f
${lines.join('\n')}
`;
}

function offerOption({ word, description, values }: OfferedOption): string[] {
  const name = word.startsWith('--') ? ['-l', word.slice(2)] : ['-s', word.slice(1)];
  return [
    ...name,
    ...(values === null ? [] : [values === 'file' ? '-r' : '-x', ...offerValues(values)]),
    '-d',
    quote(description),
  ];
}

function offerValues(values: Values): string[] {
  if (values === 'file') return ['-F'];
  return values === 'text' ? [] : ['-a', quote(values.join(' '))];
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
