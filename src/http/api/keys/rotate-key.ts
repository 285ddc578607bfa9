import { IssuedKeySchema, KeyRotationSchema } from '../../../accounts/key.ts';
import { defaultOverlapMs } from '../../../accounts/keyring.ts';
import { secondMs } from '../../../clock.ts';
import { defineOperation } from '../../operation.ts';
import { issuedKey } from './examples.ts';
import { KeyParams } from './key-id.ts';

/** `POST /keys/{keyId}/rotate`: replaces a key by a new one (contract section 15). */
export const rotateKey = defineOperation({
  id: 'rotateKey',
  method: 'POST',
  path: '/keys/{keyId}/rotate',
  tag: 'keys',
  scope: 'keys:manage',
  stability: 'beta',
  summary: 'Rotate a key',
  description:
    'Replaces an active key by a new one with the same name, scopes and lifetime. The old key stays valid for `overlapSeconds`, 86400 by default. The new text, `key`, is shown only once. A key can rotate only keys whose scopes it has or covers, and the new key expires no later than the calling key. The body is optional. An `Idempotency-Key` is ignored.',
  params: KeyParams,
  body: KeyRotationSchema,
  isBodyOptional: true,
  bodyExamples: {
    default: { summary: 'The old key works for a day', value: {} },
    atOnce: { summary: 'The old key ends at once', value: { overlapSeconds: 0 } },
  },
  isNeverStored: true,
  answers: {
    201: {
      description: 'The key that takes the place of the old one.',
      body: IssuedKeySchema,
      examples: { issued: { summary: 'The new key', value: issuedKey } },
    },
  },
  failures: ['not_found'],

  async handle({ params: { keyId = '' }, body, caller }, { accountKeys }) {
    const overlapSeconds = Number(body?.overlapSeconds ?? defaultOverlapMs / secondMs);
    return { status: 201, body: await accountKeys.rotate(caller, keyId, overlapSeconds) };
  },
});
