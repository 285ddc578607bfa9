import { Buffer } from 'node:buffer';
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import build from 'fast-json-stringify';
import type { Caller } from '../accounts/account.ts';
import { AppError } from '../errors.ts';
import type { Added, Idempotency } from '../pets/catalogue.ts';
import { isNewPet, type NewPet, type Pet, PetSchema } from '../pets/pet.ts';
import { jsonType } from './conditional.ts';
import { toLines } from './head.ts';
import { bodyBytesMax, parsePlainBody } from './json-body.ts';

/** What a request to add an animal asks for. */
export interface NewPetRequest {
  readonly newPet: NewPet;
  readonly idempotency: Idempotency | null;
}

const idempotencyKeyText = /^[!-~]{1,255}$/;

/**
 * The `Idempotency-Key` of a request, which stands for the account and the very bytes of the body; null without one.
 * Throws `invalid_parameter`.
 */
export function readIdempotency(
  headers: IncomingHttpHeaders,
  { accountId }: Caller,
  bytes: Uint8Array,
): Idempotency | null {
  const key = headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || !idempotencyKeyText.test(key))
    throw new AppError('invalid_parameter', 'Idempotency-Key must have 1 to 255 visible ASCII characters');
  return { accountId, key, bodyHash: hash('sha256', bytes, 'buffer') };
}

/**
 * Takes a valid NewPet out of a plain request (fast-lane.ts) whose whole body waits to be read. Where there is none it
 * gives null and puts back what it read, so that whoever comes next can read the body and say what is wrong with it.
 */
export function takeNewPet(request: IncomingMessage, caller: Caller): NewPetRequest | null {
  // Without a length only the first of several parts would be read.
  const bytes: Buffer | null = request.read(request.readableLength);
  if (bytes === null) return null;
  const taken = bytes.length <= bodyBytesMax ? tryToRead(request.headers, caller, bytes) : null;
  if (taken === null) request.unshift(bytes);
  // Node lets go of a request once it has told its end.
  else request.resume();
  return taken;
}

function tryToRead(headers: IncomingHttpHeaders, caller: Caller, bytes: Buffer): NewPetRequest | null {
  try {
    const newPet = parsePlainBody(bytes);
    return isNewPet(newPet) ? { newPet, idempotency: readIdempotency(headers, caller, bytes) } : null;
  } catch {
    return null;
  }
}

/** An animal as JSON, its int64 exact. */
export const writePet = build(PetSchema) as (pet: Pet) => string;

/** What a 201 says besides its body: where the animal is, and whether it was there already. */
export function addedHeaders({ pet, replayed }: Added, baseUrl: string): Record<string, string> {
  const headers: Record<string, string> = {
    location: `${baseUrl}/pets/${pet.id}`,
    'content-type': jsonType,
  };
  if (replayed) headers['idempotent-replayed'] = 'true';
  return headers;
}

/** Tells of an added animal on the fast lane: `addedHeaders` and the length, in lines that are made once but for their digits. */
export function createAddedLines(baseUrl: string) {
  const location = toLines({ location: `${baseUrl}/pets/` }).trimEnd();
  const fixed = toLines({ 'content-type': jsonType });
  const fixedOfReplayed = toLines({ 'content-type': jsonType, 'idempotent-replayed': 'true' });

  return function describe({ pet, replayed }: Added) {
    const body = writePet(pet);
    const length = `content-length: ${Buffer.byteLength(body)}\r\n`;
    const lines = `${location}${pet.id}\r\n${replayed ? fixedOfReplayed : fixed}${length}`;
    return { operation: 'createPet', status: 201, lines, body } as const;
  };
}
