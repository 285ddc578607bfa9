import { OperatorError } from '../errors.ts';
import { type Steps, statement, step } from '../storage/database.ts';

const selectFile = statement((query, p: { sha256: string }) =>
  query.selectFrom('imported_files').select('at_ms').where('sha256', '=', p.sha256),
);

const insertFile = statement((query, p: { sha256: string; atMs: bigint }) =>
  query
    .insertInto('imported_files')
    .values({ sha256: p.sha256, at_ms: p.atMs })
    .onConflict((conflict) => conflict.doNothing())
    .returning('sha256'),
);

/**
 * Notes that a file was imported, in the transaction of the import. With `once`, throws OperatorError if it was imported
 * before. `sha256` is the hash of its bytes.
 */
export function* noteImportedFile(sha256: string, nowMs: number, once: boolean): Steps<void> {
  const added = yield* step(insertFile, { sha256, atMs: BigInt(nowMs) });
  if (added.length > 0 || !once) return;
  const [file] = yield* step(selectFile, { sha256 });
  const when = file === undefined ? '' : ` at ${new Date(Number(file.at_ms)).toISOString()}`;
  throw new OperatorError(`a file with the same content was imported before${when}`);
}
