import { extname } from 'node:path';
import type { PetFileFormat } from '../pets/pet-import.ts';

const formats: Readonly<Record<string, PetFileFormat>> = {
  '.csv': 'csv',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
};

/** The format of a file by its ending; null for an unknown ending. */
export function formatOfEnding(file: string): PetFileFormat | null {
  return formats[extname(file).toLowerCase()] ?? null;
}
