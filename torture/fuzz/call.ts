/** The keys that calls are made with. */
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

/** A named part of a call, and the status that it alone would cause; null where the description allows it. */
export interface Part {
  readonly name: string;
  /** A parameter as it is before it is encoded; a header or a field of a body as it is sent. */
  readonly text: string;
  readonly fault: number | null;
}

/** What stands after `/v1`. `made` is an animal that was added before, by its place among them. */
export type Place =
  | { readonly kind: 'collection' }
  | { readonly kind: 'made'; readonly choice: number; readonly id?: string }
  | { readonly kind: 'id' | 'malformed' | 'elsewhere'; readonly text: string };

export interface Body {
  /** The fields of a JSON object, in their order; null where the body is something else. */
  readonly fields: readonly Part[] | null;
  readonly text: string;
  /** How many blanks stand behind it. */
  readonly blanks: number;
  readonly fault: number | null;
  /** `Content-Type` and `Content-Encoding`, as far as they are sent. */
  readonly headers: readonly Part[];
  /** The length of each chunk; null tells the length of the whole ahead. */
  readonly chunkBytes: number | null;
}

/** A request that is well formed as HTTP, and valid or not by the description of the interface. */
export interface Call {
  readonly method: string;
  readonly place: Place;
  readonly key: KeyKind;
  readonly query: readonly Part[];
  /** Takes its query from a `Link` that some page came with, once there was one: that of a place in the list of them. */
  readonly followsLink: number | null;
  /** The query of that `Link`. */
  readonly link?: string;
  /** Those that the description names, and noise that nothing depends on. */
  readonly headers: readonly Part[];
  readonly body: Body | null;
}

/** Stands in `If-None-Match` for the `ETag` that was answered last. */
export const knownEtag = '"known"';

/** The operation of the description that answers a call; null where there is none. */
export function findOperation({ method, place }: Call): 'listPets' | 'createPet' | 'getPet' | null {
  if (place.kind === 'malformed' || place.kind === 'elsewhere') return null;
  if (method === 'GET' || method === 'HEAD') return place.kind === 'collection' ? 'listPets' : 'getPet';
  return method === 'POST' && place.kind === 'collection' ? 'createPet' : null;
}

/** Whether a call asks for strict handling; only such noise as says so plainly is generated. */
export function isStrict({ headers }: Call): boolean {
  return headers.some(({ name, text }) => name === 'Prefer' && text === 'handling=strict');
}
