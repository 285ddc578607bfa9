import type { LoadedPet } from '../../src/pets/load-pets.ts';
import { type PetFileFormat, readPets } from '../../src/pets/pet-files.ts';
import type { Violation } from '../../src/violations.ts';

/** Reads a file whose bytes arrive in chunks of `chunkBytes`. */
export async function readFile(
  content: string | Uint8Array,
  format: PetFileFormat,
  ignoresUnknown = false,
  chunkBytes = 65_536,
) {
  const pets: LoadedPet[] = [];
  const badRows: { line: number; violations: readonly Violation[] }[] = [];
  const chunks = splitIntoChunks(Buffer.from(content), chunkBytes);
  const onBadRow = (line: number, violations: readonly Violation[]) => badRows.push({ line, violations });
  const batches = readPets(chunks, format, onBadRow, ignoresUnknown);
  for await (const batch of batches) pets.push(...batch);
  return { pets, badRows };
}

async function* splitIntoChunks(bytes: Buffer, chunkBytes: number) {
  for (let start = 0; start < bytes.length; start += chunkBytes)
    yield bytes.subarray(start, start + chunkBytes);
}

/** Creates an endless stream of bytes and counts the read bytes. */
export function createEndlessBytes(chunk: Uint8Array) {
  let readBytes = 0;
  async function* repeat() {
    for (;;) {
      readBytes += chunk.length;
      yield chunk;
    }
  }
  return { bytes: repeat(), readBytes: () => readBytes };
}
