import type { Scope } from '../accounts/account.ts';
import { getPetDates } from './deprecation.ts';
import type { HeaderName } from './openapi-headers.ts';
import type { RequestHeader } from './openapi-parameters.ts';

/** A response other than a failure; its body is the route's own schema, and none where it has no examples. */
interface Success {
  readonly when: string;
  readonly headers: readonly HeaderName[];
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
}

/** What the description says of an operation beyond what its route's schemas do. */
export interface OperationDescription {
  readonly summary: string;
  readonly description: string;
  readonly scope: Scope;
  readonly requestHeaders: readonly RequestHeader[];
  readonly bodyExamples?: Success['examples'];
  readonly successes: Readonly<Record<number, Success>>;
  /** The failing statuses that all operations describe alike. */
  readonly failures: readonly number[];
  /** Those that may bear `ownHeaders` too. */
  readonly ownFailures?: readonly number[];
  readonly ownHeaders?: readonly HeaderName[];
  readonly extensions?: Readonly<Record<`x-${string}`, unknown>>;
}

const rex = { id: 42, name: 'Rex', categoryId: 1, status: 'available' };
const elodie = { id: 41, name: 'Élodie', categoryId: 2, status: 'sold' };
const announcements: readonly HeaderName[] = ['Deprecation', 'Sunset', 'SuccessorLink'];
const unchanged = 'Nothing has changed since the `ETag` that `If-None-Match` names.';

/** The three operations of interface section 4, by their names. */
export const operations: Readonly<Record<string, OperationDescription>> = {
  listPets: {
    summary: 'List animals',
    description:
      'Returns a paginated list of animals, newest first. Follow the `Link` with `rel="next"` until there is none: the walk meets each animal that was there at its start exactly once. HEAD answers with the headers alone.',
    scope: 'pets:read',
    requestHeaders: ['If-None-Match', 'Prefer'],
    successes: {
      200: {
        when: 'A page of animals.',
        headers: ['Cache-Control', 'ETag', 'Link'],
        examples: {
          page: { summary: 'Two animals', value: [rex, elodie] },
          empty: { summary: 'No animal', value: [] },
        },
      },
      304: { when: unchanged, headers: ['Cache-Control', 'ETag', 'Link'] },
    },
    failures: [400, 401, 403, 405, 408, 413, 429, 431, 500, 503],
  },
  createPet: {
    summary: 'Add an animal',
    description:
      'Adds an animal and returns it with the `id` that it was assigned; it is on disk before the answer is sent. An omitted `status` is `available`; fields that NewPet does not name are ignored. With an `Idempotency-Key` a retry never adds twice.',
    scope: 'pets:write',
    requestHeaders: ['Idempotency-Key', 'Prefer'],
    bodyExamples: {
      complete: { summary: 'All fields', value: { name: 'Rex', categoryId: 1, status: 'available' } },
      least: { summary: 'Required fields', value: { name: 'Rex', categoryId: 1 } },
    },
    successes: {
      201: {
        when: 'Animal added; the response carries the assigned `id`.',
        headers: ['Location', 'Idempotent-Replayed'],
        examples: { added: { summary: 'The new animal', value: rex } },
      },
    },
    failures: [400, 401, 403, 405, 408, 409, 413, 415, 422, 429, 431, 500, 503],
  },
  getPet: {
    summary: 'Get an animal',
    description:
      'Returns one animal. Deprecated, to be removed on 5 December 2030; from then on it answers 410. Use `GET /pets` with the `status` filter instead. An identifier that is no canonical decimal int64 names no animal. HEAD answers with the headers alone.',
    scope: 'pets:read',
    requestHeaders: ['If-None-Match', 'Prefer'],
    successes: {
      200: {
        when: 'The requested animal.',
        headers: ['Cache-Control', 'ETag', ...announcements],
        examples: { animal: { summary: 'An animal', value: rex } },
      },
      304: { when: unchanged, headers: ['Cache-Control', 'ETag', ...announcements] },
    },
    failures: [405, 408, 431],
    ownFailures: [400, 401, 403, 404, 410, 413, 429, 500, 503],
    ownHeaders: announcements,
    extensions: { 'x-sunset': new Date(getPetDates.removedAtMs).toISOString().slice(0, 10) },
  },
};
