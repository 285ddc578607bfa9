import { createWriteStream } from 'node:fs';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Catalogue } from '../pets/catalogue.ts';
import type { Pet } from '../pets/pet.ts';
import { writePets } from '../pets/pet-export.ts';
import type { PetFileFormat } from '../pets/pet-import.ts';
import { countThings } from './count-things.ts';
import { writeJson, writeLine } from './output.ts';
import type { Terminal } from './terminal.ts';
import { writeWholeFile } from './whole-file.ts';

export interface ExportOptions {
  readonly format: PetFileFormat;
  /** A path. If undefined, the animals go to standard output. */
  readonly output?: string | undefined;
  readonly withoutIds: boolean;
  /** True to replace an existing file. */
  readonly force: boolean;
  readonly json: boolean;
}

/**
 * Writes all animals, oldest first, to standard output or to a file. A failed export leaves no file. If standard output
 * fails, the export ends without an error, because main.ts reports the failure. Throws OperatorError if the file exists
 * and `force` is false, or if the file cannot be written.
 */
export async function exportFile(
  catalogue: Catalogue,
  { format, output, withoutIds, force, json }: ExportOptions,
  terminal: Terminal,
): Promise<void> {
  const write = (batches: AsyncIterable<readonly Pet[]>) => writePets(batches, format, withoutIds);
  if (output === undefined) return writeUntilClosed(write(catalogue.listAll()), terminal.stdout);
  let exported = 0;
  async function* countedPets() {
    for await (const pets of catalogue.listAll()) {
      exported += pets.length;
      yield pets;
    }
  }
  await writeWholeFile(output, { replaces: force }, async (unfinished) => {
    await pipeline(Readable.from(write(countedPets())), createWriteStream(unfinished));
  });
  if (json) writeJson(terminal, { exported, file: output });
  else writeLine(terminal, `exported ${countThings(exported, 'animal')} to ${output}`);
}

async function writeUntilClosed(text: AsyncIterable<string>, stdout: Writable): Promise<void> {
  let outputError: unknown = null;
  stdout.once('error', (error) => {
    outputError = error;
  });
  try {
    await pipeline(Readable.from(text), stdout, { end: false });
  } catch (error) {
    if (error !== outputError) throw error;
  }
}
