/** A value of a request that is not in its body, as the reader types it. */
export interface RequestValue {
  readonly place: 'path' | 'query' | 'header';
  readonly name: string;
  readonly kind: 'number' | 'numbers' | 'text';
  readonly value: string;
}

/** The request that samples show. */
export interface SampleRequest {
  readonly method: string;
  /** The path as in OpenAPI. */
  readonly path: string;
  readonly baseUrl: string;
  /** The method of our client, such as `pets.list`. */
  readonly call: string;
  readonly isIdempotent: boolean;
  readonly values: readonly RequestValue[];
  /** Null if the request has no body. `text` is valid JSON. */
  readonly body: { readonly type: string; readonly text: string } | null;
  /** `list` has pages, `array` has none. */
  readonly answer: 'list' | 'array' | 'object' | 'nothing';
}

/** A sample request in one language. */
export interface Sample {
  readonly language: 'curl' | 'TypeScript' | 'Python';
  readonly code: string;
}

/** Writes the same request as a complete program in each language. */
export function writeSamples(request: SampleRequest): readonly Sample[];

/** Returns the percent-encoded path and query of a request. */
export function writeTarget(request: Pick<SampleRequest, 'path' | 'values'>): string;
