/** The kinds of keys that calls use. */
export const keyKinds = [
  'ample',
  'reader',
  'writer',
  'exhausted',
  'revoked',
  'unknown',
  'mistyped',
  'none',
] as const;

export type KeyKind = (typeof keyKinds)[number];

/** A named part of a call, and the status that this part alone would cause. Null if the part is valid. */
export interface Part {
  readonly name: string;
  /** A parameter before it is encoded; a header or a field of a body as it is sent. */
  readonly text: string;
  readonly fault: number | null;
}

/** The path after `/v1`. `made` is an earlier added animal, by its position. */
export type Place =
  | { readonly kind: 'collection' }
  | { readonly kind: 'made'; readonly choice: number; readonly id?: string }
  | { readonly kind: 'id' | 'malformed' | 'elsewhere'; readonly text: string };

export interface Body {
  /** The fields of a JSON object in order. Null if the body is something else. */
  readonly fields: readonly Part[] | null;
  readonly text: string;
  /** The number of spaces after it. */
  readonly blanks: number;
  readonly fault: number | null;
  /** `Content-Type` and `Content-Encoding`, if they are sent. */
  readonly headers: readonly Part[];
  /** The length of each chunk. Null sends `Content-Length`. */
  readonly chunkBytes: number | null;
}

/** A well-formed HTTP request that is valid or invalid by the description of the interface. */
export interface Call {
  readonly method: string;
  readonly place: Place;
  readonly key: KeyKind;
  readonly query: readonly Part[];
  /** Takes its query from an earlier `Link`, by its position in the list of them. */
  readonly followsLink: number | null;
  /** The query of that `Link`. */
  readonly link?: string;
  /** Headers of the description, and others that have no effect. */
  readonly headers: readonly Part[];
  readonly body: Body | null;
}

/** In `If-None-Match`, stands for the last received `ETag`. */
export const knownEtag = '"known"';

/** The operation of the description for a call, or null. */
export function findOperation({ method, place }: Call): 'listPets' | 'createPet' | 'getPet' | null {
  if (place.kind === 'malformed' || place.kind === 'elsewhere') return null;
  if (method === 'GET' || method === 'HEAD') return place.kind === 'collection' ? 'listPets' : 'getPet';
  return method === 'POST' && place.kind === 'collection' ? 'createPet' : null;
}

/** Whether a call asks for strict handling. Generated headers do so only in the plain form. */
export function isStrict({ headers }: Call): boolean {
  return headers.some(({ name, text }) => name === 'Prefer' && text === 'handling=strict');
}
