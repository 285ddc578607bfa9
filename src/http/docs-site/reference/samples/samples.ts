import type { DescribedOperation, Description } from '../description.ts';
import { writeCurl } from './curl.ts';
import { writePython } from './python.ts';
import { chooseRequest } from './request-example.ts';
import { writeTypeScript } from './typescript.ts';

/** A sample request in one language. */
export interface Sample {
  readonly language: 'curl' | 'TypeScript' | 'Python';
  readonly code: string;
}

/**
 * Writes the same request as a complete program in each language. The programs read the key from the environment
 * variable `ANIMAL_STORE_KEY`.
 */
export function writeSamples(
  operation: DescribedOperation,
  baseUrl: string,
  description: Pick<Description, 'resolve'>,
): readonly Sample[] {
  const request = chooseRequest(operation);
  return [
    { language: 'curl', code: writeCurl(request, baseUrl) },
    { language: 'TypeScript', code: writeTypeScript(request, baseUrl, description) },
    { language: 'Python', code: writePython(request, baseUrl) },
  ];
}
