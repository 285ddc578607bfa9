import { stat } from 'node:fs/promises';
import { OperatorError } from '../errors.ts';
import { isMissingTable } from './constraint.ts';
import { parseStoreAddress } from './store-address.ts';
import { nameStore, readStore } from './transfer/open-whole-store.ts';

/**
 * Throws OperatorError of one line if there is no store at an address. Does not create a store. Ignores other faults,
 * because the code that opens the store reports them.
 */
export async function requireStore(address: string): Promise<void> {
  const { engine, location } = parseStoreAddress(address);
  const isMissing = engine === 'sqlite' && (await isNoFile(location));
  if (!isMissing && (await mayHaveSchema(address))) return;
  throw new OperatorError(
    `there is no store ${nameStore(address)}: "serve", "import", "migrate" and "restore" create one`,
  );
}

async function isNoFile(path: string): Promise<boolean> {
  return stat(path).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  );
}

async function mayHaveSchema(address: string): Promise<boolean> {
  try {
    await readStore(address, (store) => store.query('select name from schema_migrations limit 1'));
    return true;
  } catch (error) {
    return !isMissingTable(error);
  }
}
