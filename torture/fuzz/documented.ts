import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { errorStatus } from '../../src/errors.ts';
import { type Description, expectDescribed, matchesSchema } from '../../test/http/openapi/description.ts';
import { expectCommonHeaders } from '../../test/support/expect-error.ts';
import type { RawResponse } from '../../test/support/raw-http.ts';

const failures = new Set(Object.values(errorStatus));

/** True if the answer has a `Content-Length` but no body, as the answer to HEAD has. */
export function isOfHead({ status, headers, body }: RawResponse): boolean {
  return status !== 304 && body === '' && Number(headers.get('content-length')) > 0;
}

/**
 * Throws if the answer to a mutated request is neither described for an operation nor the description itself. Checks
 * the status, the headers and, unless `bodiless` is true, the shape of the body.
 */
export function expectDocumented(description: Description, answer: RawResponse, bodiless: boolean): void {
  const { status, headers, body } = answer;
  expectCommonHeaders(answer);
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  if (status >= 400) assert.ok(failures.has(status) && status < 500, `${status}: ${body}`);
  else assert.ok([200, 201, 304].includes(status), `${status}: ${body}`);
  if (status === 304) assert.equal(body, '');
  else if (!bodiless) expectBody(description, answer);
}

function expectBody(description: Description, answer: RawResponse): void {
  const { status, headers, body } = answer;
  assert.match(headers.get('content-type') ?? '', /^application\/json\b/);
  const value: unknown = JSON.parse(body);
  if (status >= 400) {
    const schema = description.components['schemas']?.['Error'];
    assert.ok(schema !== undefined && matchesSchema(description, schema, value), body);
    assert.equal((value as { status: number }).status, status);
  } else if (status === 201) expectDescribed(description, 'createPet', answer);
  else if (Array.isArray(value)) expectDescribed(description, 'listPets', answer);
  else if (!isDeepStrictEqual(value, description)) expectDescribed(description, 'getPet', answer);
}
