import { extname } from 'node:path';
import type { PetFileFormat } from '../pets/pet-import.ts';

const formats: Readonly<Record<string, PetFileFormat>> = {
  '.csv': 'csv',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
};

/** Returns the format for the ending of a file name, or null if the ending is unknown. */
export function formatOfEnding(file: string): PetFileFormat | null {
  return formats[extname(file).toLowerCase()] ?? null;
}
