import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { OperatorError } from '../errors.ts';
import type { Catalogue } from '../pets/catalogue.ts';
import { writePets } from '../pets/pet-export.ts';
import type { PetFileFormat } from '../pets/pet-import.ts';
import { countThings } from './count-things.ts';
import { writeJson } from './output.ts';
import type { Terminal } from './terminal.ts';

export interface ExportOptions {
  readonly format: PetFileFormat;
  /** A path; undefined writes to standard output. */
  readonly output?: string | undefined;
  /** Whether a file that is there may be replaced. */
  readonly force: boolean;
  readonly json: boolean;
}

/**
 * Writes every animal, oldest first, to standard output or, whole or not at all, to a file. A reader of standard
 * output that has seen enough ends the export without an error. Throws OperatorError where the file is there already
 * or cannot be written.
 */
export async function exportFile(
  catalogue: Catalogue,
  { format, output, force, json }: ExportOptions,
  terminal: Terminal,
): Promise<void> {
  if (output === undefined) {
    if (json) throw new OperatorError('--json needs --output FILE: standard output bears the animals');
    return writeUntilClosed(writePets(catalogue.listAll(), format), terminal.stdout);
  }
  let exported = 0;
  async function* countedPets() {
    for await (const pets of catalogue.listAll()) {
      exported += pets.length;
      yield pets;
    }
  }
  await writeWhole(writePets(countedPets(), format), output, force);
  if (json) writeJson(terminal, { exported, file: output });
  else terminal.stdout.write(`exported ${countThings(exported, 'animal')} to ${output}\n`);
}

async function writeUntilClosed(text: AsyncIterable<string>, stdout: Writable): Promise<void> {
  try {
    await pipeline(Readable.from(text), stdout, { end: false });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EPIPE') return;
    throw toWriteError('standard output', error);
  }
}

/** Writes beside the file, under a name of its own, and renames only what is whole and on disk. */
async function writeWhole(text: AsyncIterable<string>, file: string, force: boolean): Promise<void> {
  await checkTarget(file, force);
  const unfinished = `${file}.${randomUUID()}.tmp`;
  try {
    await pipeline(Readable.from(text), createWriteStream(unfinished, { flags: 'wx', flush: true }));
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw toWriteError(file, error);
  }
}

async function checkTarget(file: string, force: boolean): Promise<void> {
  const found = await stat(file).catch(() => null);
  if (found === null) return;
  if (!found.isFile()) throw new OperatorError(`${file} cannot be written: it is no regular file`);
  if (!force) throw new OperatorError(`${file} is there already: --force replaces it`);
}

/** What the system says of a target becomes a line for the operator; any other error is passed on as it is. */
function toWriteError(target: string, error: unknown): unknown {
  if (!(error instanceof Error && 'syscall' in error)) return error;
  return new OperatorError(`${target} cannot be written: ${error.message}`, { cause: error });
}
