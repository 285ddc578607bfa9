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

/** A parameter, header or field of a call. */
export interface Part {
  readonly name: string;
  /** A parameter before it is encoded; a header or a field of a body as it is sent. */
  readonly text: string;
  /** The status that this part alone causes. Null if the part is valid. */
  readonly fault: number | null;
}

/** The path after `/v1`. `made` is an animal that an earlier call added, by its position. */
export type Place =
  | { readonly kind: 'collection' }
  | { readonly kind: 'made'; readonly choice: number; readonly id?: string }
  | { readonly kind: 'id' | 'malformed' | 'elsewhere'; readonly text: string };

export interface Body {
  /** The fields of a JSON object in order. Null if the body is something else. */
  readonly fields: readonly Part[] | null;
  readonly text: string;
  /** Number of spaces after the text. */
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
  /** The position of an earlier `Link` whose query the call uses. Null if the call has its own query. */
  readonly followsLink: number | null;
  /** The query of that `Link`. */
  readonly link?: string;
  /** Headers of the description, and others that have no effect. */
  readonly headers: readonly Part[];
  readonly body: Body | null;
}

/** A placeholder in `If-None-Match` for the last received `ETag`. */
export const knownEtag = '"known"';

/** Returns the stable operation of a call, or null. */
export function findOperation({ method, place }: Call): 'listPets' | 'createPet' | 'getPet' | null {
  if (place.kind === 'malformed' || place.kind === 'elsewhere') return null;
  if (method === 'GET' || method === 'HEAD') return place.kind === 'collection' ? 'listPets' : 'getPet';
  return method === 'POST' && place.kind === 'collection' ? 'createPet' : null;
}

/** True if a call asks for strict handling. Generated headers use only this spelling of it. */
export function isStrict({ headers }: Call): boolean {
  return headers.some(({ name, text }) => name === 'Prefer' && text === 'handling=strict');
}
