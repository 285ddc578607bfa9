import { type Hit, hitKinds, hitsMax, search } from '../operator/search.ts';
import type { Store } from '../store.ts';
import { type AppCommand, noneFound, type Printed, printTable } from './command.ts';
import { type Column, writeLine } from './output.ts';

export function addSearch(program: AppCommand): void {
  program
    .addLeaf('search', `find ${hitKinds.join('s, ')}s by id or by the start of a name`)
    .withExamples('search "Happy P"', 'search 42', 'search as_live_4xYz --json')
    .withNotes(`Finds accounts and animals by the start of their names, keys by that of their
name or of their text as it is shown, and everything by its id; requests by
their request id. The case of names does not matter. Shows at most ${hitsMax} of each.`)
    .argument('<text>', 'what to find')
    .doesWithStore(async (store, _options, text: string) => find(store, text));
}

async function find(store: Store, text: string): Promise<Printed> {
  const found = await search(store, text);
  const { print } = printTable(found.items, columns, undefined, noneFound);
  return {
    json: found,
    print(terminal) {
      print(terminal);
      for (const kind of found.more) writeLine(terminal, `there are more ${kind}s: type more of the name`);
    },
  };
}

const columns: readonly Column<Hit>[] = [
  { heading: 'WHAT', cell: ({ kind }) => kind },
  { heading: 'ID', cell: ({ id }) => id },
  { heading: 'NAME', cell: ({ label }) => label ?? '-' },
  { heading: 'ACCOUNT', cell: ({ account }) => account ?? '-', leavesAt: 1 },
  { heading: 'STATE', cell: ({ state }) => state, leavesAt: 2 },
];
