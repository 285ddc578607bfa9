import type { SampleRequest } from '../reference/samples.ts';

/** Writes the same request as a complete program in each language. */
export function writeSamples(request: SampleRequest): readonly {
  readonly language: 'curl' | 'TypeScript' | 'Python';
  readonly code: string;
}[];

/** Returns the percent-encoded path and query of a request. */
export function writeTarget(request: Pick<SampleRequest, 'path' | 'values'>): string;
