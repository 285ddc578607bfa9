import { copyStore } from '../storage/transfer/copy-store.ts';
import { countThings } from './count-things.ts';
import { writeJson, writeLine } from './output.ts';
import { startRowProgress } from './row-progress.ts';
import type { Terminal } from './terminal.ts';

export interface MoveOptions {
  /** The `DATABASE_URL` of the store to copy. This store stays unchanged. */
  readonly from: string;
  /** The `DATABASE_URL` of an empty store. */
  readonly to: string;
  readonly json: boolean;
}

/** Copies a whole store to another database and prints the number of copied rows. Throws as `copyStore` does. */
export async function moveStore({ from, to, json }: MoveOptions, terminal: Terminal): Promise<void> {
  const startedMs = performance.now();
  const progress = startRowProgress(terminal);
  const moved = await copyStore(from, to, progress.show).finally(progress.stop);
  if (json)
    return writeJson(terminal, {
      animals: moved.pets,
      accounts: moved.accounts,
      keys: moved.api_keys,
      orders: moved.orders,
      events: moved.events + moved.event_outbox,
      firstAnswers: moved.first_answers,
      usageWindows: moved.usage_windows,
      bans: moved.key_bans,
    });
  const animals = countThings(moved.pets, 'animal');
  const owners = `${countThings(moved.accounts, 'account')} and ${countThings(moved.api_keys, 'key')}`;
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  writeLine(terminal, `moved ${animals}, ${owners} in ${seconds} s, and compared every row`);
}
